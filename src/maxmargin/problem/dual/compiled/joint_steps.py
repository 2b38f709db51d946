"""Steps of parts that train side by side, in the few weights that they change (solvers/parallel_bcfw.py)."""

from maxmargin.base.compiled.kernel import kernel


@kernel
def list_changes(before, after, scale, places, changes):
    """List where two vectors differ, and by how much, times a number; returns how many these are."""
    count = 0
    for j in range(len(before)):
        if after[j] != before[j]:
            places[count] = j
            changes[count] = (after[j] - before[j]) * scale
            count += 1
    return count


@kernel
def add_places(places, marked, listed, count):
    """Add those places to a list that are not marked yet, and mark them; returns how many are in the list then."""
    for j in places:
        if not marked[j]:
            marked[j] = True
            listed[count] = j
            count += 1
    return count


@kernel
def add_changes(places, changes, total):
    """Add what changes to a vector."""
    for k in range(len(places)):
        total[places[k]] += changes[k]


@kernel
def products(places, way, w):
    """⟨w, way⟩ and ‖way‖², where the way is 0 but for these places."""
    along = square = 0.0
    for j in places:
        along += w[j] * way[j]
        square += way[j] * way[j]
    return along, square


@kernel
def fill_starts(places, free, last, ahead, starts):
    """Where every part begins: at `free`, less by what it did last beyond the mean of all; at these places."""
    parts = len(last)
    for j in places:
        mean = 0.0
        for k in range(parts):
            mean += last[k, j]
        mean /= parts
        for k in range(parts):
            starts[k, j] = free[j] - ahead * (last[k, j] - mean)
