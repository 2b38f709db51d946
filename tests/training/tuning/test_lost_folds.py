"""Tuned on processes that are killed: a fold that was lost makes its models again, and the choice is the same."""

import os

import numpy as np
import pytest
from executors.mortal import MortalPlain, data, deaths

from maxmargin import StructuredSVM, Tuned
from maxmargin.executors import Processes
from maxmargin.testing.executor_checks import Plain


def tuned(task, **options):
    return Tuned(StructuredSVM(task, random_state=0), cv=2, **options).fit(*data(18))


@pytest.mark.slow
def test_the_choice_is_the_same(tmp_path):
    here = tuned(Plain())
    executor = Processes(2)
    there = tuned(MortalPlain(str(tmp_path), (250,), home=os.getpid()), executor=executor)
    executor.close()
    assert deaths(tmp_path) == 1
    assert here.best_C_ == there.best_C_
    assert np.array_equal(here.best_estimator_.w_, there.best_estimator_.w_)
