"""Figures of the packages nervaluate and seqeval for random labels, recorded in entity_figures.json.

`python tests/structures/sequences/entity_figures.py` writes the file anew; it needs both packages.
"""

import json
import random
from pathlib import Path

PATH = Path(__file__).with_suffix(".json")
NAMES = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")


def nervaluate_figures(truth, found):
    """Return nervaluate's numbers by match and type; "" is all types together."""
    from nervaluate.evaluator import Evaluator

    kinds = sorted({label[2:] for y in (*truth, *found) for label in y if label != "O"})
    result = Evaluator(truth, found, tags=kinds, loader="list").evaluate()
    figures = {}
    for match, name in NAMES.items():
        rows = {"": result["overall"][name], **{kind: each[name] for kind, each in result["entities"].items()}}
        figures[match] = {kind: [getattr(row, part) for part in COUNTS] for kind, row in sorted(rows.items())}
    return figures


def seqeval_figures(truth, found, scheme=None):
    """Return seqeval's rows of precision, recall, F1 and support; the strict mode with a scheme."""
    import seqeval.scheme
    from seqeval.metrics import classification_report

    options = {}
    if scheme is not None:
        options = {"mode": "strict", "scheme": getattr(seqeval.scheme, {"BIO": "IOB2"}.get(scheme, scheme))}
    report = classification_report(truth, found, output_dict=True, zero_division=0, **options)
    return {name: [float(row[part]) for part in ("precision", "recall", "f1-score", "support")]
            for name, row in report.items()}  # fmt: skip


def random_labels(rng, n, letters, kinds):
    """Return labels that follow no scheme, in runs that make long and broken chunks."""
    labels = ["O"]
    while len(labels) < n:
        if rng.random() < 0.35 or labels[-1] == "O":
            labels.append(rng.choice(["O", *(f"{letter}-{kind}" for letter in letters for kind in kinds)]))
        else:
            labels.append(f"{rng.choice(letters[1:])}{labels[-1][1:]}")
    return labels[:n]


def main():
    rng = random.Random(7)
    cases = []
    for letters, scheme in (("BI", "BIO"), ("BIES", "IOBES"), ("BILU", "BILOU")):
        truth, found = [], []
        for _ in range(40):
            y = random_labels(rng, rng.randint(1, 14), letters, ("PER", "LOC", "creative-work"))
            other = random_labels(rng, len(y), letters, ("PER", "LOC", "ORG"))
            truth.append(y)
            found.append([b if rng.random() < 0.3 else a for a, b in zip(y, other, strict=True)])
        case = {"truth": truth, "found": found, "scheme": scheme, "strict": seqeval_figures(truth, found, scheme)}
        if scheme != "BILOU":  # seqeval's default mode does not know L and U
            case["lenient"] = seqeval_figures(truth, found)
        if scheme == "BIO":  # other letters do not begin or end chunks for nervaluate
            case["nervaluate"] = nervaluate_figures(truth, found)
        cases.append(case)
    PATH.write_text(json.dumps(cases) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
