"""explain: the contributions of named weights are the terms of the score, for every estimator."""

import html
import pickle
from functools import cache
from math import fsum

import numpy as np
import pandas as pd
import pytest
from base.files.fitted_models import MAKERS, trained_on
from estimators.problems import sequences
from example_tasks import Tags as TagsOfBags
from report.pages import LOADS, Tags
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import maxmargin as mm
from maxmargin import counting, kernels
from maxmargin.base.named_weights import numbered_weights
from maxmargin.problem.contract.examples import dot

KERNELS = [name for name in MAKERS if any(word in name for word in ("kernel", "precomputed", "map", "sketch"))]
KERNELS += ["counted_classes", "counted_labels"]
HASHED = ["dependencies_hashed"]  # without names
LINEAR = [name for name in MAKERS if name not in KERNELS and name not in HASHED]
OF_ROWS = ["measure", "measure_of_single_examples", "ranker", "ranker_latent"]
COUNTING = ["counted", "routes"]
OF_TASKS = [name for name in LINEAR if name not in OF_ROWS + COUNTING]


def inputs(name, n=3):
    """The model, and the first examples with their outputs in the form that `explain` takes."""
    model, X, Y, _ = trained_on(name)
    outputs = list(Y[:n])
    if name.startswith("costs"):  # given by costs: any decision is an output
        outputs = [np.zeros(len(np.atleast_1d(y))) for y in outputs]
    if name == "diversifier":  # given by subtopics
        outputs = [[2, 1, 0]] * n
    return model, [X[i] for i in range(n)], outputs


def close(a, b, contributions=()):
    size = 1e-300 + sum(abs(each.contribution) for each in contributions) + abs(a) + abs(b)
    return abs(a - b) <= 1e-12 * size


def score_by_psi(model, x, z=None):
    """The score of an output by the Ψ of the task."""
    X, x = model._one_input(x)
    z = model.task_.decode(model.w_, X)[0] if z is None else model._full_output(x, z)
    return dot(model.task_.psi(x, z), model.w_)


@pytest.mark.parametrize("name", OF_TASKS)
def test_contributions_sum_to_the_score_of_the_prediction(name):
    model, X, _ = inputs(name)
    for x in X:
        found = model.explain(x)
        assert close(found.total, score_by_psi(model, x), found.contributions)
        assert found.total == fsum(each.contribution for each in found.contributions)
        for each in found.contributions:
            assert each.contribution == each.weight * each.value != 0


SCORED = {
    "classes": lambda model, x: model.decision_function([x])[0].max(),
    "ordinal": lambda model, x: model.decision_function([x])[0].max(),
    "taxonomy": lambda model, x: model.decision_function([x])[0].max(),
    "measure": lambda model, x: abs(model.decision_function([x])[0]),
    "measure_of_single_examples": lambda model, x: abs(model.decision_function([x])[0]),
    "ranker": lambda model, x: model.predict([x])[0],
    "ranker_latent": lambda model, x: model.predict([x])[0],
    "counted": lambda model, x: model.decode([x])[0].value,
    "routes": lambda model, x: model.decode([x])[0].value,
    "homologs": lambda model, x: model.decision_function([x])[0].max(),
    "graph": lambda model, x: model.predict_bounds([x])[0].score,
    "graph_potts": lambda model, x: model.predict_bounds([x])[0].score,
    "graph_attractive": lambda model, x: model.predict_bounds([x])[0].score,
}
DECIDED = [name for name in LINEAR if name.startswith(("sequences", "segments", "parser", "pcfg", "aligner"))]
SCORED |= dict.fromkeys(DECIDED, lambda model, x: model.decision_function([x])[0])


@pytest.mark.parametrize("name", SCORED)
def test_they_sum_to_the_score_that_compiled_code_computes(name):
    model, X, _ = inputs(name)
    for x in X:
        found = model.explain(x)
        assert close(found.total, SCORED[name](model, x), found.contributions)


@pytest.mark.parametrize("name", OF_TASKS + COUNTING)
def test_why_not(name):
    """The terms of a difference sum to the difference, and what both outputs have in common cancels."""
    model, X, Y = inputs(name)
    for x, y in zip(X, Y, strict=True):
        best, other = model.explain(x), model.explain(x, y)
        found = model.explain(x, against=y)
        assert close(found.total, best.total - other.total, best.contributions + other.contributions)
        turned = model.explain(x, y, against=best.output)
        assert turned.total == -found.total
        assert sorted(each.contribution for each in turned.contributions) == sorted(
            -each.contribution for each in found.contributions
        )
        assert model.explain(x, y, against=y).contributions == []


@pytest.mark.parametrize("name", ["sequences_tokens", "sequences_memory", "segments", "parser_words", "dependencies"])
def test_differences_are_those_of_the_planes_of_training(name):
    model, X, Y = inputs(name)
    for x, y in zip(X, Y, strict=True):
        plane = model.task_.pack([x], [y]).planes(model.w_, augment=0.0)
        found = model.explain(x, y, against=model.explain(x).output)
        assert np.isclose(found.total, (plane.dpsi @ model.w_)[0], atol=1e-10)


@pytest.mark.parametrize("name", LINEAR)
def test_weights_have_the_names_of_weights_(name):
    model, X, _ = inputs(name)
    arrays = {} if name == "task_of_the_library" else model.weights_
    for each in model.explain(X[0]).contributions:
        if each.kind == "weights":  # a model without names, or a combination of named values
            assert name in ("graph_attractive", "own_task", "task_of_the_library")
            continue
        known = arrays[each.kind][each.names if len(each.names) > 1 else each.names[0]]
        assert known == each.weight
        words = [f"{axis}={one}" for axis, one in zip(arrays[each.kind].axes, each.names, strict=True)]
        assert each.name == f"{each.kind}: {', '.join(words)}"


@pytest.mark.parametrize("name", OF_TASKS)
def test_every_weight_is_found_by_its_number(name):
    model, _, _ = inputs(name)
    if name == "graph_attractive":
        return  # its tables are sums of several weights
    _, names = model._names_of_weights()
    arrays = numbered_weights(model, model.task_)
    for j in np.unique(np.linspace(0, model.task_.dim - 1, 200).astype(int)).tolist():
        kind, own, _, sign = names[j]
        assert arrays[kind][own if len(own) > 1 else own[0]] == sign * (j + 1)


@pytest.mark.parametrize("name", OF_TASKS)
def test_units_divide_the_score(name):
    model, X, _ = inputs(name)
    for x in X:
        found = model.explain(x)
        by_unit, by_weight = found.by_unit(), found.by_weight()
        assert close(fsum(each.total for each in by_unit), found.total, found.contributions)
        assert close(fsum(each.total for each in by_weight), found.total, found.contributions)
        assert len({each.name for each in by_unit}) == len(by_unit)
        for place in {each.place for each in found.contributions}:
            if isinstance(place, tuple):
                chosen = [each for each in found.contributions if each.place == place]
                assert model.explain(x, at=place).contributions == chosen


def test_parts_of_a_sequence():
    model, X, _ = inputs("sequences_tokens")
    found = model.explain(X[0])
    for t in range(len(X[0])):
        own = [e for e in found.contributions if t in (e.place if isinstance(e.place, tuple) else (e.place,))]
        assert model.explain(X[0], at=t).contributions == own
    first = model.explain(X[0], at=range(2)).contributions
    assert {each.place for each in first} == {0, 1, (0, 1), (1, 2)}
    assert model.explain(X[0], at=[0, 1]).contributions == first
    assert {each.kind for each in first} >= {"features", "start", "transitions"}


def test_some_labels_of_a_competitor():
    """Why not this label here? The competitor is the best sequence with that label."""
    X, Y = sequences(form="attributes")
    model = mm.SequenceLabeler(C=10).fit(X, Y)
    for x in X[:4]:
        best = model.predict([x])[0]
        for label in set(model.classes_) - {best[-1]}:
            found = model.explain(x, against={len(x) - 1: label})
            rivals = [z for z in model.task_.outputs(x) if z[-1] == label]
            rival = max(dot(model.task_.psi(x, z), model.w_) for z in rivals)
            assert found.against[-1] == label
            assert np.isclose(found.total, model.explain(x).total - rival)
            missing = [None] * (len(x) - 1)
            assert model.explain(x, against=[*missing, label]).contributions == found.contributions
            assert model.explain(x, against=[*missing, {label, best[-1]}]).against == best


def test_forbidden_and_unknown_labels():
    model, X, Y = inputs("sequences_tokens")
    n = len(X[0])
    with pytest.raises(ValueError, match="forbids transitions"):
        model.explain(X[0], ["I-LOC", *["O"] * (n - 1)])
    with pytest.raises(ValueError, match="'B-XYZ' is not one of the classes"):
        model.explain(X[0], against={0: "B-XYZ"})
    with pytest.raises(ValueError, match=f"{n + 1} labels for {n} positions"):
        model.explain(X[0], [*Y[0], "O"])
    with pytest.raises(ValueError, match=f"label for position {n}; expected positions from 0 to {n - 1}"):
        model.explain(X[0], against={n: "O"})
    with pytest.raises(ValueError, match="label for position -1"):
        model.explain(X[0], against={-1: "O"})


@pytest.mark.parametrize(
    ("name", "z", "message"),
    [
        ("classes", 17, "17 is not one of the classes"),
        ("ordinal", "unheard", "'unheard' is not one of the classes"),
        ("measure", 3, "3 is not one of the classes"),
        ("graph", [0, 1], "2 labels for 8 nodes"),
        ("graph", [7] * 8, "not one of the classes"),
        ("segments", [(0, 1, "XYZ")], "'XYZ' is not one of the classes"),
        ("segments", [(0, 100, "PER")], "100"),
        ("dependencies", [0], "heads"),
        ("parser", "(S (N Rex) (V barks))", "sentence 0"),
        ("assigner", [0, 1], "z"),
        ("clusterer", [0, 1], "z"),
        ("diversifier", [0, 0, 1], "different documents"),
        ("diversifier", [0, 99], "numbers from 0"),
        ("costs", [1.0], "expected \\(12,\\)"),
        ("motif", "neither", "not one of the classes"),
        ("homologs", 99, "candidates"),
        ("counted", (0, 0, 0, 0), "0"),
        ("routes", ["nowhere"], "nowhere"),
        ("aligner", [(100, 100)], "the output"),
    ],
)
def test_outputs_that_do_not_fit(name, z, message):
    model, X, _ = inputs(name)
    with pytest.raises(ValueError, match=message):
        model.explain(X[0], z)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_refused(name):
    model, X, _ = inputs(name)
    with pytest.raises(ValueError, match="with a kernel has no weights of features"):
        model.explain(X[0])


def test_hashed_features():
    model, X, _ = inputs("dependencies_hashed")
    with pytest.raises(ValueError, match="hash_bits has no names of weights"):
        model.explain(X[0])


@pytest.mark.parametrize("name", LINEAR)
def test_models_that_are_not_fitted(name):
    model, X, _ = inputs(name)
    with pytest.raises(NotFittedError):
        clone(model).explain(X[0])


def test_bad_arguments():
    model, X, _ = inputs("sequences_tokens")
    for n in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n must be a whole number >= 1"):
            model.explain(X[0], n=n)
    for at in ("0", 1.5, {"a": 1}, ["a"]):
        with pytest.raises(ValueError, match="expected the number of an element"):
            model.explain(X[0], at=at)
    for at in (len(X[0]), -1, (0, 5), [99], range(0)):
        with pytest.raises(ValueError, match=r"no part of the output is there; its parts are position 0"):
            model.explain(X[0], at=at)
    classes, rows, _ = inputs("classes")
    with pytest.raises(ValueError, match="has no parts; leave `at` out"):
        classes.explain(rows[0], at=0)
    with pytest.raises(ValueError, match=r"x has shape \(3, 8\); expected one example"):
        classes.explain(np.array(rows))


def test_rows_of_tables_keep_their_names():
    table = pd.DataFrame({"height": [1.0, 2.0, 3.0, 4.0], "width": [0.5, 0.1, 0.2, 0.9]})
    model = mm.MulticlassSVC().fit(table, ["a", "a", "b", "b"])
    found = model.explain(table.iloc[0])
    assert {each.names[0] for each in found.contributions if each.kind == "features"} <= {"height", "width"}
    assert found.contributions == model.explain(table.iloc[:1]).contributions


def test_two_rows_of_a_ranking():
    model, X, _ = inputs("ranker")
    found = model.explain(X[0], against=X[1])
    scores = model.predict(np.array(X[:2]))
    assert np.isclose(found.total, scores[0] - scores[1])
    assert {each.names for each in found.contributions} <= {(j,) for j in range(X[0].shape[0])}


def test_the_other_class_of_a_measure():
    model, X, _ = inputs("measure")
    for x in X:
        own, other = model.predict([x])[0], next(k for k in model.classes_ if k != model.predict([x])[0])
        assert model.explain(x).output == own
        assert model.explain(x, other).total == -model.explain(x).total <= 0


@pytest.mark.parametrize(
    "model",
    [
        mm.CountingClassifier(kernel="linear"),
        mm.CountingClassifier(kernel="linear", fit_intercept=False),
        mm.CountingPredictor(counting.Classes(["a", "b", "c"]), fit_intercept=True),
    ],
    ids=str,
)
def test_counting(model):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 4)), np.repeat(["a", "b", "c"], 10)
    model.fit(X, Y.tolist())
    coef, intercept = model.coef_, np.broadcast_to(model.intercept_, 3)
    for x in X[:3]:
        scores = coef @ x + intercept
        for k, label in enumerate("abc"):
            assert np.isclose(model.explain(x, label).total, scores[k])


def test_counted_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    Y = (X[:, :3] + 0.1 * rng.standard_normal((30, 3)) > 0).astype(int)
    model = mm.CountingMultilabel(kernel="linear").fit(X, Y)
    found = model.explain(X[0], [1, 0, 1])
    assert np.isclose(found.total, model.decision_function(X[:1])[0, [0, 2]].sum())
    assert {each.names[-1] for each in found.contributions} == {0, 2}
    with pytest.raises(ValueError, match="2 labels; expected 3"):
        model.explain(X[0], [1, 0])


def test_motifs_of_both_classes():
    model, X, _ = inputs("motif")
    classes = model.classes_.tolist()
    gains = model.decision_function(X)
    for x, gain in zip(X, gains, strict=True):
        found = model.explain(x, classes[1], against=classes[0])
        assert np.isclose(found.total, gain)


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("name", ["sequences", "classes", "graph", "ranker", "assigner"])
def test_scales(name, scale):
    """Weights and features of any size: the same terms, scaled."""
    model, X, _ = inputs(name)
    other = pickle.loads(pickle.dumps(model))
    other.w_ = model.w_ * scale
    x = X[0]
    for before, after in zip(model.explain(x).contributions, other.explain(x).contributions, strict=True):
        assert (before.name, before.unit) == (after.name, after.unit)
        assert np.isclose(after.contribution, scale * before.contribution, rtol=1e-12)
    scaled = model.explain(x, *([] if name == "ranker" else [model.explain(x).output]))
    assert np.isclose(other.explain(x).total, scale * scaled.total, rtol=1e-9, atol=1e-12 * scale)


def test_ties_are_in_the_order_of_the_output():
    model, X, _ = inputs("sequences_tokens")
    other = pickle.loads(pickle.dumps(model))
    other.w_ = np.ones_like(model.w_)
    found = other.explain(X[0], model.predict(X[:1])[0])
    starts = [each.place if isinstance(each.place, int) else 100 + each.place[0] for each in found.contributions]
    assert starts == sorted(starts)
    assert found.total == len(found.contributions)


def test_a_model_that_knows_nothing():
    model, X, _ = inputs("sequences_tokens")
    other = pickle.loads(pickle.dumps(model))
    other.w_ = np.zeros_like(model.w_)
    found = other.explain(X[0])
    assert (found.contributions, found.total, found.by_unit()) == ([], 0.0, [])
    assert str(found).endswith("= 0")
    assert checked_page(found)


def test_new_weights_have_new_names():
    X, Y = [[["a"], ["b"]], [["b"], ["c"]]], [["A", "B"], ["B", "C"]]
    model = mm.SequenceLabeler().fit(X, Y)
    assert any("feature=a" in each.name for each in model.explain(X[0]).contributions)
    renamed = [[["q" + token for token in tokens] for tokens in x] for x in X]
    model.fit(renamed, Y)
    assert any("feature=qa" in each.name for each in model.explain(renamed[0]).contributions)


def test_text_and_table_say_the_same():
    model, X, _ = inputs("sequences_tokens")
    found = model.explain(X[0], n=3)
    lines = str(found).splitlines()
    assert len(lines) == 1 + 3 + 1
    assert f"{len(found.contributions) - 3} other contributions" in lines[-1]
    page = checked_page(found)
    for row in found.top():
        assert row.name in page
        assert f"{row.contribution:+.3f}" in page
    assert len(found.top(5)) == 5
    assert repr(found) == f"<Explanation: {len(found.contributions)} contributions, total {found.total:.4g}>"


def checked_page(found):
    """The words of the table that a notebook shows."""
    frame = found._repr_html_()
    assert frame.startswith("<iframe ")
    assert ' sandbox=""' in frame
    page = html.unescape(frame.split('srcdoc="')[1].split('"')[0])
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    assert "script" not in tags.tags
    assert not LOADS.search(page)
    return " ".join(tags.texts)


HOSTILE = [
    "<script>alert(1)</script>",
    '"></iframe><img src=x onerror=alert(1)>',
    "\u202eevil",
    "a\x00b",
    "&lt;",
    "{x}",
]


def test_hostile_names_are_text():
    X = [[[word] for word in HOSTILE]]
    model = mm.SequenceLabeler().fit(X, [[f"<b>{k % 2}</b>" for k in range(len(HOSTILE))]])
    found = model.explain(X[0], n=100)
    page = found._repr_html_()
    for text in ("<script", "<img", "<b>", "\u202e", "\x00"):
        assert text not in page
        assert text not in html.unescape(page).replace("&lt;", "")
    assert page.count("<iframe") == page.count("</iframe>") == 1
    for text in ("\u202e", "\x00"):
        assert text not in str(found)
    assert {each.names[0] for each in found.contributions if each.kind == "features"} == set(HOSTILE)


def test_explanations_are_small_data():
    model, X, _ = inputs("sequences_tokens")
    found = model.explain(X[0])
    kept = pickle.loads(pickle.dumps(found))
    assert kept.contributions == found.contributions
    assert str(kept) == str(found)
    frame = pd.DataFrame(found.contributions)
    assert list(frame.columns) == ["unit", "place", "kind", "names", "name", "value", "weight", "contribution"]
    assert np.isclose(frame["contribution"].sum(), found.total)


def test_tasks_of_users():
    X, Y = [[0, 1, 1], [2, 3], [0, 0, 2]], ["A", "B", "A"]
    model = mm.StructuredSVM(TagsOfBags()).fit(X, Y)
    found = model.explain(X[0])
    assert close(found.total, score_by_psi(model, X[0]), found.contributions)
    assert {each.unit for each in found.contributions} == {"output"}


@cache
def tuned():
    _, X, Y, _ = trained_on("classes")
    return mm.Tuned(mm.MulticlassSVC(), Cs=[1, 10], cv=3).fit(X, Y), X


def test_tuned_models_explain():
    model, X = tuned()
    assert model.explain(X[0]).total == model.best_estimator_.explain(X[0]).total


def test_kernel_maps_are_no_features():
    X, Y = sequences()
    model = mm.SequenceLabeler(kernel=kernels.KernelMap(n_components=5), max_passes=2, tol=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="with a kernel"):
        model.explain(X[0])


@pytest.mark.parametrize(("scale", "shown"), [(1, "+.3f"), (1e-3, "+.6f"), (1e4, "+.0f"), (1e8, "+.3e")])
def test_numbers_are_written_with_four_digits_of_the_largest(scale, shown):
    model, X, _ = inputs("sequences_tokens")
    other = pickle.loads(pickle.dumps(model))
    other.w_ = model.w_ * scale
    found = other.explain(X[0])
    lines = str(found).splitlines()
    assert 1 <= found.contributions[0].contribution / scale < 10  # otherwise other decimal places are right
    assert lines[1].split()[0] == format(found.contributions[0].contribution, shown)
    places = [line.split()[0].partition(".")[2] for line in lines[1:]]
    assert len(set(map(len, places))) == 1


def test_worst_mistakes():
    model, X, Y, _ = trained_on("sequences_tokens")
    wrong = [[label.replace("PER", "LOC") for label in y] for y in Y]
    found = model.explain_mistakes(X, wrong, n=2)
    mistakes = [
        sum(a != b for a, b in zip(model.predict([x])[0], y, strict=True)) for x, y in zip(X, wrong, strict=True)
    ]
    assert [mistakes[i] for i, _ in found] == sorted(mistakes, reverse=True)[:2]
    for i, each in found:
        assert each.contributions == model.explain(X[i], against=wrong[i]).contributions
        assert each.total > 0
    assert model.explain_mistakes(X, model.predict(X)) == []
    assert model.explain_mistakes(X, [["B-NEW"] * len(y) for y in Y]) == []
    kernel, X, Y, _ = trained_on("classes_kernel")
    with pytest.raises(ValueError, match="with a kernel"):
        kernel.explain_mistakes(X, Y)


def test_threads_share_an_explanation():
    found = mm.SequenceLabeler().fit([[["a"], ["b"]]], [["A", "B"]]).explain([["a"], ["b"]])
    expected = pickle.loads(pickle.dumps(found)).contributions

    class Interrupted:
        """Terms of which another thread asks for two, while the first of all is named."""

        def __init__(self, terms):
            self.terms, self.products, self.first = terms, terms.products, True

        def contribution(self, e):
            if self.first:
                self.first = False
                assert found.top(2) == expected[:2]
            return self.terms.contribution(e)

    found._terms, found._contributions = Interrupted(found._terms), []
    assert found.contributions == expected
    assert found.top(2) == expected[:2]


def test_a_number_of_contributions_is_whole():
    found = mm.SequenceLabeler().fit([[["a"], ["b"]]], [["A", "B"]]).explain([["a"], ["b"]])
    assert found.contributions
    assert found.top(0) == []
    for wrong in (-1, 1.5):
        with pytest.raises(ValueError, match="n must be a whole number >= 0"):
            found.top(wrong)
