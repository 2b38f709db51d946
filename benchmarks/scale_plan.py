"""A plan on paper for more machines than there are here: how long rounds take on M machines, by simulation.

A round: w goes to the scheduler and down a tree of workers, every machine makes a pass over its part, and sums go up
the tree; with two parts the scheduler sends w to both, and both answer the driver. Passes differ by chance (stragglers:
a lognormal factor); a machine is lost now and then, and its part is made again by another. What is measured is how many
tokens a core searches in a second, what a round takes in which nothing is sent or done, and how fast Dask moves a
vector from one process to another, which is slower than a network may be; the rest are parameters. Rounds until a gap
of 1% are those that the one-slack method needed here, which do not depend on the number of examples (O(C/ε) cuts).

The same simulation must foretell a round of data on two workers here, of which nothing but the speed of a core was
measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import NamedTuple

import numpy as np
from rich.table import Table

from benchmarks import effective_passes
from benchmarks.dask_rounds import added, cluster, idle, medians, oracle_of
from benchmarks.timing import Report
from maxmargin.executors import Dask
from maxmargin.executors.dask_tasks import FEW
from maxmargin.problem.oracle.oracle import Oracle

PROBLEMS = ("scale-plan",)


@dataclass(frozen=True)
class Plan:
    """What is assumed."""

    tokens: float = 1e9
    weights: float = 1e7
    cores: int = 8  # of every machine
    tokens_per_second: float = 5e5  # of a core
    latency: float = 0.012  # seconds, of a round in which nothing is done, and of one more level of tasks
    bandwidth: float = 1.25e9  # bytes per second, between two machines
    down: float = 8.0  # bytes per weight, of w
    up: float = 8.0  # and of a mean plane
    straggling: float = 0.2  # standard deviation of the logarithm of a pass's time
    losses: float = 1e-4  # machines that are lost in a round
    restart: float = 60.0  # seconds until a lost part is at work elsewhere
    rounds: int = 100


def round_seconds(plan: Plan, machines: int, rng: np.random.Generator) -> tuple[float, float]:
    """A round, and the part of it in which machines wait for messages."""
    alone = plan.tokens / machines / plan.cores / plan.tokens_per_second
    passes = alone * np.exp(rng.normal(0.0, plan.straggling, machines) - 0.5 * plan.straggling**2)
    lost = rng.random(machines) < plan.losses
    passes[lost] = passes[lost] * rng.random(lost.sum()) + plan.restart + alone
    messages = message_seconds(plan, machines)
    return float(passes.max() + messages), messages


def message_seconds(plan: Plan, machines: int) -> float:
    """Of one round: what comes after something else on the longest way."""
    if machines <= FEW:  # through one scheduler, and to one driver
        levels, down, up = 1, 1 + machines, machines
    else:  # w is a task; sums are joined until few are left
        joins = ceil(log2(machines / FEW))
        levels, down, up = 2 + joins, 2 + ceil(log2(machines)), joins + FEW
    return levels * plan.latency + plan.weights * (down * plan.down + up * plan.up) / plan.bandwidth


def training(plan: Plan, machines: int, seed: int = 0) -> tuple[float, float, float]:
    """Seconds of all rounds, of their messages, and of a machine's pass if all were alike."""
    rng = np.random.default_rng(seed)
    rounds = [round_seconds(plan, machines, rng) for _ in range(plan.rounds)]
    alone = plan.tokens / machines / plan.cores / plan.tokens_per_second
    return sum(each for each, _ in rounds), sum(each for _, each in rounds), alone * plan.rounds


class Constants(NamedTuple):
    """What is measured here."""

    tokens: float
    weights: int
    speed: float  # tokens per second of a core
    latency: float
    bandwidth: float  # from process to process
    up: float  # bytes per weight of a mean plane
    seconds: float  # of a round of the data on two workers


def measured(quick: bool, report: Report) -> Constants:
    """A pass of this process; on two workers rounds without anything, rounds of vectors, and rounds of data."""
    fit = effective_passes.FITS["conll2000"](quick)
    whole = oracle_of(fit)
    tokens, dim = float(sum(len(y) for y in fit.Y)), whole.dim
    w = 0.01 * np.random.default_rng(0).standard_normal(dim)
    here = Oracle(whole.batch, whole.formulation)
    speed = tokens / medians(lambda: here.mean_plane(w), 5)
    report("two workers")
    with cluster(2) as client:
        executor = Dask(client, parts=2)
        placed, both = executor.place([np.zeros(1), np.zeros(1)]), [1.0, 1.0]
        latency = medians(lambda: list(executor.map(_nothing, placed, both)), 15)
        vectors = medians(lambda: executor.reduce(added, idle, placed, both, w), 15)
        there = Oracle(whole.batch, whole.formulation, executor=executor)
        there.mean_plane(w)
        executor.received = 0
        seconds = medians(lambda: there.mean_plane(w), 5)
        up = executor.received / 6 / 2 / dim
    bandwidth = 8 * dim * 5 / max(vectors - latency, 1e-3)  # w to the scheduler and to each, and a vector from each
    return Constants(tokens, dim, speed, latency, bandwidth, up, seconds)


def _nothing(part: object, own: object) -> None:
    return None


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """The plan with constants that are measured now, and whether it foretells what two workers take here."""
    report("measuring")
    here = measured(quick, report)
    speed, latency, bandwidth = here.speed, here.latency, here.bandwidth
    local = Plan(here.tokens, here.weights, 1, speed, latency, bandwidth, up=here.up, straggling=0, losses=0, rounds=1)
    foretold, _, _ = training(local, 2)
    plan = Plan(tokens_per_second=speed, latency=latency, bandwidth=min(bandwidth, Plan.bandwidth), up=here.up)
    table = Table(
        title=f"{plan.tokens:.0e} tokens, {plan.weights:.0e} weights, {plan.rounds} rounds, {plan.cores} cores each"
    )
    for heading in (
        "machines",
        "hours",
        "of these in messages",
        "efficiency",
        "with twice the straggling, hours",
        "a tenth of the bandwidth, hours",
    ):
        table.add_column(heading, justify="right")
    for machines in (1, 4, 16, 32, 100, 400):
        total, messages, ideal = training(plan, machines)
        slow, _, _ = training(Plan(**{**vars(plan), "straggling": 2 * plan.straggling}), machines)
        thin, _, _ = training(Plan(**{**vars(plan), "bandwidth": plan.bandwidth / 10}), machines)
        cells = (
            f"{machines}",
            f"{total / 3600:.2f}",
            f"{messages / total:.0%}",
            f"{ideal / total:.0%}",
            f"{slow / 3600:.2f}",
            f"{thin / 3600:.2f}",
        )
        table.add_row(*cells)
    table.caption = (
        f"Measured now: {speed:,.0f} tokens per second of a core (CoNLL-2000, {here.weights:,} weights), "
        f"{1e3 * latency:.0f} ms for a round of nothing, {bandwidth / 1e6:,.0f} MB per second from process to process, "
        f"{here.up:.1f} bytes per weight of a mean plane. The same simulation foretells {1e3 * foretold:.0f} ms for a "
        f"round on two workers of this machine; measured: {1e3 * here.seconds:.0f} ms."
    )
    return table
