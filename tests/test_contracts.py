"""Base classes stay small: how many names a class has that others call or override."""

import inspect

import pytest

from maxmargin.training.trainer import Trainer

MOST = {Trainer: 25}


def names(kind):
    """Return the names that a class defines itself, public or not, but for special methods."""
    own = {**vars(kind), **inspect.get_annotations(kind)}
    special = {name for name in own if name.startswith("__") or name.endswith("_request")}  # Python, scikit-learn
    return set(own) - special


@pytest.mark.parametrize("kind", MOST, ids=lambda kind: kind.__name__)
def test_a_contract_has_few_names(kind):
    assert len(names(kind)) <= MOST[kind], sorted(names(kind))


@pytest.mark.parametrize("kind", MOST, ids=lambda kind: kind.__name__)
def test_a_contract_says_in_which_order_it_is_called(kind):
    assert "in this order" in inspect.getdoc(kind)
