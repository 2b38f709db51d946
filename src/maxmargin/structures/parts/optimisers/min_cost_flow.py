"""MinCostFlow: the minimum-cost flow in a network with demands and capacities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.structures.parts.optimisers.base import Optimiser
from maxmargin.structures.parts.optimisers.linear_program import LinearProgram
from maxmargin.structures.parts.optimisers.network import Network


class MinCostFlow(Optimiser):
    """Minimum-cost flow: parts are the arcs of a network, and an output is the flow along each.

        min Σ c_p z_p      with  Σ_{p into v} z_p - Σ_{p out of v} z_p = demand_v  at all nodes v,                   (1)
                                 0 <= z_p <= capacity_p

    This is a linear program, solved by HiGHS. Its matrix is totally unimodular, so that z is integral for integral
    demands and capacities. Costs may have any sign; a cycle of negative cost without a capacity makes (1) unbounded,
    which is an error when it is solved.

    Parameters
    ----------
    arcs : sequence of pairs
        Pairs (u, v) of nodes, which are any hashable values; the p-th arc is part p.
    capacities : int or array of shape (arcs,)
        A whole number >= 0 for each arc, or one for all; inf for no capacity.
    demands : dict
        {node: whole number}, the flow that a node consumes (> 0) or supplies (< 0); 0 for other nodes. They
        sum to 0.

    See Also
    --------
    LinearProgram : Other linear constraints.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> flow = optimisers.MinCostFlow([("a", "b"), ("b", "c"), ("a", "c")], 1, {"a": -2, "c": 2})
    >>> flow([1.0, 1.0, 5.0])
    array([1., 1., 1.])
    """

    n_parts: int

    def __init__(self, arcs: Any, capacities: Any, demands: Mapping[Hashable, int]):
        self.arcs = arcs
        self.capacities = capacities
        self.demands = demands
        self._network = network = Network(arcs)
        self.n_parts = network.n_arcs
        self._upper = _capacities(capacities, network)
        self._demand = _demands(demands, network)
        parts = np.arange(network.n_arcs)
        shape = network.n_nodes, network.n_arcs
        into, out = (
            sparse.csr_array((np.ones(network.n_arcs), (ends, parts)), shape=shape)
            for ends in (network.heads, network.tails)
        )
        self._balance = into - out
        self._refuse_unmet()
        bounds = np.column_stack([np.zeros(network.n_arcs), self._upper])
        self._program = LinearProgram(A_eq=self._balance, b_eq=self._demand, bounds=bounds)

    def solve(self, costs: Array) -> Array:
        return np.rint(self._program.solve(costs))

    def check(self, z: Any) -> None:
        z = self._vector(z)
        for p in np.flatnonzero((z < 0) | (z > self._upper) | (z != np.rint(z))):
            raise ValueError(
                f"{self._network.arc_name(int(p))} has z = {z[p]}; expected a whole number from 0 to {self._upper[p]}"
            )
        found = self._balance @ z
        for v in np.flatnonzero(found != self._demand):
            raise ValueError(
                f"{found[v]:.0f} more flows into node {self._network.names[v]!r} than out of it; expected "
                f"{self._demand[v]:.0f}"
            )

    def _refuse_unmet(self) -> None:
        """Raise a ValueError that names the demands which cannot be met, by the least total shortage and surplus:

        min Σ s_v      with (1) where demand_v is replaced by demand_v - s_v (> 0) or demand_v + s_v (< 0), s >= 0   (2)
        """
        nodes = np.flatnonzero(self._demand)
        sides = sparse.csr_array(
            (np.sign(self._demand[nodes]), (nodes, np.arange(len(nodes)))), shape=(len(self._demand), len(nodes))
        )
        bounds = np.zeros((self.n_parts + len(nodes), 2))
        bounds[:, 1] = np.append(self._upper, np.abs(self._demand[nodes]))
        program = LinearProgram(
            A_eq=sparse.hstack([self._balance, sides], format="csr"), b_eq=self._demand, bounds=bounds
        )
        unmet = np.rint(program.solve(np.append(np.zeros(self.n_parts), np.ones(len(nodes))))[self.n_parts :])
        if unmet.any():
            found = ", ".join(
                f"{self._network.names[v]!r} {'lacks' if self._demand[v] > 0 else 'keeps'} {amount:.0f} of "
                f"{abs(self._demand[v]):.0f}"
                for v, amount in zip(nodes, unmet, strict=True)
                if amount
            )
            raise ValueError(f"the demands cannot be met within the capacities: at best, {found}")


def _capacities(given: Any, network: Network) -> Array:
    try:
        array = np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), network.n_arcs))
    except ValueError:
        raise ValueError(
            f"capacities have shape {np.shape(given)}; expected a number, or ({network.n_arcs},)"
        ) from None
    for p in np.flatnonzero(~((array >= 0) & (array == np.rint(array)))):
        raise ValueError(
            f"the capacity of {network.arc_name(int(p))} is {array[p]}; expected a whole number >= 0, or inf"
        )
    return array


def _demands(given: Any, network: Network) -> Array:
    if not isinstance(given, Mapping):
        raise ValueError(f"demands are {given!r}; expected {{node: whole number}}")
    demand = np.zeros(network.n_nodes)
    for node, amount in given.items():
        if not is_whole(amount):
            raise ValueError(f"the demand of {node!r} is {amount!r}; expected a whole number")
        demand[network.number(node, "a node with a demand")] = amount
    if demand.sum() != 0:
        taken, put = demand[demand > 0].sum(), -demand[demand < 0].sum()
        raise ValueError(f"nodes take {taken:.0f} out of the network and put {put:.0f} in; expected equal amounts")
    return demand
