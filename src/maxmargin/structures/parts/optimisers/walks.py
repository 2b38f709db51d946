"""Check that some arcs form a path."""

from __future__ import annotations

from collections import defaultdict

from maxmargin.base.arrays import Index
from maxmargin.structures.parts.optimisers.network import Network


def check_path(network: Network, chosen: Index, source: int, target: int, directed: bool = True) -> None:
    """Raise a ValueError unless the chosen arcs, in some order, lead from the source to the target, no node twice."""
    leaving: dict[int, list[int]] = defaultdict(list)
    for p in map(int, chosen):
        leaving[int(network.tails[p])].append(p)
        if not directed:
            leaving[int(network.heads[p])].append(p)
    names, left, at = network.names, set(map(int, chosen)), source
    while at != target:
        onward = [p for p in leaving[at] if p in left]
        if len(onward) != 1:
            raise ValueError(
                f"z is not a path from {names[source]!r} to {names[target]!r}: {len(onward)} of its arcs leave "
                f"{names[at]!r}; expected one"
            )
        left.discard(onward[0])
        tail, head = int(network.tails[onward[0]]), int(network.heads[onward[0]])
        at = head if at == tail else tail
    if left:
        raise ValueError(
            f"z is not a path from {names[source]!r} to {names[target]!r}: {network.arc_name(min(left))} is "
            "chosen as well; expected only the arcs of the path"
        )
