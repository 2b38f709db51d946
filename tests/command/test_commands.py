"""The command line, called in this process: what it writes, says and returns. test_processes.py has real ones."""

import json
from pathlib import Path

import pytest
from command.command_files import KINDS, MORE, text
from report.pages import checked

import maxmargin as mm
from maxmargin.formats import AnnotatedText, Span, read_conll, write_spans


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_every_kind_score_certify_and_show_themselves(run, kind):
    data, more = KINDS[kind][0], MORE.get(kind, ())
    code, out = run("score", f"{kind}.mm", data, "--json", "-q", *more)
    measures = json.loads(out)
    assert code == 0
    assert all(0.9 < value <= 1 for value in measures.values()), measures
    if kind == "multilabel":
        assert run("certify", f"{kind}.mm", data)[0] == 2
        assert "solves a linear system and needs no certificate: maxmargin inspect shows its residual" in run.err
    else:
        code, out = run("certify", f"{kind}.mm", data, "-q", "--json", "-e", "0.05", "--strict", *more)
        assert code == 0
        assert json.loads(out)["relative gap"] <= 0.05
    code, out = run("inspect", f"{kind}.mm", "-n", "2")
    model = mm.load(f"{kind}.mm")
    assert f"kind         {kind}" in out
    assert " ".join(str(model.certificate_).split()) in " ".join(out.split())
    assert "heaviest weights" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert json.loads(run("inspect", f"{kind}.mm", "--json")[1])["heaviest weights"]


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_about_models_of_every_kind(run, kind):
    data, more = KINDS[kind][0], MORE.get(kind, ())
    report = ("report", f"{kind}.mm", *more, "-q", "--title", "a <b> title", "--data", data)
    code, out = run(*report, "-o", "page.html", "--json")
    told = json.loads(out)
    assert code == 0
    assert told.pop("page") == "page.html"
    page = text("page.html")
    assert checked(page).headings[:3] == ["What this is", "Certificate", "Scores"]
    assert "<h1>a &lt;b&gt; title</h1>" in page
    assert data in page
    score = json.loads(run("score", f"{kind}.mm", data, "--json", "-q", *more)[1])
    told.pop("notice", None)  # about training data
    values = [each["value"] if isinstance(each, dict) else each for each in told.values()]
    assert any(abs(value - each) < 1e-9 for each in score.values() for value in values)
    assert run(*report) == (0, page)
    assert run("report", f"{kind}.mm", "--data", "no such file")[0] == 2
    assert run("report", f"{kind}.mm", "--data", data, "--worst", "-1")[0] == 2
    assert run.err == "maxmargin: --worst is -1; expected a number >= 0; see maxmargin report --help\n"


def test_columns_get_one_more(run):
    code, out = run("predict", "sequences.mm", "test.conll")
    assert code == 0
    assert out.startswith("Ada B-PER B-PER\nLovelace I-PER I-PER\n")
    raw = [line.split()[:1] for line in text("test.conll").splitlines()]
    bare = run("predict", "sequences.mm", stdin="".join(f"{' '.join(columns)}\n" for columns in raw))[1]
    assert [line.split() for line in bare.splitlines()] == [line.split()[::2] for line in out.splitlines()]
    labels = [json.loads(line) for line in run("predict", "sequences.mm", "test.conll", "--json")[1].splitlines()]
    tokens = [sentence.tokens for sentence in read_conll("test.conll")]
    assert labels == mm.load("sequences.mm").predict(tokens)
    assert run("predict", "sequences.mm", "test.conll", "-o", "out.conll.gz") == (0, "")
    assert [[t[-1] for t in s.tokens] for s in read_conll("out.conll.gz", labelled=False)] == labels
    code, _ = run("predict", "sequences.mm", stdin="a b c d\n")
    assert code == 3
    assert "the file has 4 columns; expected 1 (word), or these and a label" in run.err


def test_texts_go_in_and_spans_come_out(run):
    documents = [
        AnnotatedText(f"{name} slept.", [Span(0, len(name), "PER")]) for name in ("Ada", "Alan Turing", "Grace")
    ]
    write_spans("spans.jsonl", documents)
    fit = ("fit", "sequences", "spans.jsonl", "--format", "doccano", "-o", "ner.mm", "-c", "10", "-q")
    assert run(*fit, "--calibrate", "2")[0] == 0
    model = mm.load("ner.mm")
    text = "Anna  Turing slept."
    code, out = run("predict", "ner.mm", "--text", text, "--text", "")
    expected = model.predict_spans([text])[0]
    assert code == 0
    assert [line.split("\t")[:3] for line in out.splitlines()] == [
        [str(a), str(b), label] for a, b, label, _ in expected
    ]
    assert json.loads(run("predict", "ner.mm", "--text", text, "--json")[1]) == [list(span) for span in expected]
    lines = run("predict", "ner.mm", "spans.jsonl", "--format", "doccano")[1].splitlines()
    found = model.predict_spans([document.text for document in documents])
    assert [json.loads(line)["predicted"] for line in lines] == [[list(span) for span in spans] for spans in found]
    assert [json.loads(line)["label"] for line in lines] == [
        [list(span[:3]) for span in each.spans] for each in documents
    ]
    assert json.loads(run("score", "ner.mm", "spans.jsonl", "--format", "doccano", "--json", "-q")[1])["F1"] == 1.0


def test_texts_need_a_model_of_words(run):
    assert run("predict", "classes.mm", "--text", "Ada")[0] == 2
    assert "texts are for models of sequences" in run.err
    assert run("predict", "sequences.mm", "test.conll", "--text", "Ada")[0] == 2
    assert "--text gives the texts, and so does test.conll" in run.err
    write_spans("none.jsonl", [AnnotatedText("Ada", None)])
    assert run("fit", "sequences", "none.jsonl", "--format", "doccano", "-o", "no.mm", "-c", "1")[0] == 3
    assert "none.jsonl, document 0 is not annotated" in run.err
    write_spans("cut.jsonl", [AnnotatedText("Ada", [Span(0, 2, "PER")])])
    assert run("fit", "sequences", "cut.jsonl", "--format", "doccano", "-o", "no.mm", "-c", "1")[0] == 3
    assert "document 0: the span 0:2 'PER' ('Ad') does not begin and end with a token" in run.err


def test_chunks_are_counted_where_labels_are_of_chunks(run):
    broken = text("test.conll") + "Vienna I-LOC\n"  # which no scheme has
    assert json.loads(run("score", "sequences.mm", "-", "--json", stdin=broken)[1])["recall"] > 0.9
    assert list(json.loads(run("score", "sequences.mm", "-", "--json", stdin="a DET\nb NOUN\n")[1])) == ["right labels"]


def test_rows_have_a_line_each(run):
    X = mm.formats.read_svmlight("test.svm", zero_based=True, n_features=mm.load("classes.mm").n_features_in_).X
    for kind in ("classes", "ranking"):
        code, out = run("predict", f"{kind}.mm", "test.svm" if kind == "classes" else "train.letor")
        assert code == 0
        assert len(out.splitlines()) == (20 if kind == "classes" else 60)
    found = [int(line) for line in run("predict", "classes.mm", "test.svm")[1].splitlines()]
    assert found == mm.load("classes.mm").predict(X).tolist()
    scores = [
        list(map(float, line.split())) for line in run("predict", "classes.mm", "test.svm", "--scores")[1].splitlines()
    ]
    assert scores == mm.load("classes.mm").decision_function(X).tolist()
    assert run("predict", "classes.mm", stdin="") == (0, "")
    code, out = run("predict", "classes.mm", stdin="1 1:2 99:3 100:1\n")
    assert (code, out) == (0, "0\n")
    assert "2 features that do not occur in the training data are ignored" in run.err


def test_sentences_become_trees(run):
    tree = "(S (NP (DT the) (NN cat)) (VP (VBZ likes) (NP (DT a) (NN dog))))\n"
    assert run("predict", "parsing.mm", stdin="the/DT cat/NN likes/VBZ a/DT dog/NN\n") == (0, tree)
    assert run("predict", "parsing.mm", stdin=tree) == (0, tree)
    assert run("predict", "parsing.mm", stdin="the cat\n")[0] == 3
    assert "line 1: 'the' is not a word with its tag; expected word/TAG, or a tree" in run.err
    out = run("predict", "dependencies.mm", "train.conllu")[1]
    assert out == text("train.conllu")


def test_c_is_chosen(run):
    code, out = run(
        "fit", "classes", "train.svm", "-o", "m.mm", "-c", "0.001,10", "--valid", "test.svm", "-q", "--json"
    )
    report = json.loads(out)
    assert code == 0
    assert set(report["tried"]) == {"0.001", "10.0"}
    assert report["C"] == mm.load("m.mm").solution_.C
    assert report["on --valid"]["right classes"] == report["tried"][str(report["C"])] == max(report["tried"].values())
    for other in ("narrow.svm", "wide.svm"):  # with fewer and more features than training has seen
        code, out = run("fit", "classes", "train.svm", "-o", "m.mm", "-c", "1,10", "--valid", other, "-q", "--json")
        assert (code, json.loads(out)["on --valid"]) == (0, {"right classes": 1.0})
    code, out = run("fit", "ranking", "train.letor", "-c", "0.1,1", "-v", "2", "-q", "--json")  # no file is written
    report = json.loads(out)
    assert (code, "model" in report) == (0, False)
    assert report["cross-validated score"] == max(report["tried"].values())
    code, out = run("fit", "classes", "train.svm", "-o", "m.mm", "--c", "auto", "-q", "--json")
    assert (code, len(json.loads(out)["tried"]) > 2) == (0, True)


def test_templates_and_schemes(run):
    with open("own.toml", "w") as file:
        file.write('columns = ["form"]\nfeatures = ["form", "form[-1]", "capital(form)"]\n')
    assert (
        run("fit", "sequences", "train.conll", "-o", "m.mm", "--features", "own.toml", "--chunks", "BILOU", "-q")[0]
        == 0
    )
    model = mm.load("m.mm")
    assert model.verbose == 0
    assert model.features == mm.TokenTemplates(["form", "form[-1]", "capital(form)"], ["form"])
    assert {"L-PER", "U-LOC"} <= set(model.classes_)
    assert json.loads(run("score", "m.mm", "train.conll", "--chunks", "BILOU", "--json")[1])["F1"] > 0.9
    assert run("fit", "sequences", "train.conll", "-o", "m.mm", "--features", "train.conll", "-q")[0] == 3
    assert "train.conll is not a TOML file" in run.err


def test_formats_are_converted(run):
    code, iobes = run("convert", "train.conll", "--chunks", "IOBES")
    assert code == 0
    assert iobes.startswith("Ada B-PER\nLovelace E-PER\n")
    assert run("convert", "--chunks", "BIO", stdin=iobes)[1] == text("train.conll")
    code, attributes = run("convert", "train.conll", "--to", "crfsuite")
    assert code == 0
    assert attributes.startswith("B-PER\tbias\t")
    assert run("fit", "sequences", "-", "--format", "crfsuite", "-o", "m.mm", "-q", stdin=attributes)[0] == 0
    assert run("predict", "m.mm", stdin=attributes)[1].startswith("B-PER\nI-PER\n")
    assert json.loads(run("score", "m.mm", "-", "--json", stdin=attributes)[1])["F1"] > 0.9
    assert run("convert", "train.conllu", "--from", "conllu")[1].startswith("the DET\ndog NOUN\n")
    assert run("convert", "--from", "crfsuite", "--to", "conll", stdin=attributes)[0] == 2
    assert "attributes cannot be converted back to columns" in run.err


@pytest.mark.parametrize(
    ("code", "arguments", "sentence"),
    [
        (2, "fit classes train.svm", "give the file to write the model to, -o MODEL, or -v K"),
        (2, "fit classes nowhere.svm -o m.mm", "nowhere.svm: No such file or directory"),
        (2, "fit nothing train.svm -o m.mm", "there is no kind 'nothing'; expected one of sequences, segments"),
        (
            2,
            "fit classes train.svm -o m.mm --nonsense 3",
            "there is no option --nonsense; see maxmargin fit classes --help",
        ),
        (2, "fit classes train.svm -o m.mm -c -3", "-c is '-3'; expected positive numbers"),
        (2, "fit classes train.svm -o m.mm -c 1,x", "-c is '1,x'; expected positive numbers"),
        (2, "fit classes train.svm -o m.mm -q --solver magic", "unknown solver 'magic'"),
        (2, "fit classes train.svm -o m.mm -q --costs cheap", "costs must be None, a dict or a matrix"),
        (2, "fit classes train.svm -o m.mm -q -e -1", "tol must be"),
        (2, "fit classes train.svm -o m.mm -v 1", "-v is 1; expected at least two folds"),
        (2, "fit classes train.svm -o m.mm -v 3 --valid test.svm", "give one of the two"),
        (2, "fit classes train.svm -o m.mm -c auto --valid test.svm", "-c auto needs cross-validation"),
        (2, "fit classes train.svm -o -", "a model cannot be written to standard output"),
        (2, "fit classes train.svm -o nowhere/m.mm", "nowhere/m.mm cannot be written"),
        (
            2,
            "fit parsing trees.mrg -o m.mm --inputs features",
            "inputs='features' is available in Python only, because",
        ),
        (
            3,
            "fit sequences train.conll -o m.mm --valid three.conll",
            "three.conll: a line has 3 columns; expected 1 (word)",
        ),
        (3, "score sequences.mm three.conll -q", "three.conll: a line has 3 columns; expected 1 (word) and a label"),
        (
            2,
            "predict sequences.mm test.conll --scores",
            "--scores is for models of rows, but this is a model of sequences",
        ),
        (3, "fit classes train.conll -o m.mm", "train.conll, line 1: the label is 'Ada'; expected a number"),
        (3, "fit ranking train.svm -o m.mm", "train.svm has no queries; expected qid:NUMBER"),
        (3, "fit sequences uneven.conll -o m.mm -q", "uneven.conll, line 2: found 3 columns in 'b c O'; expected 2"),
        (3, "fit parsing train.svm -o m.mm", "train.svm, line 1"),
        (3, "fit dependencies train.conll -o m.mm", "train.conll, line 1: the line has 1 columns; expected 10"),
        (3, "predict train.svm test.svm", "train.svm is not a model file"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(run, code, arguments, sentence):
    assert run(*arguments.split())[0] == code
    assert sentence in run.err


def test_an_open_gap_is_an_exit_code_where_one_asks_for_it(run):
    arguments = ["fit", "classes", "train.svm", "-o", "m.mm", "-q", "-e", "1e-9", "--max-passes", "1"]
    assert run(*arguments)[0] == 0
    assert "stopped at a relative gap of" in run.err
    assert run(*arguments, "--strict")[0] == 1


def test_models_without_files_of_their_own_are_named(run):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    mm.CountingClassifier().fit(X, y).save("own.mm")
    assert run("predict", "own.mm", "test.svm")[0] == 3
    assert "the command line does not support a CountingClassifier; it supports SequenceLabeler" in run.err
    assert run("inspect", "own.mm")[0] == 0


def test_help_reads_well_at_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in ([], ["fit"], ["predict"], ["score"], ["inspect"], ["certify"], ["convert"], ["demo"]):
        code, out = run(*arguments, "--help")
        assert code == 0
        assert all(len(line) <= 80 for line in out.splitlines()), arguments
    for kind in KINDS:
        code, out = run("fit", kind, "--help")
        assert code == 0
        assert all(len(line) <= 80 for line in out.splitlines())
        assert "--solver" in out
        assert "[default: " in out
    assert run()[0] == 0
    assert run("--version") == (0, f"maxmargin {mm.__version__}\n")


def test_every_parameter_that_is_offered_is_described():
    from inspect import signature

    from maxmargin.command import kinds, options

    for kind in kinds.KINDS.values():
        estimator = kind.estimator_class()
        described = options.descriptions(estimator)
        offered = set(signature(estimator).parameters) - (options.NOT_HERE - set(kind.shown)) - set(kind.hidden)
        assert offered <= set(described), (kind.name, offered - set(described))


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("none", None), ("yes", True), ("False", False), ("BIO", "BIO"), ('{"a": 2}', {"a": 2})],
)
def test_values_of_options(text, value):
    from maxmargin.command.options import value as read

    assert read(text) == value
    assert type(read(text)) is type(value)


# --- packed folders


@pytest.mark.parametrize("options", [(), ("--hash-bits", "12"), ("--chunks", "IOBES")])
def test_a_model_of_a_packed_folder_is_that_of_the_files(run, tmp_path, options):
    where, scheme = str(tmp_path / "folder"), "IOBES" if "IOBES" in options else "BIO"
    code, out = run("pack", "sequences", "train.conll", "test.conll", "-o", where, *options)
    assert code == 0
    assert out.split()[:2] == ["folder", where]
    fit = ("-c", "10", "--forbidden", scheme, "-q", "-o")
    assert run("fit", "sequences", where, *fit, "packed.mm", "--memory-mb", "50")[0] == 0
    assert run("fit", "sequences", "train.conll", "test.conll", *fit, "files.mm", *options)[0] == 0
    packed, files = mm.load("packed.mm"), mm.load("files.mm")
    assert packed.w_.tolist() == files.w_.tolist()
    assert run("predict", "packed.mm", "test.conll") == run("predict", "files.mm", "test.conll")
    assert run("certify", "packed.mm", where, "-q")[0] == 0


def test_attributes_and_weights_are_packed_too(run, tmp_path):
    run("convert", "train.conll", "--to", "crfsuite", "-o", "train.crfsuite")
    Path("train.crfsuite").write_text("@weight:2\n" + text("train.crfsuite"))
    where = str(tmp_path / "folder")
    assert run("pack", "sequences", "train.crfsuite", "-o", where, "--format", "crfsuite", "-q") == (0, "")
    for name, output in ((where, "packed.mm"), ("train.crfsuite", "files.mm")):
        assert run("fit", "sequences", name, "-o", output, "-c", "10", "-q", "--format", "crfsuite")[0] == 0
    assert mm.load("packed.mm").w_.tolist() == mm.load("files.mm").w_.tolist()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("kind", "data", "options"),
    [
        ("classes", ["train.svm", "test.svm"], ()),
        ("classes", ["train.svm"], ("--fit-intercept", "no")),
        ("classes", ["rows.csv"], ()),
        ("classes", ["rows.jsonl"], ()),
        ("ordinal", ["train.svm"], ()),
        ("measure", ["two.svm"], ("--fit-intercept", "yes")),
        ("ranking", ["train.letor", "train.letor"], ()),
    ],
)
def test_rows_are_packed_too(run, tmp_path, monkeypatch, kind, data, options):
    from maxmargin.command.files import rows

    monkeypatch.setattr(rows, "AT_ONCE", 7)
    X, y, _ = mm.formats.read_svmlight("train.svm")
    names = [f"x{j}" for j in range(X.shape[1])]
    mm.formats.write_table_rows("rows.csv", X, [f"c{each:g}" for each in y], names=names)
    mm.formats.write_jsonl_rows("rows.jsonl", X, y, names=names)
    mm.formats.write_svmlight("two.svm", X, 1 * (y == y[0]))
    where = str(tmp_path / "folder")
    code, out = run("pack", kind, *data, "-o", where, *options)
    assert (code, out.split()[:2]) == (0, ["folder", where])
    assert run("fit", kind, where, "-c", "10", "-q", "-o", "packed.mm", "--valid", data[0], *options)[0] == 0
    assert run("fit", kind, *data, "-c", "10", "-q", "-o", "files.mm", *options)[0] == 0
    packed, files = mm.load("packed.mm"), mm.load("files.mm")
    assert packed.w_.tolist() == files.w_.tolist()
    assert list(getattr(packed, "feature_names_in_", ())) == list(getattr(files, "feature_names_in_", ()))
    assert run("predict", "packed.mm", data[0]) == run("predict", "files.mm", data[0])
    assert run("certify", "packed.mm", where, "-q")[0] == 0


def test_packed_rows_are_cut_into_folds(run, tmp_path):
    where = str(tmp_path / "folder")
    run("pack", "classes", "train.svm", "-o", where, "-q")
    tried = [run("fit", "classes", data, "-v", "3", "-c", "0.1,10", "--json") for data in (where, "train.svm")]
    assert [code for code, _ in tried] == [0, 0]
    folder, file = (json.loads(out) for _, out in tried)
    for each in (folder, file):
        del each["certificate"]  # a sentence that names the seconds
    assert folder == file


def test_rows_without_what_packing_needs_are_named(run, tmp_path):
    where = str(tmp_path / "folder")
    assert run("pack", "ranking", "train.svm", "-o", where)[0] == 3
    assert "train.svm has no queries; expected qid:NUMBER" in run.err
    run("pack", "classes", "train.svm", "-o", str(tmp_path / "other"), "--fit-intercept", "no", "-q")
    assert run("fit", "classes", str(tmp_path / "other"), "-o", "x.mm")[0] == 3
    assert "give fit_intercept=False, or pack them with fit_intercept=True" in run.err


def test_what_folders_cannot_be_used_for(run, tmp_path):
    where = str(tmp_path / "folder")
    run("pack", "sequences", "train.conll", "-o", where, "-q")
    assert run("pack", "sequences", "train.conll", "-o", where)[0] == 3
    assert "already exists" in run.err
    for arguments, message in (
        (("fit", "sequences", where, "-v", "3"), "cannot be split into folds"),
        (("fit", "sequences", where, "-c", "auto", "-o", "x.mm"), "cannot be split into folds"),
        (("fit", "sequences", where, "train.conll", "-o", "x.mm"), "is a folder"),
        (("fit", "taxonomy", where, "-o", "x.mm"), "is a folder; expected files"),
        (("pack", "taxonomy", "train.svm", "-o", "y"), "there is no kind 'taxonomy'"),
        (("pack", "ordinal", "train.svm", "-o", "y", "--fit-intercept", "no"), "there is no option --fit-intercept"),
    ):
        assert run(*arguments)[0] == 2
        assert message in run.err
    assert run("fit", "sequences", str(tmp_path), "-o", "x.mm")[0] == 3
    assert "not a packed folder" in run.err
    assert run("fit", "classes", where, "-o", "x.mm")[0] == 3
    assert "folder holds packed sequences; expected packed classes" in run.err
    valid = ("-c", "1,10", "--valid", "test.conll", "-q", "-o", "x.mm")
    assert run("fit", "sequences", where, *valid)[0] == 0
