"""Reports of label sequences: precision, recall and F1 of every class, as text or as a dict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from maxmargin.inputs.labels.labels import in_order
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.structures.sequences.measures import chunks, ratios, same_positions
from maxmargin.structures.sequences.partial_labels import as_choice, is_partial

ReportRow = dict[str, float]
COLUMNS = ("precision", "recall", "f1-score", "support")


def chunk_report(
    true_tags: Sequence[Sequence[str]],
    predicted_tags: Sequence[Sequence[str]],
    *,
    output_dict: bool = False,
    digits: int = 2,
) -> str | dict[str, ReportRow]:
    """Precision, recall, F1 and number of chunks of every type, and their averages; chunks as `chunk_f1` counts them.

    The "micro avg" is what `chunk_f1` returns. Text, or with `output_dict` a dict by type, in the form of
    scikit-learn's `classification_report`.
    """
    true, found, right = Counter[str](), Counter[str](), Counter[str]()
    for here, there in same_positions(true_tags, predicted_tags):
        mine, yours = set(chunks(here)), set(chunks(there))
        for counts, which in ((true, mine), (found, yours), (right, mine & yours)):
            counts.update(kind for _, _, kind in which)
    return _report(sorted(true | found), true, found, right, output_dict, digits)


def label_report(
    truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]], *, output_dict: bool = False, digits: int = 2
) -> str | dict[str, ReportRow]:
    """Precision, recall, F1 and number of positions of every label, over the positions of all sequences.

    A position with None, or with a set of several labels, is left out. The form is that of `chunk_report`.
    """
    true, predicted, right = Counter[Hashable](), Counter[Hashable](), Counter[Hashable]()
    for label, other in judged_positions(truth, found):
        true[label] += 1
        predicted[other] += 1
        right[label] += label == other
    return _report(in_order(true | predicted), true, predicted, right, output_dict, digits)


def judged_positions(
    truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]]
) -> Iterator[tuple[Hashable, Hashable]]:
    """True and predicted label of every position whose true label is known."""
    plain = [y.labels if isinstance(y, Weighted) else y for y in truth]
    for here, there in same_positions(plain, found):
        for label, other in zip(map(as_choice, here), there, strict=True):
            if label is not None and not is_partial(label):
                yield label, other


def _report(
    kinds: Iterable[Hashable], true: Counter[Any], found: Counter[Any], right: Counter[Any], as_dict: bool, digits: int
) -> str | dict[str, ReportRow]:
    kinds = list(kinds)
    name_of = str if len(set(map(str, kinds))) == len(kinds) else repr  # 1 and "1" are two labels
    rows = {name_of(kind): _row(right[kind], found[kind], true[kind]) for kind in kinds}
    each, total = list(rows.values()), sum(true.values())
    averages = {"micro avg": _row(sum(right.values()), sum(found.values()), total)}
    for name, weights in (("macro avg", [1.0] * len(each)), ("weighted avg", [row["support"] for row in each])):
        whole = sum(weights) or 1.0
        means = {
            column: sum(w * row[column] for w, row in zip(weights, each, strict=True)) / whole for column in COLUMNS[:3]
        }
        averages[name] = {**means, "support": total}
    report = rows | averages
    if as_dict:
        return report
    width = max(map(len, report))
    lines = [" " * width + "".join(f" {column:>10}" for column in COLUMNS), ""]
    for name, row in report.items():
        if name == "micro avg":
            lines.append("")
        shares = "".join(f" {row[column]:>10.{digits}f}" for column in COLUMNS[:3])
        lines.append(f"{name:>{width}}{shares} {row['support']:>10}")
    return "\n".join(lines) + "\n"


def _row(right: int, found: int, true: int) -> ReportRow:
    return dict(zip(COLUMNS, (*ratios(right, found, true), true), strict=True))
