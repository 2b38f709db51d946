"""Conjugate gradients of counting-based training that were stopped."""

import numpy as np
import pytest
from training.checkpoints.sessions import OFTEN, Killed

import maxmargin as mm
from maxmargin.counting import AllSubsets
from maxmargin.training.checkpoints.checkpoint import Training


def data(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, [frozenset(np.flatnonzero(X[i, :5] + 0.5 * rng.standard_normal(5) > 0).tolist()) for i in range(n)]


def make(**options):
    return mm.CountingPredictor(AllSubsets(5), solver="cg", kernel="rbf", alpha=0.01, tol=1e-10, **options)


def stopped_after(iterations, monkeypatch):
    """End everything after so many iterations of a session, when they are on disk."""
    offer, made = Training.offer, 0

    def counted(self, *args, **keywords):
        nonlocal made
        offer(self, *args, **keywords)
        made += 1
        if made >= iterations:
            raise Killed

    monkeypatch.setattr(Training, "offer", counted)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_stopped_at_every_iteration(kernel, tmp_path, monkeypatch):
    X, Y = data()
    whole = make().set_params(kernel=kernel).fit(X, Y)
    assert whole.n_iter_ > 3
    session = 0
    while True:
        session += 1
        with monkeypatch.context() as patch:
            stopped_after(1, patch)
            model = make(checkpoint=tmp_path / "file", checkpoint_every=OFTEN).set_params(kernel=kernel)
            try:
                model.fit(X, Y)
                break
            except Killed:
                continue
    assert session >= whole.n_iter_
    assert model.n_iter_ == whole.n_iter_
    for name in ("dual_coef_", "_weights_"):
        if getattr(whole, name) is not None:
            assert getattr(model, name).tobytes() == getattr(whole, name).tobytes()
    assert model.certificate_.primal == whole.certificate_.primal
    again = make(checkpoint=tmp_path / "file").set_params(kernel=kernel).fit(X, Y)
    assert again.certificate_ == model.certificate_


def test_a_path_of_penalties(tmp_path, monkeypatch):
    X, Y = data()
    whole = make().fit_path(X, Y, [0.1, 0.01])
    with monkeypatch.context() as patch:
        stopped_after(whole[0].n_iter_ + 2, patch)
        with pytest.raises(Killed):
            make(checkpoint=tmp_path / "file", checkpoint_every=OFTEN).fit_path(X, Y, [0.1, 0.01])
    parts = make(checkpoint=tmp_path / "file").fit_path(X, Y, [0.1, 0.01])
    for one, other in zip(whole, parts, strict=True):
        assert one.dual_coef_.tobytes() == other.dual_coef_.tobytes()


def test_more_iterations_and_other_data(tmp_path):
    X, Y = data()
    with pytest.warns(UserWarning, match="max_iter"):
        make(checkpoint=tmp_path / "file", max_iter=3).fit(X, Y)
    longer = make(checkpoint=tmp_path / "file", max_iter=500).fit(X, Y)
    assert longer.dual_coef_.tobytes() == make(max_iter=500).fit(X, Y).dual_coef_.tobytes()
    with pytest.raises(ValueError, match="the data differ"):
        make(checkpoint=tmp_path / "file", max_iter=500).fit(X[::-1], Y)
    with pytest.raises(ValueError, match=r"alpha was 0\.01 and is now 0\.1"):
        make(checkpoint=tmp_path / "file").set_params(alpha=0.1).fit(X, Y)
