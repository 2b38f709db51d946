"""Handwritten words: a convolutional network with a chain, beside the linear chain and the network alone.

Ten folds as in the literature: one fold for training, the nine others for testing (Taskar et al. 2003). The network has
two layers of convolutions and a linear layer; all heads have the same network, seeds and epochs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_ocr_letters
from benchmarks.timing import Report, cpu_seconds

PROBLEMS = ("neural-letters",)
EPOCHS, FOLDS, LINEAR_C, RATE, BATCH = 20, 3, 100.0, 3e-3, 16


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train on single folds, and tabulate the shares of wrong letters in the other folds."""
    import torch

    from benchmarks.neural_encoders import Softmax, tabulated, with_error
    from maxmargin import SequenceLabeler
    from maxmargin.torch import ChainHead

    torch.set_num_threads(1)
    X, Y, folds = load_ocr_letters()
    letters = sorted({letter for y in Y for letter in y})
    numbers = {letter: k for k, letter in enumerate(letters)}
    heads: dict[str, Any] = {
        "CNN, every letter alone": Softmax,
        "CNN + chain, likelihood": lambda: ChainHead(len(letters), objective="likelihood"),
        "CNN + chain, hinge": lambda: ChainHead(len(letters), objective="hinge"),
    }
    errors: dict[str, list[float]] = {"linear chain, SequenceLabeler": [], **{what: [] for what in heads}}
    seconds: dict[str, list[float]] = {what: [] for what in errors}
    for fold in range(1 if quick else FOLDS):
        own, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)[: 500 if quick else None]
        report(f"{name}: fold {fold}")
        linear = SequenceLabeler(C=LINEAR_C)
        _, took = cpu_seconds(lambda linear=linear, own=own: linear.fit([X[i] for i in own], [Y[i] for i in own]))
        found = linear.predict([X[i] for i in others])
        note(errors, seconds, "linear chain, SequenceLabeler", wrong(found, [Y[i] for i in others]), took)
        train, test = (padded([X[i] for i in some], [Y[i] for i in some], numbers) for some in (own, others))
        for what, make in heads.items():
            torch.manual_seed(fold)
            head = make()
            network, took = cpu_seconds(lambda head=head, train=train: fit(head, *train, 2 if quick else EPOCHS))
            with torch.no_grad():
                labels = head.decode(network.eval()(test[0]), test[1] != -100)
            known = test[1] != -100
            note(errors, seconds, what, float((labels != test[1])[known].float().mean()), took)
    rows = [(what, with_error([100 * e for e in errors[what]]), with_error(seconds[what], 1)) for what in errors]
    return tabulated(f"{name}: {FOLDS} folds, {EPOCHS} epochs", ("model", "% wrong letters", "CPU s of training"), rows)


def note(errors: dict[str, list[float]], seconds: dict[str, list[float]], what: str, error: float, took: float) -> None:
    """Remember the results of one model."""
    errors[what].append(error)
    seconds[what].append(took)


def wrong(found: list[list[str]], Y: list[list[str]]) -> float:
    """Return the share of wrong letters."""
    return float(np.mean([a != b for z, y in zip(found, Y, strict=True) for a, b in zip(z, y, strict=True)]))


def padded(X: list[np.ndarray], Y: list[list[str]], numbers: dict[str, int]) -> tuple[Any, Any]:
    """Return pixels (words, letters, 128) and labels, -100 for padding."""
    import torch

    pad = torch.nn.utils.rnn.pad_sequence
    pixels = pad([torch.tensor(x, dtype=torch.float32) for x in X], batch_first=True)
    labels = [torch.tensor([numbers[letter] for letter in y]) for y in Y]
    return pixels, pad(labels, batch_first=True, padding_value=-100)


def fit(head: Any, pixels: Any, labels: Any, epochs: int) -> Any:
    """Train a network with this head, and return the network."""
    import torch
    from torch import nn

    class Letters(nn.Module):
        """Scores of letters by the pixels of each alone."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(
                nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 4 * 2, 26),
            )  # fmt: skip

        def forward(self, given: Any) -> Any:
            return self.layers(given.reshape(-1, 1, 16, 8)).view(*given.shape[:2], 26)

    network, order = Letters(), np.random.default_rng(0)
    optimiser = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=RATE)
    for _ in range(epochs):
        index = order.permutation(len(pixels))
        for i in range(0, len(index), BATCH):
            some = index[i : i + BATCH]
            longest = int((labels[some] != -100).sum(dim=1).max())
            optimiser.zero_grad()
            head(network(pixels[some, :longest]), labels[some, :longest]).backward()
            optimiser.step()
    return network
