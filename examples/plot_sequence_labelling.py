"""
Sequence labelling: how much data do neighbouring labels save?
==============================================================

These strings of handwritten digits mostly count upwards. A chain model has the same weights on pixels as a classifier
of single digits, and one more weight for every pair of neighbouring labels. How much is that worth, and when?
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import ImageSequenceDisplay, TransitionDisplay

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 3

X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=320, n_test=400)
print(f"A string is a {X[0].shape} array of pixels; its labels are {Y[0]}.")

# %%
# The error with more and more strings to learn from. C multiplies the mean hinge of a string for the one model and of a
# digit for the other, hence the factor: without transitions both would be the same problem.

sizes = [10, 20, 40, 80, 160, 320]
length = np.mean([len(y) for y in Y])
digits_test, labels_test = np.vstack(X_test), np.concatenate(Y_test)
alone_errors, chain_errors = [], []
for n in sizes:
    alone = mm.MulticlassSVC(C=30 * length).fit(np.vstack(X[:n]), np.concatenate(Y[:n]))
    chain = mm.SequenceLabeler(C=30).fit(X[:n], Y[:n])
    alone_errors.append(1 - alone.score(digits_test, labels_test))
    chain_errors.append(1 - chain.score(X_test, Y_test))
    print(f"{n:4d} strings: {alone_errors[-1]:.1%} wrong digits alone, {chain_errors[-1]:.1%} in strings")

fig, ax = plt.subplots(figsize=(7, 3.8))
ax.plot(sizes, alone_errors, "o-", label="every digit alone")
ax.plot(sizes, chain_errors, "s-", label="whole strings")
ax.set(title="Wrong digits in new strings", xscale="log", xlabel="training strings", ylim=(0, None))
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
ax.legend()

# %%
# What the last model has learnt about neighbours: every digit wants its successor.

TransitionDisplay.from_estimator(chain).plot()

# %%
# The certificate says how much better any other weights could be.

print(chain.certificate_)

# %%
# Strings that the two models read differently.

read_alone = [alone.predict(x).tolist() for x in X_test]
read_chain = chain.predict(X_test)
differ = [i for i in range(len(X_test)) if read_alone[i] != read_chain[i]][:4]
ImageSequenceDisplay.from_predictions(
    [X_test[i] for i in differ],
    [Y_test[i] for i in differ],
    {"string": [read_chain[i] for i in differ], "digit alone": [read_alone[i] for i in differ]},
    image_shape=(8, 8),
).plot()

# %%
# The three best readings of one string, with their scores.

for labels, score in chain.predict_nbest([X_test[differ[0]]], n=3)[0]:
    print(f"{score:8.3f}  {labels}")

plt.show()
