"""Every kind of model is trained in many sessions, and ends as one that was trained at a stretch."""

import pytest
from training.checkpoints.every_model import GROUPS, compared


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GROUPS)
def test_every_model_goes_on(name):
    assert {label: each for label, each in compared(name, steps=3).items() if not isinstance(each, int)} == {}
