"""
Scaling on a Dask cluster: training time against workers
========================================================

Training calls the decoder once per example and pass. Where the decoder is slow, an integer programme say, these calls
are nearly all of the time, and they can be spread over the workers of a Dask cluster: the call that trains is the same,
with one more argument. How much of the ideal speed-up is left?
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

# %%
# Matching two sets of points, with a decoder that is made slow on purpose: it waits for 40 ms, as it would for a solver
# on another machine. Waiting workers do not compete for the cores of the computer on which this page was made, so that
# what is measured is the cost of the cluster itself: scheduling, sending weights, collecting constraints.

WAIT = 0.04


class SlowMatching(mm.Task):
    def setup(self, X, Y):
        self.dim = X[0].shape[2]

    def psi(self, x, z):
        return x[np.arange(len(z)), z].sum(axis=0)

    def loss(self, y, z):
        return float(np.count_nonzero(y != z))

    def argmax(self, w, x, y=None):
        time.sleep(WAIT)
        scores = x @ w
        if y is not None:
            scores = scores + 1.0
            scores[np.arange(len(y)), y] -= 1.0
        return linear_sum_assignment(scores, maximize=True)[1]


rng = np.random.default_rng(0)
X, Y = [], []
for _ in range(16):
    points, order = rng.standard_normal((10, 6)), rng.permutation(10)
    again = (points + np.array([0.1, 0.3, 1, 1, 2, 2]) * rng.standard_normal(points.shape))[order]
    X.append(-((points[:, None] - again[None]) ** 2))
    Y.append(np.argsort(order))

# %%
# Clusters of 1, 2 and 4 workers inside this process (``LocalCluster(processes=False)``). With the address of a
# scheduler, ``mm.executors.Dask("tcp://...")``, the same works on many machines. If the package distributed is not
# installed, threads take the place of the cluster.


def fit(executor, n=None):
    model = mm.StructuredSVM(SlowMatching(), C=0.01, solver="one_slack", tol=0.1, executor=executor).fit(X[:n], Y[:n])
    return model, model.certificate_.seconds


def fit_on_cluster(workers):
    try:
        from distributed import LocalCluster
    except ImportError:
        return fit(mm.executors.Threads(workers))
    place = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **place) as cluster, cluster.get_client() as client:
        return fit(mm.executors.Dask(client, parts=8))


fit(None, n=2)  # compile before the clock starts
_, serial_seconds = fit(None)
workers, seconds, models = [1, 2, 4], [], []
for k in workers:
    model, spent = fit_on_cluster(k)
    seconds.append(spent)
    models.append(model)
    print(f"{k} workers: {spent:.2f} s, {serial_seconds / spent:.1f} times as fast; {model.certificate_}")
print("weights are the same on any number of workers:", all(np.array_equal(models[0].w_, m.w_) for m in models))

# %%
# The dashed line is the time of the same training without a cluster, divided by the number of workers. What lies above
# it is the price of the cluster in every pass, and workers that wait for the last one. It does not depend on how slow
# the decoder is, but on how busy the computer is: workers pay if a pass takes much longer than that.

figure, ax = plt.subplots(figsize=(7, 4))
ax.plot(workers, serial_seconds / np.array(workers), "--", color="0.5", label="ideal: serial time / workers")
ax.plot(workers, seconds, "o-", label="measured")
for k, spent in zip(workers, seconds, strict=True):
    ax.annotate(f"{spent:.2f} s", (k, spent), (6, 6), textcoords="offset points")
ax.set(title=f"Training on {len(X)} examples, decoder of {1000 * WAIT:.0f} ms", xlabel="workers", ylabel="seconds")
ax.set(xscale="log", yscale="log", xlim=(0.9, 5))
ax.minorticks_off()
ax.set_xticks(workers, map(str, workers))
ax.yaxis.set_major_locator(plt.LogLocator(2))
ax.yaxis.set_major_formatter("{x:g}")
ax.legend()
plt.show()
