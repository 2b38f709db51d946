"""Choose which combinations of a test's parameters run in make test; make proofs runs the others."""

import functools


def sampled(item):
    """Return whether a test with these parameters runs in make test, and not in make proofs alone."""
    marks = list(item.iter_markers("parametrize"))
    every = item.get_closest_marker("every")
    if every is None and len(marks) < 2:  # the values may be a generator, as those of scikit-learn's checks
        return True
    places = tuple(place(item, *mark.args[:2]) for mark in marks)
    if every is not None:
        return sum(places) % every.args[0] == 0
    return places in sample(tuple(len(mark.args[1]) for mark in marks))


def place(item, names, values):
    """Return where the values of an item's parameters with these names are in their list."""
    names = names.replace(",", " ").split() if isinstance(names, str) else names
    here = [item.callspec.params[name] for name in names]
    for i, value in enumerate(values):
        there = value.values if hasattr(value, "marks") else value if len(names) > 1 else [value]
        if all(one is other for one, other in zip(here, there, strict=True)):
            return i
    raise LookupError(f"{item.nodeid}: {here} are not in the list of {names}")


@functools.cache
def sample(sizes):
    """Choose combinations of values of several lists: every value of each list, and as many pairs as come for nothing.

    There are as many combinations as values in the longest list, but at least four. As in a number with several digits,
    a list takes its next value when those before it have gone through theirs, as long as it gets to its last one.
    """
    count = max(4, *sizes)
    strides, together = [1] * len(sizes), 1
    for i in sorted(range(len(sizes)), key=lambda i: sizes[i]):  # short lists first: more of them fit
        if together * sizes[i] <= count:
            strides[i] = together
            together *= sizes[i]
    return {tuple(t // stride % size for stride, size in zip(strides, sizes, strict=True)) for t in range(count)}
