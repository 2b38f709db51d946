"""A BiLSTM tagger on CoNLL-2000 with several heads: F1 and CPU time at the same number of epochs.

neural-tagger : all heads on the same encoder, with the same seeds; words and parts of speech are embedded from nothing.
neural-frozen : the last layer and the head of a frozen encoder, by a certified solver and by 30 epochs of Adam, which
    minimise the same objective ½‖w‖² + C · mean hinge.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_conll2000
from benchmarks.timing import Report, cpu_seconds

PROBLEMS = ("neural-tagger", "neural-frozen")
SENTENCES, EPOCHS, SEEDS, FROZEN, FROZEN_C, ADAM_EPOCHS, QUICK = 4000, 4, 3, 2000, 100.0, 30, 200


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train and tabulate."""
    import torch

    torch.set_num_threads(1)
    train, test = (load_conll2000(part) for part in ("train", "test"))
    if quick:
        train, test = ((X[:QUICK], Y[:QUICK]) for X, Y in (train, test))
    if name == "neural-tagger":
        train = tuple(each[:SENTENCES] for each in train)
    way = tagger if name == "neural-tagger" else frozen
    return way(train, test, quick, lambda what: report(f"{name}: {what}"))


def trained(known: Any, head: Any, train: Any, seed: int, epochs: int) -> tuple[Any, Any, float]:
    """Train an encoder, a linear layer and a head; return both modules, and the CPU seconds of the head alone."""
    import torch
    from torch import nn

    from benchmarks.neural_encoders import BATCH, HIDDEN, RATE, BiLSTM

    torch.manual_seed(seed)  # again, so that every head begins with the same encoder
    encoder, layer, order, spent = (
        BiLSTM(known),
        nn.Linear(2 * HIDDEN, len(known.labels)),
        np.random.default_rng(seed),
        0.0,
    )
    optimiser = torch.optim.Adam([*encoder.parameters(), *layer.parameters(), *head.parameters()], lr=RATE)
    for _ in range(epochs):
        for batch in known.batches(*train, order.permutation(len(train[0])), BATCH):
            optimiser.zero_grad()
            scores = layer(encoder(batch))
            leaf = scores.detach().requires_grad_()
            start = time.process_time()
            head(leaf, batch.labels).backward()
            spent += time.process_time() - start
            scores.backward(leaf.grad)
            optimiser.step()
    return encoder.eval(), layer, spent


def tagger(train: Any, test: Any, quick: bool, report: Report) -> Table:
    """Train every head with the same encoder, epochs and seeds."""
    import torch

    from benchmarks.neural_encoders import Vocabulary, heads, tabulated, with_error
    from maxmargin.metrics import chunk_f1

    known, rows = Vocabulary(*train), []
    for what, make in heads(len(known.labels)).items():
        numbers: list[list[float]] = [[], [], []]
        for seed in range(1 if quick else SEEDS):
            report(f"{what}, seed {seed}")
            torch.manual_seed(seed)
            head = make()
            (encoder, layer, spent), took = cpu_seconds(
                lambda head=head, seed=seed: trained(known, head, train, seed, 1 if quick else EPOCHS)
            )
            found = []
            with torch.no_grad():
                for batch in known.batches(*test, range(len(test[0])), 64):
                    found += known.named(head.decode(layer(encoder(batch)), batch.mask), batch.mask)
            for own, value in zip(numbers, (100 * chunk_f1(test[1], found).f1, took, spent), strict=True):
                own.append(value)
        rows.append((what, *(with_error(own) for own in numbers)))
    title = f"neural-tagger: BiLSTM, {len(train[0])} sentences of CoNLL-2000, {EPOCHS} epochs, {SEEDS} seeds"
    return tabulated(title, ("head", "F1", "CPU s", "CPU s of loss and backward pass of the head"), rows)


def frozen(train: Any, test: Any, quick: bool, report: Report) -> Table:
    """Train the head of a frozen encoder in two ways; Adam has six rates."""
    import torch
    from torch import nn

    from benchmarks.neural_encoders import HIDDEN, Softmax, Vocabulary, tabulated
    from maxmargin import SequenceLabeler
    from maxmargin.metrics import chunk_f1
    from maxmargin.neural import LabelerWeights
    from maxmargin.torch import ChainHead

    torch.manual_seed(0)
    known = Vocabulary(*train)
    encoder, _, _ = trained(known, Softmax(), train, 0, 1)
    X, Y = train[0][:FROZEN], train[1][:FROZEN]
    with torch.no_grad():
        batches = list(known.batches(X, Y, range(len(X)), 32))
        hidden = [encoder(batch) for batch in batches]
        states = cut_out(hidden, batches)
        tests = list(known.batches(*test, range(len(test[0])), 64))
        new = cut_out([encoder(batch) for batch in tests], tests)
    rows = []
    SequenceLabeler(C=1.0, classes=known.labels).fit(states[:5], Y[:5])  # compiles
    for tol in (1e-1, 1e-2):
        report(f"SequenceLabeler, tol {tol}")
        model, took = cpu_seconds(
            lambda tol=tol: SequenceLabeler(C=FROZEN_C, classes=known.labels, tol=tol).fit(states, Y)
        )
        f1 = 100 * chunk_f1(test[1], model.predict(new)).f1
        bounds = model.certificate_
        reached = f"{bounds.primal:.1f}", f"{bounds.dual:.1f}", f"{f1:.2f}"
        rows.append((f"SequenceLabeler, tol={tol}", f"{took:.1f}", *reached))
    for rate in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 1e-1):
        report(f"Adam, rate {rate}")
        layer, head = nn.Linear(2 * HIDDEN, len(known.labels), bias=False), ChainHead(known.labels)
        nn.init.zeros_(layer.weight)
        own, order = [layer.weight, *head.parameters()], np.random.default_rng(0)

        def adam(layer: Any = layer, head: Any = head, own: Any = own, order: Any = order, rate: float = rate) -> None:
            optimiser = torch.optim.Adam(own, lr=rate)
            for _ in range(ADAM_EPOCHS):
                for j in order.permutation(len(batches)):
                    optimiser.zero_grad()
                    size = 0.5 * sum((each**2).sum() for each in own)
                    (size + FROZEN_C * head(layer(hidden[j]), batches[j].labels)).backward()
                    optimiser.step()

        _, took = cpu_seconds(adam)
        other = head.labeler_weights(layer).to_labeler(model)
        primal = primal_of(other.w_, states, Y, known, LabelerWeights.of_labeler(other))
        f1 = 100 * chunk_f1(test[1], other.predict(new)).f1
        rows.append((f"Adam, rate {rate}, {ADAM_EPOCHS} epochs", f"{took:.1f}", f"{primal:.1f}", "", f"{f1:.2f}"))
    title = f"neural-frozen: the head of a frozen BiLSTM, {len(X)} sentences, C = {FROZEN_C:g}"
    return tabulated(title, ("how", "CPU s", "objective", "lower bound", "F1"), rows)


def cut_out(hidden: list[Any], batches: list[Any]) -> list[np.ndarray]:
    """Return the hidden states of every sentence, without padding."""
    pairs = zip(hidden, batches, strict=True)
    return [own[mask].numpy().astype(float) for h, batch in pairs for own, mask in zip(h, batch.mask, strict=True)]


def primal_of(w: Any, states: Any, Y: Any, known: Any, weights: Any) -> float:
    """Return ½‖w‖² + C · mean hinge."""
    from maxmargin import neural
    from maxmargin.tasks import ChainScores, ChainSpace

    truth = np.array([known.numbers[label] for y in Y for label in y])
    space = ChainSpace.of_lengths([len(y) for y in Y], len(known.labels), truth)
    scores = ChainScores(np.vstack(states) @ weights.features, *weights[1:])
    return 0.5 * float(w @ w) + FROZEN_C * float(neural.loss(space, scores).values.mean())
