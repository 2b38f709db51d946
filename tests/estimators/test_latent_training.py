"""Training through estimators where outputs have hidden parts: rounds, tolerances, threads, interruptions, errors."""

import pickle
import warnings

import numpy as np
import pytest
from estimators.failing import FailsAfter, interrupt_at
from estimators.problems import Threshold, choices, sequences
from example_tasks import Bags, bag_data

from maxmargin import StructuredSVM, solvers
from maxmargin.errors import TrainingInterrupted
from maxmargin.training.preflight import check_promises

X, Y = sequences(40)
CERTIFIED = ["bcfw", "n_slack", "one_slack", "bundle"]
BAGS = bag_data(12, seed=4, largest=4)


class FailingBags(FailsAfter, Bags):
    """Bags whose decoder fails at one call, after so many."""

    def __init__(self, n_labels=3, listed=False, after=0, error=RuntimeError):
        super().__init__(n_labels, listed)
        self.after = after
        self.error = error


def calls_of_the_first_look_at_bags():
    task = FailingBags()
    task.setup(*BAGS)
    check_promises(task, task.pack(*BAGS))
    return task.calls_


CHECKED_BAGS = calls_of_the_first_look_at_bags()


@pytest.mark.parametrize("solver", CERTIFIED)
def test_a_latent_task_is_trained_in_rounds(solver):
    model = StructuredSVM(Bags(), C=5.0, solver=solver, tol=1e-3).fit(*BAGS)
    assert model.certificate_.converged
    assert model.certificate_.rounds == len(model.rounds_) == len({line["round"] for line in model.history_})
    assert "a local optimum after" in str(model.certificate_)
    same = StructuredSVM(Bags(), C=5.0, solver=solvers.CCCP(inner=solver, tol=1e-3)).fit(*BAGS)
    np.testing.assert_array_equal(same.w_, model.w_)
    assert model.certify(*BAGS, tol=1e-3).primal == pytest.approx(model.certificate_.primal)
    assert pickle.loads(pickle.dumps(model)).predict(BAGS[0]) == model.predict(BAGS[0])
    assert model.score(*BAGS) > -1


def test_which_tolerance_counts_for_rounds():
    for options, tol in (
        ({"solver": "bundle"}, solvers.Bundle.tol),
        ({"solver": solvers.Bundle(tol=0.2)}, 0.2),
        ({"solver": solvers.Bundle(tol=0.2), "tol": 1e-4}, 1e-4),
        ({"solver": solvers.CCCP(tol=0.3)}, 0.3),
        ({"solver": solvers.CCCP(tol=0.3), "tol": 1e-4}, 1e-4),
    ):
        assert StructuredSVM(Bags(), **options)._solver(latent=True).tol == tol


@pytest.mark.parametrize("solver", CERTIFIED)
def test_threads_do_not_change_the_model_of_a_latent_task(solver):
    found = [StructuredSVM(Bags(), C=5.0, solver=solver, n_jobs=n).fit(*BAGS).w_ for n in (1, 2, 3)]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("solver", CERTIFIED)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("restarts", [1, 3])
def test_ctrl_c_in_latent_training(solver, workers, restarts):
    interrupted = 0
    for after in (5, 40, 75, 110, 150):
        task = FailingBags(after=CHECKED_BAGS + after, error=KeyboardInterrupt)
        cccp = solvers.CCCP(inner=solver, tol=1e-6, restarts=restarts)
        model = StructuredSVM(task, C=5.0, solver=cccp, n_jobs=workers)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*BAGS)
        assert [warning.category for warning in caught] in ([TrainingInterrupted], [])  # [] where it was done before
        assert (model.certificate_.stop_reason == "interrupted") == (len(caught) == 1)
        interrupted += len(caught)
        assert len(model.predict(BAGS[0])) == 12
        model.set_params(task=Bags()).fit(*BAGS)  # and can be trained again
        assert model.certificate_.converged
    assert interrupted >= 3


@pytest.mark.parametrize("solver", CERTIFIED)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_half_way_in_latent_training_keeps_the_model(solver, workers):
    model = StructuredSVM(FailingBags(after=CHECKED_BAGS + 100), C=5.0, solver=solver, tol=1e-6, n_jobs=workers)
    with pytest.raises(RuntimeError, match="out of order") as caught:
        model.fit(*BAGS)
    notes = "\n".join(caught.value.__notes__)
    assert "raised by FailingBags on training example " in notes
    assert "the estimator keeps the best model found before this error" in notes
    assert model.certificate_.stop_reason == "stopped by RuntimeError"
    assert len(model.predict(BAGS[0])) == 12


def test_ctrl_c_ends_a_path_of_latent_models():
    model = StructuredSVM(Bags(), solver=solvers.CCCP(restarts=3), callback=interrupt_at(4))
    with pytest.warns(TrainingInterrupted):
        models = model.fit_path(*BAGS, [1.0, 5.0, 20.0])
    assert len(models) == 1


def test_a_latent_fit_leaves_no_rounds_to_the_next():
    inputs, outputs = choices()
    model = StructuredSVM(Bags()).fit(*BAGS)
    assert model.rounds_
    model.set_params(task=Threshold()).fit(inputs, outputs)
    assert not hasattr(model, "rounds_")
