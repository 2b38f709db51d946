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
    """Report precision, recall, F1 and the number of chunks of every type, and averages, counted as in `chunk_f1`.

    The "micro avg" is the result of `chunk_f1`.

    Parameters
    ----------
    true_tags, predicted_tags : sequence of lists of str
        The tags of all sentences.
    output_dict : bool
        If True, return a dict by type instead of text.
    digits : int
        The number of decimals in the text.

    Returns
    -------
    str or dict, in the form of scikit-learn's `classification_report`.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_report
    >>> chunk_report([["B-PER", "O"]], [["B-PER", "O"]], output_dict=True)["PER"]["f1-score"]
    1.0

    See Also
    --------
    label_report : the same for labels of positions.
    """
    true, found, right = Counter[str](), Counter[str](), Counter[str]()
    for tags, guesses in same_positions(true_tags, predicted_tags):
        mine, yours = set(chunks(tags)), set(chunks(guesses))
        for counts, which in ((true, mine), (found, yours), (right, mine & yours)):
            counts.update(kind for _, _, kind in which)
    return _report(sorted(true | found), true, found, right, output_dict, digits)


def label_report(
    truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]], *, output_dict: bool = False, digits: int = 2
) -> str | dict[str, ReportRow]:
    """Report precision, recall, F1 and the number of positions of every label, over the positions of all sequences.

    Positions whose true label is None or a set of several labels are left out.

    Parameters
    ----------
    truth, found : sequence
        The true and the predicted labels of all sequences.
    output_dict : bool
        If True, return a dict by label instead of text.
    digits : int
        The number of decimals in the text.

    Returns
    -------
    str or dict, in the form of `chunk_report`.

    Examples
    --------
    >>> from maxmargin.metrics import label_report
    >>> label_report([["N", "V"]], [["N", "N"]], output_dict=True)["N"]["precision"]
    0.5

    See Also
    --------
    label_confusion : the labels that are mistaken for each other.
    """
    true, predicted, right = Counter[Hashable](), Counter[Hashable](), Counter[Hashable]()
    for label, other in labelled_positions(truth, found):
        true[label] += 1
        predicted[other] += 1
        right[label] += label == other
    return _report(in_order(true | predicted), true, predicted, right, output_dict, digits)


def labelled_positions(
    truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]]
) -> Iterator[tuple[Hashable, Hashable]]:
    """Yield the true and the predicted label of every position whose true label is known."""
    plain = [y.labels if isinstance(y, Weighted) else y for y in truth]
    for labels, guesses in same_positions(plain, found):
        for label, other in zip(map(as_choice, labels), guesses, strict=True):
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
