"""Entity scores: equal to the figures of nervaluate and seqeval, and to definitions that are written out here."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.sequences.entity_figures import COUNTS, PATH, nervaluate_figures, seqeval_figures

from maxmargin.metrics import EntityF1, Scorer, chunk_f1, chunk_report, entity_report

CASES = json.loads(PATH.read_text(encoding="utf-8"))
LABELS = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def numbers(score):
    return [*score.counts, score.precision.value, score.recall.value, score.f1.value]


def averages(score):
    return [score.precision.value, score.recall.value, score.f1.value]


def check_nervaluate(truth, found, figures, **options):
    report = entity_report(truth, found, **options)
    for match, rows in figures.items():
        assert numbers(report.micro[match]) == pytest.approx(rows[""])
        assert set(report.types[match]) == set(rows) - {""}
        for kind, score in report.types[match].items():
            assert numbers(score) == pytest.approx(rows[kind]), (match, kind, COUNTS)


def check_seqeval(truth, found, figures, scheme=None):
    report = entity_report(truth, found, matches=["strict"], scheme=scheme)
    for kind, score in report.types["strict"].items():
        assert [*averages(score), score.counts.true] == pytest.approx(figures[kind])
    assert averages(report.micro["strict"]) == pytest.approx(figures["micro avg"][:3])
    assert averages(report.macro["strict"]) == pytest.approx(figures["macro avg"][:3])
    assert set(figures) - {"micro avg", "macro avg", "weighted avg"} == set(report.types["strict"])


def test_recorded_figures_of_nervaluate():
    for case in CASES:
        if "nervaluate" in case:
            check_nervaluate(case["truth"], case["found"], case["nervaluate"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["scheme"])
def test_recorded_figures_of_seqeval(case):
    check_seqeval(case["truth"], case["found"], case["strict"], case["scheme"])
    if "lenient" in case:
        check_seqeval(case["truth"], case["found"], case["lenient"])


@st.composite
def labelled(draw, labels=tuple(LABELS)):
    n = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    return [[draw(st.lists(st.sampled_from(labels), min_size=k, max_size=k)) for k in n] for _ in range(2)]


@given(labelled())
def test_real_nervaluate(both):
    pytest.importorskip("nervaluate")
    truth, found = both
    if any(label != "O" for y in truth + found for label in y):
        check_nervaluate(truth, found, nervaluate_figures(truth, found))


@given(labelled(("O", "B-PER", "I-PER", "E-PER", "S-PER", "I-LOC", "E-LOC")), st.booleans())
def test_real_seqeval(both, strict):
    pytest.importorskip("seqeval")
    truth, found = both
    scheme = "IOBES" if strict else None
    report = entity_report(truth, found, scheme=scheme)
    if report.types["strict"]:
        check_seqeval(truth, found, seqeval_figures(truth, found, scheme), scheme)


@given(labelled())
def test_strict_scores_are_those_of_chunk_report(both):
    truth, found = both
    report = entity_report(truth, found)
    assert averages(report.micro["strict"]) == pytest.approx(list(chunk_f1(truth, found)))
    other = chunk_report(truth, found, output_dict=True)
    if report.types["strict"]:
        assert averages(report.macro["strict"]) == pytest.approx(list(other["macro avg"].values())[:3])


def spans_of(labels):
    """Return the chunks of BIO labels, independently of the package."""
    bounds = [t for t, (a, b) in enumerate(pairwise(["O", *labels, "O"])) if b[0] in "BO" or a == "O" or a[1:] != b[1:]]
    return [(a, b, labels[a][2:]) for a, b in pairwise(bounds) if labels[a] != "O"]


@given(labelled())
def test_spans_and_labels_give_the_same_report(both):
    spans = [[list(reversed(spans_of(y))) for y in each] for each in both]
    for mine, yours in zip(entity_report(*both).rows(), entity_report(*spans).rows(), strict=True):
        np.testing.assert_equal(mine, yours)


def test_each_kind_of_match_by_hand():
    truth = [[(0, 10, "PER"), (20, 30, "LOC"), (40, 50, "ORG"), (60, 70, "ORG")]]
    # Equal; wrong bounds; wrong type; spurious; and one true entity is missed.
    found = [[(0, 10, "PER", 0.9), (20, 25, "LOC", 0.9), (40, 50, "PER", 0.5), (80, 90, "LOC", 0.1)]]
    micro = entity_report(truth, found).micro
    assert micro["strict"].counts == (1, 2, 0, 1, 1)
    assert micro["exact"].counts == (2, 1, 0, 1, 1)
    assert micro["partial"].counts == (2, 0, 1, 1, 1)
    assert micro["type"].counts == (2, 1, 0, 1, 1)
    assert micro["partial"].f1.value == pytest.approx(2.5 / 4)
    assert (micro["type"].counts.true, micro["type"].counts.found) == (4, 4)


def test_a_prediction_must_cover_the_given_share():
    truth, found = [[(0, 200, "A")]], [[(199, 210, "A")]]
    assert entity_report(truth, found).micro["type"].counts == (0, 0, 0, 1, 1)
    assert entity_report(truth, found, min_overlap=0.005).micro["type"].counts == (1, 0, 0, 0, 0)
    for share in (0, 1.5, "all", float("nan")):
        with pytest.raises(ValueError, match="min_overlap is"):
            entity_report(truth, found, min_overlap=share)


def test_intervals_resample_documents():
    rng = np.random.default_rng(3)
    truth = [["B-A", "O"]] * 60
    found = [["B-A", "O"] if rng.random() < 0.7 else ["O", "B-A"] for _ in truth]
    one = entity_report(truth, found).micro["strict"].f1
    assert one.low < one.value < one.high
    assert entity_report(truth, found).micro["strict"].f1 == one  # the same seed
    assert entity_report(truth, found, seed=1).micro["strict"].f1 != one
    # The interval of a share of right documents is that of the binomial distribution, nearly.
    half = 1.96 * np.sqrt(one.value * (1 - one.value) / len(truth))
    assert (one.high - one.low) / 2 == pytest.approx(half, rel=0.15)
    # Documents of sentences with the same fate vary more than single sentences do.
    grouped = entity_report(np.repeat(truth, 4, axis=0).tolist(), np.repeat(found, 4, axis=0).tolist(),
                            documents=np.repeat(np.arange(60), 4))  # fmt: skip
    assert grouped.documents == 60
    assert grouped.micro["strict"].f1 == one


def test_one_document_has_no_interval():
    score = entity_report([["B-A"]], [["B-A"]]).micro["strict"]
    assert (score.f1.value, score.f1.draws) == (1.0, 0)
    assert np.isnan(score.f1.low)


def test_no_entities_are_zero():
    for empty in ([], [["O"]], [[]]):
        report = entity_report(empty, empty)
        assert averages(report.micro["strict"]) == averages(report.macro["type"]) == [0.0, 0.0, 0.0]
        assert "micro avg" in str(report)


def test_the_table_and_the_rows_have_the_same_numbers():
    report = entity_report([["B-PER", "I-PER"], ["B-LOC", "O"]], [["B-PER", "O"], ["B-LOC", "O"]], matches=["partial"])
    lines = str(report).splitlines()
    assert lines[0].split()[:3] == ["partial", "correct", "incorrect"]
    assert [line.split()[0] for line in lines[1:]] == ["LOC", "PER", "micro", "macro"]
    rows = report.rows()
    assert [row["type"] for row in rows] == ["LOC", "PER", "micro avg", "macro avg"]
    assert (rows[2]["f1"], rows[2]["partial"], rows[3]["partial"]) == (0.75, 1, None)
    assert "0.750" in lines[3]


def test_entity_f1_is_a_measure():
    case = CASES[0]
    for match in ("strict", "exact", "partial", "type"):
        value = EntityF1(match)(case["truth"], case["found"])
        assert value == entity_report(case["truth"], case["found"]).micro[match].f1.value
    assert "EntityF1(match='type'" in repr(Scorer(EntityF1("type")))
    assert EntityF1()([["O"]], [["O"]]) == 0.0


@pytest.mark.parametrize(
    ("truth", "found", "options", "message"),
    [
        ([["O"]], [], {}, "1 true but 0 predicted"),
        ([["O", "O"]], [["O"]], {}, "Sequence 0 has 2 true but 1 predicted"),
        ([["O"], ["PER"]], [["O"], ["O"]], {}, "Document 1, true label 0 is 'PER'; expected 'O' or one of 'B-…'"),
        ([["O"]], [["S-PER"]], {"scheme": "BIO"}, "Document 0, predicted label 0 is 'S-PER'"),
        ([[(0, 1, "A")]], [["B-A"]], {}, "Some predicted documents have labels, some true documents have spans"),
        ([[(0, 1, "A")]], [[], []], {}, "1 true but 2 predicted documents"),
        ([[(0, 1, "A")]], [[(3, 3, "A")]], {}, r"Document 0, predicted span 0 is \(3, 3, 'A'\); expected \(start"),
        ([[(0, 1, "A")]], [[(0.0, 1.0, "A")]], {}, "Document 0, predicted span 0"),
        ([[(0, 1, "A")]], [[(0, 1)]], {}, "Document 0, predicted span 0"),
        ([[(0, 1, "A")]], [[(0, 1, "A")]], {"scheme": "BIO"}, "there are spans and no labels"),
        ([["O"]], [["O"]], {"scheme": "BOI"}, "'BOI' is not a chunk scheme"),
        ([["O"]], [["O"]], {"matches": ["fuzzy"]}, "match is 'fuzzy'"),
        ([["O"]], [["O"]], {"documents": [1, 2]}, "documents has 2 entries for 1 examples"),
    ],
)
def test_bad_input(truth, found, options, message):
    with pytest.raises(ValueError, match=message):
        entity_report(truth, found, **options)


def test_no_kind_of_match():
    with pytest.raises(ValueError, match="matches is empty; expected some of 'strict'"):
        entity_report([["B-A"]], [["B-A"]], matches=[])
