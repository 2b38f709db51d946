"""ModelReport: the page, and the order of its sections."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from inspect import signature
from math import isfinite
from typing import Any

import numpy as np

from maxmargin.base.checks import check_whole
from maxmargin.base.files.drafts import write_file
from maxmargin.base.named_weights import top_weights
from maxmargin.report.charts import Axis, bar
from maxmargin.report.explanation import Explanation
from maxmargin.report.findings import Findings, Section, counted, note, plural
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import FEW_EXAMPLES, FEW_MISTAKES, FEWEST, LEVEL, Interval
from maxmargin.report.sections import MOST_ROWS, scrolling, table, weights_table
from maxmargin.report.style import POLICY, SCRIPT, STYLE
from maxmargin.report.training import training_section

PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba")


class ModelReport:
    """A page about a model: `html` is its text, `save(path)` writes it, and a notebook shows it.

    `scores` has the measures by name, each with `value`, `low` and `high`, which are NaN if there is no interval, and
    `why_not`, the reason for that. `notice` says that the page is about training data; it is empty otherwise.
    """

    def __init__(self, html: str, title: str, scores: dict[str, Interval], notice: str = ""):
        self.html, self.title, self.scores, self.notice = html, title, scores, notice

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a self-contained file."""
        write_file(path, self.html.encode(), devices=True)

    def _repr_html_(self) -> str:
        frame = Element("iframe", srcdoc=self.html, sandbox="allow-scripts", width="100%", height=640, title=self.title)
        return str(frame)

    def __repr__(self) -> str:
        return f"<ModelReport {self.title!r}: {len(self.html):,} characters; save(path) writes it>"


def report_of(
    model: Any,
    findings: Findings,
    *,
    title: str | None = None,
    facts: Mapping[str, str] | None = None,
    date: str | None = None,
    seed: int = 0,
    n_worst: int = 10,
    sections: Sequence[Section] = (),
    said: Sequence[str] = (),
    notice: str = "",
    explained: Callable[[int], Explanation | None] = lambda i: None,
) -> ModelReport:
    """Return the page about a fitted model and its predictions.

    notice : a sentence that says that these are training data.
    explained : returns why an example, given by its number, is not predicted as the truth says.
    """
    n_worst = check_whole("n_worst", n_worst, least=0)
    name = type(model).__name__
    title = f"{name} report" if title is None else str(title)
    intervals = [measure.interval(seed) for measure in findings.measures]
    content = [
        _about(model, findings, facts or {}, date, said),
        training_section(model),
        _scores(findings, intervals, seed),
        *sections,
        *findings.sections,
        _mistakes(findings, n_worst, explained),
        *model._learnt(),
        _weights(model),
        _settings(model, seed),
    ]
    numbered = [(f"s{k}", each) for k, each in enumerate(content, 1)]
    body = [
        Element(
            "header",
            Element("h1", title),
            Element("p", _lead(findings, intervals), class_="lead"),
            Element("p", Element("strong", "Training data. "), f"{notice}.", class_="notice") if notice else None,
        ),
        Element("nav", Element("ul", [Element("li", Element("a", s.title, href=f"#{at}")) for at, s in numbered])),
        Element(
            "main",
            [
                Element("section", Element("h2", s.title), s.content, id=at, class_="wide" if s.wide else None)
                for at, s in numbered
            ],
        ),
        Element("footer", f"Made by maxmargin {version('maxmargin')}. This page loads nothing from anywhere."),
        Element("script", SCRIPT),
    ]
    head = Element(
        "head",
        Element("meta", charset="utf-8"),
        Element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        Element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Element("title", title),
        Element("style", STYLE),
    )
    page = Element("html", head, Element("body", body), lang="en")
    scores = {measure.name: found for measure, found in zip(findings.measures, intervals, strict=True)}
    return ModelReport(f"<!DOCTYPE html>\n{page}\n", title, scores, notice)


def facts_list(facts: Mapping[str, Any]) -> Element:
    """Return names and values as a definition list."""
    return Element("dl", [[Element("dt", name), Element("dd", value)] for name, value in facts.items()], class_="facts")


def known_facts(model: Any) -> dict[str, str]:
    """Return facts about a fitted model: the size of its training data and its own size."""
    facts = {}
    if (n := getattr(model, "n_examples_", None)) is not None:
        facts["trained on"] = counted(n, "example")
    if (features := getattr(model, "n_features_in_", None)) is not None:
        facts["features"] = f"{features:,}"
    labels = getattr(model, "classes_", None)
    if labels is not None and len(labels):
        names = ", ".join(short(label, 40) for label in list(labels)[:12])
        facts["labels"] = f"{len(labels):,}: {names}{', …' if len(labels) > 12 else ''}"
    if (penalty := getattr(model, "alpha_", None)) is not None:
        facts["λ"] = f"{penalty:.4g}, {model.chosen_by_}"
    if (w := getattr(model, "w_", None)) is not None:
        facts["weights"] = f"{len(w):,}, of which {np.count_nonzero(w):,} are not 0"
    if (support := getattr(model, "support_", None)) is not None:
        facts["kept training examples"] = f"{len(support):,}"
    return facts


def _lead(findings: Findings, intervals: list[Interval]) -> str:
    """Return what the page says, in one or two sentences."""
    n, wrong = len(findings.wrongness), int(np.count_nonzero(np.asarray(findings.wrongness) > 0))
    if not n:
        return f"There is no {findings.unit} to judge this model on."
    right = f"{n - wrong:,} of" if 0 < wrong < n else "none of" if wrong else "all" if n > 1 else "the only"
    right = f"{right} {counted(n, findings.unit)}" if n > 1 else f"{right} {findings.unit}"
    said = f"This model predicts {right} without a mistake."
    if intervals and isfinite(intervals[0].value):
        found, name = intervals[0], findings.measures[0].name
        between = f", with a {LEVEL:.0%} interval from {_number(found.low)} to {_number(found.high)}"
        unsure = between if isfinite(found.low) else f"; there are {found.why_not} for an interval"
        said += f" Its main measure, {name}, is {_number(found.value)}{unsure}."
    return said


def _about(model: Any, findings: Findings, facts: Mapping[str, str], date: str | None, said: Sequence[str]) -> Section:
    what = (type(model).__doc__ or "").strip().split("\n")[0]
    known = {
        "estimator": [Element("strong", type(model).__name__), f": {what}" if what else ""],
        **known_facts(model),
        "judged on": counted(len(findings.wrongness), findings.unit),
        **facts,
        **({} if date is None else {"date": date}),
        **({"noticed": [Element("p", short(each, 500)) for each in said]} if said else {}),
    }
    return Section("What this is", facts_list(known))


def _scores(findings: Findings, intervals: list[Interval], seed: int) -> Section:
    rows = []
    for measure, found in zip(findings.measures, intervals, strict=True):
        known = [each for each in (found.low, found.value, found.high, measure.best) if isfinite(each)]
        worst = min(known, default=0.0) if measure.worst is None else measure.worst
        low, high = min([worst, *known]), max([measure.best, *known, worst])
        drawn = bar(found.low, found.value, found.high, Axis("", low, high if high > low else low + 1))
        interval = f"{_number(found.low)} to {_number(found.high)}" if isfinite(found.low) else found.why_not
        rows.append(
            [[measure.name, note(measure.note) if measure.note else None], _number(found.value), interval, drawn]
        )
    n = len(findings.wrongness)
    redrawn = any(found.draws for found in intervals)
    exact = any(isfinite(each.low) and not each.draws for each in intervals)
    said = [f"The intervals describe how much a score may vary with other {plural(findings.unit)}, at {LEVEL:.0%}."]
    if exact:
        said.append("Those of shares are exact (Clopper and Pearson).")
    if redrawn:
        said.append(
            f"{'Those of other measures' if exact else 'They'} have the middle {LEVEL:.0%} of the scores if "
            f"{counted(n, findings.unit)} are drawn again from these with replacement (bootstrap, seed {seed})."
        )
    if any(found.why_not == FEW_EXAMPLES for found in intervals):
        said.append(f"Drawing again needs {FEWEST} {plural(findings.unit)} at least.")
    if any(found.why_not == FEW_MISTAKES for found in intervals):
        said.append("Where all are predicted alike, drawing again shows no variation.")
    head = ["measure", "value", f"{LEVEL:.0%} interval", ""]
    return Section("Scores", [table(head, rows, numbers=[1, 2]), note(" ".join(said))])


def _weights(model: Any) -> Section:
    title = "Heaviest weights"
    try:
        arrays = model.weights_
    except AttributeError as error:  # kernels and hashed features have no named weights; the error says so
        return Section(title, Element("p", f"{error}."))
    total = sum(int(np.count_nonzero(array.values[array.distinct])) for array in arrays.values())
    return Section(title, weights_table(top_weights(arrays, None, MOST_ROWS), total))


def _mistakes(findings: Findings, n_worst: int, explained: Callable[[int], Explanation | None]) -> Section:
    wrongness = np.asarray(findings.wrongness, dtype=float)
    wrong = np.flatnonzero(wrongness > 0)
    order = wrong[np.argsort(-wrongness[wrong], kind="stable")][:n_worst]
    unit = findings.unit
    if not len(order):
        said = (
            f"No {unit} has a mistake."
            if not len(wrong)
            else f"{counted(len(wrong), unit)} with mistakes; none is shown."
        )
        return Section("Worst mistakes", Element("p", said))
    worst = "the worst one is" if len(order) == 1 else f"the {len(order)} worst are"
    have = "has a mistake" if len(wrong) == 1 else "have a mistake"
    said = f"{len(wrong):,} of {counted(len(wrongness), unit)} {have}; {worst} shown, the worst first."
    drawn = [
        Element(
            "figure",
            Element("figcaption", f"{unit[0].upper()}{unit[1:]} {i}, counting from 0: {findings.said(i)}"),
            findings.drawn(i),
            _why(explained(i)),
        )
        for i in map(int, order)
    ]
    content = [note(said), findings.legend, Element("div", drawn, class_="figures")]
    return Section("Worst mistakes", content, wide=True)


def _why(found: Explanation | None) -> Element | None:
    """Return the contributions that made a wrong output better than the true one, or None."""
    if found is None or not found.contributions:
        return None
    largest = ", ".join(f"{each.name} ({each.contribution:+.3g})" for each in found.top(2))
    summary = f"Why this and not the truth: {short(largest, 200)}"
    return Element("details", Element("summary", Element("bdi", summary)), found.element())


def _settings(model: Any, seed: int) -> Section:
    usual = {name: each.default for name, each in signature(type(model)).parameters.items()}
    given = model.get_params(deep=False)
    own = {name: value for name, value in given.items() if repr(value) != repr(usual.get(name))}
    rows = {
        is_own: [
            [name, Element("code", short(repr(value), 300))]
            for name, value in sorted(given.items())
            if (name in own) == is_own
        ]
        for is_own in (True, False)
    }
    arguments = ", ".join(f"{name}={short(repr(value), 80)}" for name, value in own.items())
    versions = {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return Section(
        "Settings",
        [
            scrolling(Element("pre", f"{type(model).__name__}({arguments})")),
            note("The same data, parameters and versions give the same model."),
            table(["parameter", "value"], rows[True]) if own else note("All parameters are the default ones."),
            Element(
                "details",
                Element("summary", "Parameters that are the default ones"),
                table(["parameter", "value"], rows[False]),
            ),
            Element("h3", "Versions that made this page"),
            facts_list(versions),
        ],
    )


def _number(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else "–"
