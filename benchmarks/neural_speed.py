"""Structured losses of padded batches beside pytorch-crf and torch-struct: loss with backward pass, and decoding.

All ways run in turn in one process, round by round, and the least wall time of each counts, so that other work on the
machine disturbs all of them alike. The scores are those of a batch of 32 sequences of 64 to 128 positions, in float32.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.timing import Report

PROBLEMS = ("neural-speed",)
LABELS, BATCH, LENGTH, ROUNDS = (9, 23, 45), 32, 128, 10
CRF = "pytorch-crf, loss and backward"


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Time all ways, for several numbers of labels."""
    import torch

    torch.set_num_threads(1)
    table = Table(title=f"{name}: batch of {BATCH}, lengths {LENGTH // 2} to {LENGTH}, float32, least of many rounds")
    for heading in ("labels", "what", "ms", "pytorch-crf / this"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for K in LABELS[:1] if quick else LABELS:
        report(f"{name}: {K} labels")
        ways = made_ways(K)
        best = timed(ways, 2 if quick else ROUNDS * repeat)
        for way, seconds in best.items():
            other = best["pytorch-crf, decode"] if "decode" in way else best[CRF]
            table.add_row(str(K), way, f"{1e3 * seconds:.2f}", f"{other / seconds:.1f}")
    return table


def timed(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least wall time of every way, over rounds in which each runs once."""
    best = dict.fromkeys(ways, np.inf)
    for call in ways.values():
        call()
    for _ in range(rounds):
        for way, call in ways.items():
            for _ in range(3):  # the first call finds other data in the caches
                start = time.perf_counter()
                call()
                best[way] = min(best[way], time.perf_counter() - start)
    return best


def made_ways(K: int) -> dict[str, Callable[[], Any]]:
    """Return the calls that are timed."""
    import torch
    import torchcrf

    from maxmargin.tasks import ChainScores, PaddedChains
    from maxmargin.torch import ChainHead

    torch.manual_seed(0)
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (BATCH,))
    lengths[0] = LENGTH
    mask = torch.arange(LENGTH) < lengths[:, None]
    scores, labels = torch.randn(BATCH, LENGTH, K, requires_grad=True), torch.randint(0, K, (BATCH, LENGTH))
    other = torchcrf.CRF(K, batch_first=True)
    arrays, marked = scores.detach().numpy(), np.where(mask.numpy(), labels.numpy(), -100)

    def step(loss: Callable[[], Any]) -> Callable[[], None]:
        return lambda: loss().backward()

    def core(loss: str, n_jobs: int = 1) -> Callable[[], None]:
        def call() -> None:
            space = PaddedChains(marked != -100, K, marked, n_jobs=n_jobs)
            getattr(space, loss)(ChainScores(arrays, *space.no_links))

        return call

    ways = {CRF: step(lambda: -other(scores, labels, mask=mask, reduction="mean"))}
    for objective in ("likelihood", "softmax_margin", "hinge"):
        head = ChainHead(K, objective=objective, n_jobs=1)
        ways[f"ChainHead, {objective}, loss and backward"] = step(lambda head=head: head(scores, labels, mask))
    both = ChainHead(K, objective="likelihood", n_jobs=2)
    ways["the same of likelihood, two threads"] = step(lambda: both(scores, labels, mask))
    ways["numpy alone, likelihood with gradient"] = core("soft_hinge")
    ways["numpy alone, hinge with gradient"] = core("hinge")
    ways["numpy alone, likelihood, two threads"] = core("soft_hinge", 2)
    ways |= torch_struct_way(scores, lengths) if LABELS[0] == K else {}  # beyond, it takes seconds
    ways["pytorch-crf, decode"] = lambda: other.decode(scores, mask=mask)
    ways["ChainHead, decode"] = lambda: head.decode(scores, mask)
    return ways


def torch_struct_way(scores: Any, lengths: Any) -> dict[str, Callable[[], Any]]:
    """Return the log-partition of torch-struct with its backward pass, where it is installed."""
    try:
        from torch_struct import LinearChainCRF
    except ImportError:
        return {}

    def call() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            steps = scores[:, 1:, :, None].expand(-1, -1, -1, scores.shape[2])
            LinearChainCRF(steps, lengths=lengths).partition.mean().backward()

    return {"torch-struct, log partition and backward": call}
