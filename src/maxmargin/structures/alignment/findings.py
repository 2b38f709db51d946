"""Sections of a report on alignments: pairs found, the substitution matrix, and alignments with their mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of, share_of
from maxmargin.report.scoring.reliability import reliability_of
from maxmargin.report.sections import MOST_LABELS, matrix, pair_section, reliability_section, table
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import sides_of
from maxmargin.structures.alignment.display import RIGHT, SHIFTED, SIGNS, UNJUDGED, WRONG, AlignmentDisplay, letters_of
from maxmargin.structures.alignment.formats.pairwise_text import ends, layout
from maxmargin.structures.alignment.homologs import candidate_number
from maxmargin.structures.alignment.scored_predictions import predictions_for

WIDTH = 40  # columns of a block: as many as a phone shows
MOST_COLUMNS = 800  # limit for an alignment that is drawn
MOST_CANDIDATES = 15
KINDS = {RIGHT: "good", SHIFTED: "", WRONG: "bad", UNJUDGED: ""}


def alignment_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for trusted pairs; alignments are ordered by the number of pairs that are missed."""
    found = predictions_for(model, X, Y)
    truth = [
        PairwiseAlignment.of(y, z.lengths, f"the alignment of example {i}")
        for i, (y, z) in enumerate(zip(Y, found, strict=True))
    ]
    has_trusted = np.array([y.trusted.any() for y in truth])
    shift = max(int(model.max_shift), 0)

    def shares(most: int) -> Any:
        return np.array(
            [z.agreement(y, most) if y.trusted.any() else np.nan for y, z in zip(truth, found, strict=True)]
        )

    exact, near = shares(0), shares(shift)
    trusted = np.array([int(y.trusted.sum()) for y in truth])
    measures = [_mean("trusted pairs found (mean over alignments)", exact)]
    if shift:
        measures.insert(0, _mean(f"trusted pairs found within {shift} (mean over alignments)", near))
    measures.append(share_of("trusted pairs found (all together)", np.nan_to_num(exact) * trusted, trusted))
    sure = [p for chances in model.predict_confidence(X) for p in np.asarray(chances, dtype=float)]
    true = [set(map(tuple, y.pairs.tolist())) for y in truth]
    right = [tuple(pair) in pairs for pairs, z in zip(true, found, strict=True) for pair in z.pairs.tolist()]
    lost = np.where(has_trusted, (1 - np.nan_to_num(near)) * trusted, 0.0)
    return Findings(
        unit="alignment",
        measures=measures,
        wrongness=lost,
        said=lambda i: f"{near[i]:.1%} of {trusted[i]} trusted pairs are found",
        drawn=lambda i: aligned(X[i], found[i], truth[i], shift),
        legend=note(
            "Between the sequences, ",
            Element("code", "|"),
            " is a right pair, ",
            Element("code", "×"),
            " a wrong one, a number how far it is off, ",
            Element("code", "·"),
            " one that the truth says nothing about; ",
            Element("span", "marked", class_="bad"),
            " residues should be aligned and are not.",
        ),
        sections=(reliability_section(reliability_of(np.array(sure), np.array(right, dtype=bool)), "aligned pair"),),
    )


def homolog_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for homologs; examples are ordered by the lead of a wrong candidate over the homolog."""
    found = predictions_for(model, X, Y)
    truth = [candidate_number(y, len(x[1]), i) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    scores = model.decision_function(X)
    ranks = np.array([1 + int(np.sum(s > s[y])) for s, y in zip(scores, truth, strict=True)])
    lead = np.array([float(np.max(s) - s[y]) for s, y in zip(scores, truth, strict=True)])
    return Findings(
        unit="sequence",
        measures=[
            mean_of("homologs found", found == np.array(truth)),
            mean_of("mean of 1 / place of the homolog", 1 / ranks),
        ],
        wrongness=np.where(found == np.array(truth), 0.0, lead + 1e-300),
        said=lambda i: f"the homolog is at place {ranks[i]} of {len(scores[i])}, {lead[i]:.4g} below the first",
        drawn=lambda i: _candidates(X[i], scores[i], truth[i]),
        legend=note("Candidates by their scores, the highest first; the homolog is marked."),
    )


def learnt_scores(model: Any) -> list[Section]:
    """Return tables of the scores of aligned residues, and of gaps."""
    sections = []
    for name, weights in model.weights_.items():
        if weights.values.ndim == 2 and min(weights.shape) > 1 and len(weights.axes) == 2:
            rows, columns = ([_said(each) for each in names] for names in weights.names)
            said = "Scores of pairs of values that the first and the second sequence have at aligned positions."
            sections.append(pair_section(f"Scores of {name}", said, rows, columns, weights.values))
        elif weights.values.size <= MOST_LABELS:
            names = [", ".join(map(_said, each)) for each in _combinations(weights.names)]
            sections.append(
                Section(name[0].upper() + name[1:], matrix(names, ["score"], weights.values.reshape(-1, 1)))
            )
    return sections


def aligned(x: Any, found: PairwiseAlignment, truth: PairwiseAlignment, shift: int) -> Any:
    """Draw both sequences in blocks, with a line between them that marks the status of every pair."""
    first, second = (_letters(each, which) for each, which in zip(sides_of(x, 0), ("first", "second"), strict=True))
    shown = AlignmentDisplay(first, second, found, truth, shift)
    columns = layout(found)
    signs, kinds = [" "] * len(columns), [""] * len(columns)
    paired = np.flatnonzero((columns >= 0).all(axis=1))
    for at, status, off in zip(paired, shown.status, shown.shifts, strict=True):
        signs[at], kinds[at] = SIGNS.get(status, str(off) if off < 10 else "+"), KINDS[status]
    missed = set(shown.missed)
    digits, blocks = len(str(max(found.lengths))), []
    last = min(len(columns), MOST_COLUMNS)
    for begin in range(0, last, WIDTH):
        end = min(begin + WIDTH, last)
        sides = ends(columns, begin, end)
        lines: list[Any] = []
        for side, letters in enumerate((first, second)):
            (a, b) = sides[side]
            lines.append(f"{a:{digits}} ")
            for c in range(begin, end):
                p = columns[c, side]
                letter = letters[p] if p >= 0 else "-"
                lines.append(Element("span", letter, class_="bad") if side == 0 and p in missed else letter)
            lines.append(f" {b}\n")
            if side == 0:
                line = [Element("span", signs[c], class_=kinds[c]) if kinds[c] else signs[c] for c in range(begin, end)]
                lines += [" " * (digits + 1), line, "\n"]
        blocks.append(Element("pre", lines))
    cut = note(f"The first {last} of {len(columns)} columns are shown.") if last < len(columns) else None
    return [blocks, cut]


def _candidates(x: Any, scores: Any, truth: int) -> Any:
    order = np.argsort(-np.asarray(scores), kind="stable")
    shown = list(order[:MOST_CANDIDATES])
    shown += [] if truth in shown else [truth]
    places = {int(k): place for place, k in enumerate(order, 1)}
    rows = [
        [
            places[int(k)],
            Element("strong", f"{k} (homolog)") if k == truth else f"{k}",
            f"{scores[k]:.4g}",
            Element("code", short(_letters(x[1][k], "candidate"), 60)),
        ]
        for k in shown
    ]
    return [
        Element("p", "sequence: ", Element("code", short(_letters(x[0], "first"), 60))),
        table(["place", "candidate", "score", "sequence"], rows, numbers=[0, 2]),
    ]


def _mean(name: str, values: Any) -> Any:
    known = np.isfinite(values)
    return share_of(name, np.where(known, values, 0.0), known)


def _letters(sequence: Any, which: str) -> str:
    """Return one letter for every position, also if positions have no letters."""
    try:
        return letters_of(sequence, which)
    except ValueError:
        first = next(iter(sequence.values())) if isinstance(sequence, dict) else sequence
        return "x" * len(first)


def _said(name: Any) -> str:
    return "·".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _combinations(names: Any) -> list[tuple[Any, ...]]:
    if not names:
        return [()]
    return [(name, *rest) for name in names[0] for rest in _combinations(names[1:])]
