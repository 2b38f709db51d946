"""Pages about a model of every kind that there is."""

import re
import warnings

import numpy as np
import pytest
from base.files.fitted_models import MAKERS, trained_on
from report.pages import checked
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin as mm
from maxmargin.report.html import Element
from maxmargin.report.reported import Reported

ALWAYS = ["What this is", "Certificate", "Scores", "Worst mistakes", "Heaviest weights", "Settings"]


def reported(name, **options):
    model, X, Y, given = trained_on(name)
    return model.report(X, Y, **given, **options)


def test_all_estimators_are_here():
    public = [getattr(mm, name) for name in mm.__all__ if isinstance(getattr(mm, name), type)]
    estimators = {each for each in public if issubclass(each, BaseEstimator) and not issubclass(each, mm.Task)}
    tried = {type(trained_on(name)[0]) for name in MAKERS} | {mm.Tuned}
    assert tried == estimators, f"add a small model to tests/base/files/fitted_models.py: {estimators - tried}"
    for each in estimators - {mm.Tuned}:
        assert each._findings is not Reported._findings


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MAKERS)
def test_pages_are_whole_and_alone(name):
    page = reported(name)
    tags = checked(page.html)
    assert [heading for heading in tags.headings if heading in ALWAYS] == [
        "What this is",
        "Certificate",
        "Scores",
        "Worst mistakes",
        "Heaviest weights",
        "Settings",
    ]
    assert len(page.html) < 300_000
    assert page.html == reported(name).html
    assert len(set(re.findall(r'id="(\w+)"', page.html))) == len(tags.headings)
    assert "nan" not in " ".join(tags.texts).lower().split()
    assert checked_card(trained_on(name)[0])


def checked_card(model):
    card = model._repr_html_()
    assert card.startswith('<div class="maxmargin-card">')
    return type(model).__name__ in card


@pytest.mark.parametrize("name", MAKERS)
def test_the_score_is_among_the_measures(name):
    model, X, Y, given = trained_on(name)
    score = model.score(X, Y, **given)
    found = [abs(each.value) for each in reported(name).scores.values()]
    assert any(np.isclose(abs(score), [value, 1 - value]).any() for value in found), (score, found)


@pytest.mark.parametrize("name", MAKERS)
def test_all_examples_can_be_drawn(name):
    """Right or wrong: those of the training data are mostly right, and would not be looked at."""
    model, X, Y, given = trained_on(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        findings = model._findings(X, Y, **given)
    n = len(findings.wrongness)
    assert n > 0
    assert np.isfinite(findings.wrongness).all()
    assert (findings.wrongness >= 0).all()
    for i in range(n):
        assert findings.said(i)
        assert "<" in str(Element("div", findings.drawn(i)))
    for measure in findings.measures:
        assert measure.n == n


def test_choices_are_told():
    _, X, Y, _ = trained_on("classes")
    tuned = mm.Tuned(mm.MulticlassSVC(), Cs=[0.1, 1, 10], cv=3).fit(X, Y)
    page = tuned.report(X, Y, title="chosen")
    assert "How C was chosen" in checked(page.html).headings
    assert page.title == "chosen"
    assert "How C was chosen" not in tuned.best_estimator_.report(X, Y).html
    assert tuned._repr_html_().startswith('<div class="maxmargin-card"><p><strong>MulticlassSVC')
    assert "maxmargin-card" not in mm.Tuned(mm.MulticlassSVC())._repr_html_()


def test_choices_for_pipelines_are_told():
    _, X, Y, _ = trained_on("classes")
    tuned = mm.Tuned(make_pipeline(StandardScaler(), mm.MulticlassSVC()), Cs=[1, 10], cv=3).fit(X, Y)
    page = tuned.report(X, Y)
    assert "How C was chosen" in checked(page.html).headings
    assert page.scores["right classes"].value == tuned.score(X, Y)
    assert tuned._repr_html_().startswith('<div class="maxmargin-card"><p><strong>MulticlassSVC')


def test_a_model_without_training():
    matrix = mm.formats.SubstitutionMatrix("AC", [[1, -1], [-1, 1]], gap_open=2, gap_extend=1)
    aligner = mm.Aligner.from_matrix(matrix)
    page = aligner.report([("ACCA", "ACA")], [[(0, 0), (1, 1), (3, 2)]])
    assert "This model was made without training." in " ".join(checked(page.html).texts)


def test_pages_of_mistakes():
    """Truths of other examples, so that nearly everything is wrong."""
    model, X, Y, _ = trained_on("sequences_tokens")
    wrong = [[label.replace("PER", "LOC") for label in y] for y in Y]
    page = model.report(X, wrong, n_worst=3)
    tags = checked(page.html)
    assert tags.tags.count("figure") == 3
    assert "2 of" in page.html
    assert "B-PER" in tags.texts
    assert tags.tags.count("figure") == checked(model.report(X, wrong, n_worst=3, seed=5).html).tags.count("figure")
    assert checked(model.report(X, wrong, n_worst=0).html).tags.count("figure") == 0


def test_facts_and_dates_are_shown():
    model, X, Y, _ = trained_on("classes")
    page = model.report(X, Y, facts={"data": "a <b> & c"}, date="1 May")
    assert "a <b> & c" in checked(page.html).texts
    assert "1 May" in checked(page.html).texts
    assert "1 May" not in model.report(X, Y).html


@pytest.mark.parametrize(("name", "short"), [("classes", "rows"), ("sequences", "sequences"), ("graph", "graphs")])
def test_other_lengths_are_refused(name, short):
    model, X, Y, given = trained_on(name)
    with pytest.raises(ValueError, match=f"{short}"):
        model.report(X, Y[:-1], **given)


def test_pages_are_saved_and_shown_in_notebooks(tmp_path):
    page = reported("classes")
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == page.html.encode()
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert 'sandbox="allow-scripts"' in frame
    assert "save" in repr(page)


def test_estimators_that_are_not_fitted_show_their_parameters_alone():
    html = mm.MulticlassSVC(C=3)._repr_html_()
    assert "maxmargin-card" not in html
    assert "MulticlassSVC" in html
    with pytest.raises(Exception, match="not fitted"):
        mm.MulticlassSVC().report([[1.0]], [0])


@pytest.mark.parametrize(("name", "n"), [("classes", 90), ("measure", 150), ("sequences", 16), ("graph", 6)])
def test_models_know_on_how_much_they_were_trained(name, n):
    model, *_ = trained_on(name)
    assert model.n_examples_ == n
    assert f"trained on {n} examples" in model._repr_html_()


def test_rankers_are_trained_on_queries():
    model, _, _, given = trained_on("ranker")
    assert model.n_examples_ == len(set(given["qid"].tolist()))


def test_the_first_sentence_and_the_notice():
    """They say what was predicted rightly, how sure that is, and that these are training data."""
    model, X, Y, _ = trained_on("classes")
    page, wrong = model.report(X, Y), int(np.sum(model.predict(X) != Y))
    share = page.scores["right classes"]
    expected = f"This model predicts {len(Y) - wrong} of {len(Y)} rows without a mistake." if wrong else "predicts all"
    assert expected in page.html
    assert f"with a 95% interval from {share.low:.4g} to {share.high:.4g}." in page.html
    assert page.notice.startswith("These are the data that the model was trained on")
    assert model.report(X + 0.001, Y).notice == ""


def test_few_sequences_have_no_interval():
    model, X, Y, _ = trained_on("sequences_tokens")
    page = model.report(X[:5], Y[:5])
    assert page.scores["F1 of chunks"].why_not == "too few examples"
    assert "there are too few examples for an interval" in page.html
    assert "At least 5 of these examples were used to train the model" in page.notice


@pytest.mark.parametrize("name", MAKERS)
def test_training_data_are_recognised(name):
    model, X, Y, _ = trained_on(name)
    assert model.training_sketch_.notice(X, Y).startswith("These are the data that the model was trained on")


def test_the_chart_shows_the_gap():
    html = reported("classes").html
    assert "relative duality gap during training, on a logarithmic scale" in html
    assert "objective and lower bound during training" in reported("classes_online").html  # which has no bound


def test_mistakes_are_explained():
    """The table says by which weights the wrong output is better than the true one."""
    model, X, Y, _ = trained_on("sequences_tokens")
    wrong = [[label.replace("PER", "LOC") for label in y] for y in Y]
    page = model.report(X, wrong, n_worst=2)
    worst = [i for i, (y, z) in enumerate(zip(Y, wrong, strict=True)) if y != z]
    texts = " ".join(checked(page.html).texts)
    assert texts.count("Why this and not the truth: ") == 2
    shown = [i for i in worst if f"Sentence {i}, counting from 0" in texts or f"Sequence {i}, counting from 0" in texts]
    assert len(shown) == 2
    for i in shown:
        found = model.explain(X[i], against=wrong[i])
        assert found.total > 0
        assert all(each.name in texts for each in found.top(3))


def test_truths_without_a_score_are_not_explained():
    model, X, Y, _ = trained_on("sequences_tokens")
    page = model.report(X, [["B-NEW" for _ in y] for y in Y], n_worst=2)
    assert "Why this" not in page.html
    model, X, Y, _ = trained_on("classes_kernel")
    assert "Why this" not in model.report(X, [(y + 1) % 3 for y in Y]).html
