"""Sections of a report on dependency trees: heads and labels, and arcs with their mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.report.drawings import picture
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of, share_of
from maxmargin.report.scoring.reliability import reliability_of
from maxmargin.report.sections import confusion_section, reliability_section, table
from maxmargin.structures.dependencies.arc_drawing import DrawnArc, arc_levels
from maxmargin.structures.dependencies.heads import HeadsOfWords, read_heads
from maxmargin.structures.dependencies.lexicon import read_tokens

MOST_WORDS = 60  # limit for a sentence that is drawn
LETTER, BETWEEN, LEVEL, LINE = 9, 18, 26, 18  # pixels


def arc_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for heads and labels; sentences are ordered by the number of wrong words."""
    predicted = model.predict(X)
    if len(predicted) != len(Y):
        raise ValueError(f"X has {len(predicted)} sentences but Y has {len(Y)}")
    truth = [read_heads(y, f"The true tree of sentence {i}") for i, y in enumerate(Y)]
    found = [read_heads(z, f"The predicted tree of sentence {i}") for i, z in enumerate(predicted)]
    for i, (y, z) in enumerate(zip(truth, found, strict=True)):
        if len(y.heads) != len(z.heads):
            raise ValueError(f"sentence {i} has {len(z.heads)} words but its true tree {len(y.heads)}")
    pairs = list(zip(truth, found, strict=True))
    words = np.array([len(y.heads) for y in truth])
    heads = np.array([sum(a == b for a, b in zip(y.heads, z.heads, strict=True)) for y, z in pairs])
    whole = np.array([sum(a == b for a, b in zip(y.as_given(), z.as_given(), strict=True)) for y, z in pairs])
    measures = [share_of("words with the right head (UAS)", heads, words)]
    sections: list[Section] = []
    if model.classes_ is not None:
        measures.insert(0, share_of("words with the right head and label (LAS)", whole, words))
        labels = [each for y, z in pairs for each in zip(y.labels or (), z.labels or (), strict=True)]
        sections.append(confusion_section(LabelConfusion.of(labels), "word"))
    measures.append(mean_of("sentences without a mistake", whole == words))
    sections.append(_by_length(pairs))
    sure = np.concatenate([np.asarray(each, dtype=float) for each in model.predict_confidence(X)] or [np.zeros(0)])
    right = [a == b for y, z in pairs for a, b in zip(y.heads, z.heads, strict=True)]
    found_sure = reliability_of(sure, np.array(right, dtype=bool))
    sections.append(reliability_section(found_sure, "head"))
    wrong = words - whole
    return Findings(
        unit="sentence",
        measures=measures,
        wrongness=wrong.astype(float),
        said=lambda i: f"{wrong[i]} of {words[i]} words have a wrong arc",
        drawn=lambda i: _drawn(_forms(model, X[i], int(words[i])), truth[i], found[i]),
        legend=note(
            "Arcs point from heads to dependents: ",
            Element("span", class_="key key-a"),
            "right, ",
            Element("span", class_="key key-bad"),
            "wrong; dashed ones are the true arcs that were missed.",
        ),
        sections=tuple(sections),
    )


def _forms(model: Any, x: Any, n: int) -> list[str]:
    """Return the words, or their numbers if the sentence has none."""
    return (
        [str(m) for m in range(1, n + 1)] if model.features is not None else [token[0] for token in read_tokens([x])[0]]
    )


def _by_length(pairs: list[tuple[HeadsOfWords, HeadsOfWords]]) -> Section:
    """Return how often heads are found, by their distance."""
    right, total = np.zeros(6, dtype=int), np.zeros(6, dtype=int)
    for y, z in pairs:
        for m, (a, b) in enumerate(zip(y.heads, z.heads, strict=True), 1):
            k = 0 if a == 0 else next(k for k, most in enumerate((1, 2, 5, 10, np.inf), 1) if abs(a - m) <= most)
            right[k], total[k] = right[k] + (a == b), total[k] + 1
    names = ["root", "1 word", "2 words", "3 to 5", "6 to 10", "more than 10"]
    rows = [[name, f"{r / n:.3f}", f"{n:,}"] for name, r, n in zip(names, right, total, strict=True) if n]
    return Section("Heads by distance", table(["true head", "found", "words"], rows, numbers=[1, 2]))


def _drawn(forms: list[str], truth: HeadsOfWords, found: HeadsOfWords) -> Any:
    if len(forms) > MOST_WORDS:
        rows = [
            [m, short(form, 40), a, b]
            for m, (form, a, b) in enumerate(zip(forms, found.as_given(), truth.as_given(), strict=True), 1)
            if a != b
        ]
        said = note(f"The sentence has {len(forms)} words; arcs over more than {MOST_WORDS} are not drawn.")
        return [said, table(["", "word", "predicted", "true"], rows[:MOST_WORDS])]
    names = [short(form, 24) for form in forms]
    arcs, true = _arcs(found), _arcs(truth)
    missed = [arc for arc in true if arc not in arcs]
    labels = [short(arc.label, 16) for arc in arcs]
    widths = [LETTER * max(len(name), len(label)) for name, label in zip(names, labels, strict=True)]
    begins = np.concatenate([[BETWEEN / 2], BETWEEN / 2 + np.cumsum([width + BETWEEN for width in widths])])
    middles = begins[:-1] + np.array(widths) / 2
    inner = [arc for arc in (*arcs, *missed) if arc.head]
    levels = dict(zip(inner, arc_levels(inner), strict=True))
    top = LEVEL * (max(levels.values(), default=0) + 1) + LINE
    drawn: list[Any] = []
    for arc in (*missed, *arcs):
        kind = "bad missed" if arc in missed else "a" if arc in true else "bad"
        drawn.append(_arc(arc, middles, top, levels.get(arc, 0), kind))
    for name, x in zip(names, middles, strict=True):
        drawn.append(Element("text", name, x=float(x), y=top + LINE + 2, text_anchor="middle"))
    return picture(drawn, float(begins[-1]), top + 1.6 * LINE, "dependency tree")


def _arcs(tree: HeadsOfWords) -> list[DrawnArc]:
    labels = ["" for _ in tree.heads] if tree.labels is None else [str(label) for label in tree.labels]
    return [DrawnArc(head, m, label) for m, (head, label) in enumerate(zip(tree.heads, labels, strict=True), 1)]


def _arc(arc: DrawnArc, middles: Any, top: float, level: int, kind: str) -> Any:
    end = float(middles[arc.m - 1])
    height = top - LEVEL * level if arc.head else LINE
    if arc.head:
        start = float(middles[arc.head - 1]) + (4 if arc.m > arc.head else -4)
        bend = min(12.0, abs(end - start) / 2) * (1 if end > start else -1)
        line = f"M{start:.1f} {top:.1f}V{height + 8:.1f}Q{start:.1f} {height:.1f} {start + bend:.1f} {height:.1f}"
        line += f"H{end - bend:.1f}Q{end:.1f} {height:.1f} {end:.1f} {height + 8:.1f}V{top - 3:.1f}"
        at = (start + end) / 2
    else:
        line, at = f"M{end:.1f} {height:.1f}V{top - 3:.1f}", end
    name = short(arc.label, 16) or ("" if arc.head else "root")
    first, _, dashes = kind.partition(" ")
    return [
        Element("path", d=line, class_=f"line-{first} thin {dashes}"),
        Element(
            "polygon",
            points=f"{end - 3.5:.1f},{top - 6:.1f} {end + 3.5:.1f},{top - 6:.1f} {end:.1f},{top:.1f}",
            class_=f"point-{first}",
        ),
        Element("text", name, x=at, y=height - 3, text_anchor="middle", class_="axis"),
    ]
