"""Tasks as a user writes them: with outputs, with a decoder, with sparse features, with an approximate decoder."""

import inspect

import example_tasks
import pytest
from example_tasks import Interval, Pairs, Sloppy, Tags, every_labelling, interval_data, pair_data, tag_data

from maxmargin.testing import check_task


@pytest.mark.parametrize("seed", range(3))
def test_task_that_lists_its_outputs(seed):
    check_task(Interval(), *interval_data(seed=seed), trials=2)


@pytest.mark.parametrize("seed", range(3))
def test_task_with_sparse_features(seed):
    check_task(Tags(), *tag_data(seed=seed), trials=2)


@pytest.mark.parametrize("seed", range(3))
def test_task_with_a_decoder_of_its_own(seed):
    check_task(Pairs(), *pair_data(seed=seed), trials=2, outputs=every_labelling)


def test_task_with_an_approximate_decoder():
    check_task(Sloppy(), *interval_data(), trials=2)


@pytest.mark.parametrize("task", [Interval, Tags, Pairs])
def test_a_task_takes_at_most_forty_lines(task):
    assert len(inspect.getsource(task).splitlines()) <= 40
    assert inspect.getsource(task) in inspect.getsource(example_tasks)
