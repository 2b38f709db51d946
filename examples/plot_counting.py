"""
Label ranking: two ways to learn preferences
============================================

People rank eight drinks; ten numbers are known of a person. A structural SVM searches, again and again, for the order
that is most wrong, which is NP-hard in general. Counting-based training (Gärtner and Vembu, 2009) compares the right
order with all 40,320 at once, by solving one linear system, and searches only when it predicts.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

DRINKS = ["water", "tea", "coffee", "milk", "juice", "cola", "beer", "wine"]
ORDERS = mm.counting.Permutations(DRINKS)  # its features: for every two drinks, which one comes first


class Rankings(mm.Task):
    """The same outputs and features for the structural SVM; a mistake costs the share of pairs in the wrong order."""

    def setup(self, X, Y):
        self.dim = X.shape[1] * ORDERS.dim

    def psi(self, x, z):
        return np.outer(x, ORDERS.features(z)).ravel()

    def loss(self, y, z):
        return float(np.mean(ORDERS.features(y) != ORDERS.features(z)))

    def argmax(self, w, x, y=None):
        scores = x @ w.reshape(len(x), -1)
        loss = 0.0 if y is None else -ORDERS.features(y) / 2 / ORDERS.dim
        return ORDERS.decode(scores + loss).y


# %%
# A hidden rule says how much a person likes each drink; nobody follows it exactly.

rng = np.random.default_rng(0)
rule = rng.standard_normal((10, len(DRINKS)))


def people(n):
    X = rng.standard_normal((n, 10))
    liking = X @ rule + 2 * rng.standard_normal((n, len(DRINKS)))
    return X, [tuple(DRINKS[k] for k in row) for row in np.argsort(-liking, axis=1)]


(X_valid, Y_valid), (X_test, Y_test) = people(200), people(300)
sizes = [10, 20, 40, 80, 160]
samples = [people(n) for n in sizes]


def kendall(model, X, Y):  # pairs in the right order less pairs in the wrong order, as a share of all
    return np.mean(ORDERS.feature_rows(model.predict(X)) * ORDERS.feature_rows(Y))


# %%
# Each with the regularisation that is best on validation data; the time is that of one training.

MODELS = {
    "max-margin": [mm.StructuredSVM(Rankings(), C=C, tol=0.05) for C in (1, 10)],
    "counting": [mm.CountingPredictor(ORDERS, alpha=alpha) for alpha in (100, 1000, 10000)],
}
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.7))
for name, models in MODELS.items():
    quality, seconds = [], []
    for X, Y in samples:
        best = max((model.fit(X, Y) for model in models), key=lambda model: kendall(model, X_valid, Y_valid))
        quality.append(kendall(best, X_test, Y_test))
        seconds.append(best.certificate_.cpu_seconds)
        print(f"{name}, {len(X)} people: τ = {quality[-1]:.3f}, trained in {seconds[-1]:.3f} s")
    left.plot(sizes, quality, marker="o", label=name)
    right.plot(sizes, seconds, marker="o")
left.set(title="Kendall's τ, predicted orders", xlabel="people in training", ylim=(0, None))
right.set(title="Seconds of training", xlabel="people in training", yscale="log")
fig.legend(loc="outside lower center", ncols=2)
plt.show()
