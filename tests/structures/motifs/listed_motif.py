"""The motif task searched by listing all outputs, and completions of a batch as outputs."""

from __future__ import annotations

from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.contract.task import Task
from maxmargin.structures.motifs.task import ABSENT, Motif, Occurrence


class ListedMotif(Motif):
    """The same task, searched by listing all outputs."""

    argmax, complete, pack = Task.argmax, Task.complete, Task.pack


def listed(problem):
    task = ListedMotif(**problem.task.get_params())
    task.setup(problem.X, problem.Y)
    return task


def listed_examples(problem, batch):
    """The same examples with the same truths as in this batch, in the form that lists all outputs."""
    return Examples(listed(problem), problem.X, problem.Y, listed=True, truth=truths(batch))


def truths(batch):
    """The completion of a batch as outputs."""
    begins = batch.data.strings.begins
    return [
        Occurrence(True, int(start - begins[i]), -1 if strand else 1) if start >= 0 else ABSENT
        for i, (start, strand) in enumerate(zip(*batch.windows, strict=True))
    ]
