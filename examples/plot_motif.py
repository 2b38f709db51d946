"""
Motif discovery in DNA: what sequences have in common, and where
================================================================

Proteins that read DNA look for short patterns, which are never quite the same. Experiments tell which sequences have
such a pattern, but not where. A latent structural SVM learns both: from a guess of the places it learns a motif, looks
where that fits best, and learns again, until nothing changes any more.
"""

# %%
# Random sequences; half of them have a motif of ten letters somewhere, on either strand, in which every letter has
# changed with a probability of 15 %.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import LogoDisplay

plt.style.use(mm.plotting.STYLE)

MOTIF, LETTERS = "TTGACGTCCA", list("ACGT")
COMPLEMENTS = str.maketrans("ACGT", "TGCA")
rng = np.random.default_rng(0)


def sequences(n):
    X, y, places = [], np.arange(2 * n) < n, []
    for has in y:
        text = "".join(rng.choice(LETTERS, 100, p=[0.3, 0.2, 0.2, 0.3]))
        copy = "".join(a if rng.random() < 0.85 else str(rng.choice(LETTERS)) for a in MOTIF)
        copy = copy if rng.random() < 0.5 else copy[::-1].translate(COMPLEMENTS)
        start = int(rng.integers(90))
        X.append(text[:start] + copy + text[start + 10 :] if has else text)
        places.append(start)
    return X, y, np.array(places)


X_train, y_train, _ = sequences(100)
X_test, y_test, places = sequences(100)

# %%
# The classes are all that training is told.

finder = mm.MotifFinder(length=10, background_order=1, C=30, restarts=3).fit(X_train, y_train)
found = np.array([site.start for site in finder.find_sites(X_test)])
print(f"motif: {finder.consensus_} (or its reverse complement)")
print(f"{finder.score(X_test, y_test):.1%} of the sequences are in the right class")
print(f"{np.mean(np.abs(found - places)[y_test] <= 2):.1%} of the motifs are found in their place")
print(f"best of {finder.restarts} starts after {finder.certificate_.rounds} rounds: {finder.certificate_}")

# %%
# What the sites that were found have in common, and the weights that find them. Below the axis are the letters that
# speak against a site.

figure, axes = plt.subplots(2, 1, figsize=(7, 5.4))
LogoDisplay.from_estimator(finder).plot(axes[0])
LogoDisplay.from_estimator(finder, kind="weights").plot(axes[1])

# %%
# Where the motif may be in one sequence: what every window gains over no motif.

gains = finder.task_.gains(finder.w_, X_test[0]).max(axis=0)
figure, ax = plt.subplots(figsize=(7, 3))
ax.plot(gains)
ax.axhline(0, color="0.3", linewidth=1)
ax.axvline(places[0], color="C1", linestyle="--", label="planted here")
ax.set(xlabel="start of the window", ylabel="gain over no motif", title="Gain of every window in one test sequence")
ax.legend()
plt.show()
