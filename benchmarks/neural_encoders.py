"""What the benchmarks of neural networks share: a BiLSTM over words, heads of label sequences, and tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torchcrf
from rich.table import Table
from torch import Tensor, nn

from maxmargin.torch import ChainHead

HIDDEN, OF_PARTS, RATE, BATCH = 64, 16, 3e-3, 32


class Tagged(NamedTuple):
    """A padded batch: numbers of words and of parts of speech, 0 for padding, and labels, -100 for padding."""

    words: Tensor
    parts: Tensor
    labels: Tensor

    @property
    def mask(self) -> Tensor:
        return self.words > 0


class Vocabulary:
    """The numbers of words that occur twice or more, of parts of speech, and of labels."""

    def __init__(self, sentences: Sequence[Any], tags: Sequence[Sequence[str]]):
        words = [word.lower() for sentence in sentences for word, _ in sentence]
        kept, counts = np.unique(words, return_counts=True)
        self.words = {word: k + 2 for k, word in enumerate(kept[counts > 1].tolist())}
        self.parts = {part: k + 2 for k, part in enumerate(sorted({part for s in sentences for _, part in s}))}
        self.labels = sorted({label for y in tags for label in y})
        self.numbers = {label: k for k, label in enumerate(self.labels)}

    def batches(self, sentences: Sequence[Any], tags: Sequence[Any], order: Any, size: int) -> Iterator[Tagged]:
        """Yield the sentences in this order."""
        for i in range(0, len(order), size):
            yield self.batch([sentences[j] for j in order[i : i + size]], [tags[j] for j in order[i : i + size]])

    def batch(self, sentences: Sequence[Any], tags: Sequence[Any]) -> Tagged:
        """Return sentences as tensors; labels that are not known are -100."""
        shape = len(sentences), max(map(len, sentences))
        words, parts, labels = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.full(shape, -100)
        for j, (sentence, own) in enumerate(zip(sentences, tags, strict=True)):
            words[j, : len(own)] = [self.words.get(word.lower(), 1) for word, _ in sentence]
            parts[j, : len(own)] = [self.parts.get(part, 1) for _, part in sentence]
            labels[j, : len(own)] = [self.numbers.get(label, -100) for label in own]
        return Tagged(*map(torch.from_numpy, (words, parts, labels)))

    def named(self, found: Tensor, mask: Tensor) -> list[list[str]]:
        """Return the names of found labels, without padding."""
        return [[self.labels[k] for k in own[known].tolist()] for own, known in zip(found, mask, strict=True)]


class BiLSTM(nn.Module):
    """Hidden states of words and parts of speech."""

    def __init__(self, known: Vocabulary):
        super().__init__()
        self.word, self.part = nn.Embedding(len(known.words) + 2, HIDDEN), nn.Embedding(len(known.parts) + 2, OF_PARTS)
        self.lstm = nn.LSTM(HIDDEN + OF_PARTS, HIDDEN, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.3)

    def forward(self, batch: Tagged) -> Tensor:
        given = self.drop(torch.cat([self.word(batch.words), self.part(batch.parts)], dim=2))
        hidden: Tensor = self.drop(self.lstm(given)[0])
        return hidden


class Softmax(nn.Module):
    """Every position alone."""

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        total = nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        return total / len(labels)

    def decode(self, scores: Tensor, mask: Tensor) -> Tensor:
        return scores.argmax(dim=2)


class OtherHead(nn.Module):
    """The head of pytorch-crf, with the same interface."""

    def __init__(self, n_labels: int):
        super().__init__()
        self.crf = torchcrf.CRF(n_labels, batch_first=True)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        value: Tensor = -self.crf(scores, labels.clamp(min=0), mask=labels != -100, reduction="mean")
        return value

    def decode(self, scores: Tensor, mask: Tensor) -> Tensor:
        found = [torch.tensor(own) for own in self.crf.decode(scores, mask=mask)]
        return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=-100)


def heads(n_labels: int) -> dict[str, Callable[[], nn.Module]]:
    """Return functions that make the heads, by name."""
    return {
        "softmax at every position": Softmax,
        "pytorch-crf": lambda: OtherHead(n_labels),
        "ChainHead, likelihood": lambda: ChainHead(n_labels, objective="likelihood"),
        "ChainHead, softmax-margin": lambda: ChainHead(n_labels, objective="softmax_margin"),
        "ChainHead, hinge": lambda: ChainHead(n_labels, objective="hinge"),
    }


def with_error(values: Sequence[float], digits: int = 2) -> str:
    """Return the mean, with its standard error if there are several values."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values) / len(values) ** 0.5:.{digits}f}"


def tabulated(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column is text."""
    table = Table(title=title)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="right" if k else "left")
    for row in rows:
        table.add_row(*row)
    return table
