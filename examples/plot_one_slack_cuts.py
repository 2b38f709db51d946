"""
Large data: the number of cutting planes does not grow with n
=============================================================

The 1-slack cutting-plane algorithm (Joachims, Finley and Yu, 2009, the algorithm of SVM-perf and SVM-struct 3) adds one
constraint per pass over the data: the mean of the most violated constraints of all examples. The theory says that the
number of such cuts is bounded by C divided by the accuracy, whatever the number of examples n. Training time is then
linear in n. Is it so in practice?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

X, y = make_classification(64000, 30, n_informative=10, n_redundant=0, n_classes=5, flip_y=0.1, random_state=0)
sizes = [250, 1000, 4000, 16000, 64000]
mm.MulticlassSVC(solver="one_slack", tol=0.01).fit(X[:50], y[:50])  # compile before the clock starts

# %%
# Classification in five classes, with samples of growing size. All models stop at a proved relative gap of 1%.

COSTS = (1, 10, 100)
models = {C: [mm.MulticlassSVC(C=C, solver="one_slack", tol=0.01).fit(X[:n], y[:n]) for n in sizes] for C in COSTS}
for C, path in models.items():
    print(
        f"C = {C}:", ", ".join(f"n = {n}: {m.certificate_.passes:.0f} cuts" for n, m in zip(sizes, path, strict=True))
    )

# %%
# The number of cuts does not grow with n. (It is larger for the smallest samples, which can be fitted closely.) It does
# grow with C, as the theory says. CPU time grows like n as soon as the passes over the data take longer than the
# quadratic programmes over the cuts: the grey line has the slope of proportional growth.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.7))
for (C, path), marker in zip(models.items(), "os^", strict=True):
    left.plot(sizes, [m.certificate_.passes for m in path], marker=marker, label=f"C = {C}")
    right.plot(sizes, [m.certificate_.cpu_seconds for m in path], marker=marker)
last = models[10][-1].certificate_.cpu_seconds
right.plot(sizes, [last * n / sizes[-1] for n in sizes], color="0.75", linewidth=4, zorder=1)
left.set(title="Cuts until the gap is 1%", xlabel="training examples n", xscale="log", ylim=(0, None))
right.set(title="CPU seconds", xlabel="training examples n", xscale="log", yscale="log")
figure.legend(loc="outside lower center", ncols=3)
plt.show()
