"""A plan on paper for more machines than there are here: how long rounds take on M machines, by simulation.

A round: w goes down a tree of workers, every machine makes a pass over its part, and sums go up the tree. Passes differ
by chance (stragglers: a lognormal factor); a machine is lost now and then, and its part is made again by another. What
is measured is how many tokens a core searches in a second; the rest are parameters. Rounds until a gap of 1% are those
that the one-slack method needed here, which do not depend on the number of examples (O(C/ε) cuts).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from rich.table import Table

from benchmarks import effective_passes
from benchmarks.dask_rounds import cluster, medians, oracle_of
from benchmarks.timing import Report
from maxmargin.executors import Dask
from maxmargin.oracle import Oracle

PROBLEMS = ("scale-plan",)


@dataclass(frozen=True)
class Plan:
    """What is assumed."""

    tokens: float = 1e9
    weights: float = 1e7
    cores: int = 8  # of every machine
    tokens_per_second: float = 5e5  # of a core
    latency: float = 0.012  # seconds, of a task from one end to the other
    bandwidth: float = 1.25e9  # bytes per second, between two machines
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
    hop = plan.latency + 8 * plan.weights / plan.bandwidth
    messages = 2 * ceil(log2(max(machines, 2))) * hop if machines > 1 else 2 * hop
    return float(passes.max() + messages), messages


def training(plan: Plan, machines: int, seed: int = 0) -> tuple[float, float, float]:
    """Seconds of all rounds, of their messages, and of a machine's pass if all were alike."""
    rng = np.random.default_rng(seed)
    rounds = [round_seconds(plan, machines, rng) for _ in range(plan.rounds)]
    alone = plan.tokens / machines / plan.cores / plan.tokens_per_second
    return sum(each for each, _ in rounds), sum(each for _, each in rounds), alone * plan.rounds


def measured(quick: bool, report: Report) -> tuple[float, float, float, float, int]:
    """Tokens per second of a core, the latency of a round, its seconds on two workers, tokens, weights."""
    fit = effective_passes.FITS["conll2000"](quick)
    whole = oracle_of(fit)
    tokens = sum(len(y) for y in fit.Y)
    w = 0.01 * np.random.default_rng(0).standard_normal(whole.dim)
    here = Oracle(whole._batch, whole.formulation)
    here.mean_plane(w)
    began = time.perf_counter()
    here.mean_plane(w)
    speed = tokens / (time.perf_counter() - began)
    report("two workers")
    with cluster(2) as client:
        executor = Dask(client, parts=2)
        placed = executor.place([np.zeros(1), np.zeros(1)])
        latency = medians(lambda: list(executor.map(_nothing, placed, [0, 0])), 15)
        there = Oracle(whole._batch, whole.formulation, executor=executor)
        there.mean_plane(w)
        seconds = medians(lambda: there.mean_plane(w), 3)
    return speed, latency, seconds, float(tokens), whole.dim


def _nothing(part: object, own: object) -> None:
    return None


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """The plan with constants that are measured now, and whether it foretells what two workers take here."""
    report("measuring")
    speed, latency, seconds, tokens, dim = measured(quick, report)
    local = Plan(tokens, dim, 1, speed, latency, 1e9, 0.0, 0.0, rounds=1)
    foretold, _, _ = training(local, 2)
    plan = Plan(tokens_per_second=speed, latency=latency)
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
        f"Measured now: {speed:,.0f} tokens per second of a core (CoNLL-2000, {dim:,} weights), "
        f"{1e3 * latency:.0f} ms for a task. The same simulation foretells {1e3 * foretold:.0f} ms for a round on two "
        f"workers of this machine; measured: {1e3 * seconds:.0f} ms."
    )
    return table
