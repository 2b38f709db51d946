"""Text graphics of models, at most 80 columns wide: tables of pairs of labels, matrices, logos, rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

WIDTH = 80
WIDEST = 12  # the most labels of a table of pairs; with more, only the strongest pairs are shown
HEIGHT = 8  # lines of a logo for a position of maximal information
PAIRS = (("before", "after", "then"), ("first_label", "second_label", "beside"))


class Picture(NamedTuple):
    """A drawing made of lines of text."""

    title: str
    lines: list[str]
    value: Any  # the same content for JSON


def pictures(model: Any, n: int) -> Iterator[Picture]:
    """Yield all graphics of a model; n is the number of rules shown."""
    weights = _weights(model)
    for kind, array in weights.items():
        yield from _tables(kind, array)
    if "rules" in weights and n > 0:
        yield _rules(weights["rules"], n)
    aligner = getattr(model, "aligner_", model)
    if hasattr(type(aligner), "substitution_matrix_"):
        yield from _substitutions(aligner)
    if hasattr(type(model), "information_"):
        yield _logo(model)


def _weights(model: Any) -> dict[str, Any]:
    """Return the named weights; empty if a kernel or hashes leave them without names."""
    try:
        return dict(model.weights_)
    except (AttributeError, TypeError, ValueError):
        return {}


# --- pairs of labels


def _tables(kind: str, array: Any) -> Iterator[Picture]:
    """Yield tables of weights of two labels, one per feature."""
    for one, other, between in PAIRS:
        if array.axes == (one, other):
            yield _table(kind, array.values, list(map(str, array.names[0])), (one, other, between))
        elif array.axes == ("feature", one, other):
            names = list(map(str, array.names[1]))
            for feature, values in zip(array.names[0], array.values, strict=True):
                yield _table(f"{kind}, {feature}", values, names, (one, other, between))


def _table(title: str, values: Any, names: list[str], words: tuple[str, str, str]) -> Picture:
    one, other, between = (word.replace("_", " ") for word in words)
    value = {"labels": names, "weights": values.tolist()}
    short = [_cut(name, 12) for name in names]
    width = max(6, *map(len, short))
    if len(names) > WIDEST or (width + 1) * (len(names) + 1) > WIDTH:
        strongest = np.argsort(-np.abs(values), axis=None)[:WIDEST]
        places = (np.unravel_index(k, values.shape) for k in strongest)
        lines = [f"  {values[i, j]:+9.4f}  {_cut(f'{names[i]} {between} {names[j]}', 66)}" for i, j in places]
        return Picture(f"strongest {title}", lines, value)
    lines = [" ".join([" " * width, *(f"{name:>{width}}" for name in short)])]
    for name, row in zip(short, values, strict=True):
        lines.append(" ".join([f"{name:>{width}}", *(f"{weight:>+{width}.2f}" for weight in row)]))
    return Picture(f"{title} ({one}: rows, {other}: columns)", lines, value)


# --- rules of a grammar


def _rules(array: Any, n: int) -> Picture:
    """Return the rules of largest weight, the largest first."""
    order = np.argsort(-np.abs(array.values))[:n]
    named = [(str(array.names[0][k]), float(array.values[k])) for k in order.tolist()]
    lines = [f"  {weight:+9.4f}  {_cut(rule, 66)}" for rule, weight in named]
    return Picture(f"heaviest of {len(array.values)} rules", lines, dict(named))


# --- substitutions and gaps


def _substitutions(aligner: Any) -> Iterator[Picture]:
    try:
        values, letters = np.asarray(aligner.substitution_matrix_), list(map(str, aligner.alphabet_))
        costs = {"open": aligner.gap_open_, "extend": aligner.gap_extend_}
    except (AttributeError, ValueError, TypeError):  # the model has other features than pairs of residues
        return
    value = {"letters": letters, "scores": values.tolist()}
    if 8 * (len(letters) + 1) <= WIDTH:
        lines = [" ".join([" " * 7, *(f"{letter:>7}" for letter in letters)])]
        lines += [
            " ".join([f"{letter:>7}", *(f"{score:>+7.3f}" for score in row)])
            for letter, row in zip(letters, values, strict=True)
        ]
        yield Picture("substitution scores", lines, value)
    else:
        unit = float(np.abs(values).max() / 9) or 1.0
        whole = np.rint(values / unit).astype(int)
        lines = ["   " + "".join(f"{letter:>3}" for letter in letters)]
        rows = zip(letters, whole, strict=True)
        lines += [f"{letter:>3}" + "".join(f"{score:>3}" for score in row) for letter, row in rows]
        yield Picture(f"substitution scores, in units of {unit:.4g}", _folded(lines), value)
    plain = {name: np.atleast_1d(np.asarray(cost, dtype=float)).tolist() for name, cost in costs.items()}
    said = {name: ", ".join(f"{cost:.4g}" for cost in several) for name, several in plain.items()}
    yield Picture("costs of gaps", [f"  {name:<7} {cost}" for name, cost in said.items()], plain)


def _folded(lines: list[str]) -> list[str]:
    """Split a wide table into several parts, each with the names of its rows."""
    if all(len(line) <= WIDTH for line in lines):
        return lines
    step, found = 3 * ((WIDTH - 3) // 3), list[str]()
    for begin in range(3, max(map(len, lines)), step):
        found += [f"{line[:3]}{line[begin : begin + step]}" for line in lines]
        found.append("")
    return found[:-1]


# --- logos


def _logo(model: Any) -> Picture:
    """Return a sequence logo in text: the height of a position is its information, at most HEIGHT lines."""
    frequencies, letters = np.asarray(model.frequencies_), str(model.alphabet_)
    most = float(np.log2(len(letters)))
    stacks = [_stack(row, told / most, letters) for row, told in zip(frequencies, model.information_, strict=True)]
    parts, step = list[str](), WIDTH - 8
    for begin in range(0, len(stacks), step):
        some = stacks[begin : begin + step]
        for line in range(HEIGHT, 0, -1):
            bits = f"{most * line / HEIGHT:4.1f} | " if line % 2 == 0 else "     | "
            parts.append((bits + "".join(stack[line - 1] if len(stack) >= line else " " for stack in some)).rstrip())
        parts.append("       " + model.consensus_[begin : begin + step])
        parts.append("")
    value = {"letters": letters, "frequencies": frequencies.tolist(), "consensus": model.consensus_}
    return Picture(f"motif of {len(stacks)} letters, in bits", parts[:-1], value)


def _stack(row: Sequence[float], share: float, letters: str) -> str:
    """Return the letters of a position from the bottom up, frequent letters on top."""
    height = round(share * HEIGHT)
    order = sorted(range(len(letters)), key=lambda k: row[k])
    ends = np.rint(np.cumsum([row[k] for k in order]) * height).astype(int)
    return "".join(letters[k] * int(end - begin) for k, begin, end in zip(order, [0, *ends[:-1]], ends, strict=True))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
