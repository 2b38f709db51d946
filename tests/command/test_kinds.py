"""Kinds and formats of the command line: what is written for each, what is read again, what is wrong with files."""

import json
from pathlib import Path

import numpy as np
import pytest
from command.command_files import text
from sklearn.feature_extraction import DictVectorizer

import maxmargin as mm
from maxmargin import formats


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def test_segments_keep_their_columns(run):
    code, out = run("predict", "segments.mm", "test.conll")
    assert code == 0
    assert out.startswith("Ada B-PER B-PER\nLovelace I-PER I-PER\n")
    model = mm.load("segments.mm")
    assert model.segment_features.word == 0
    assert run("fit", "segments", "train.conll", "-o", "m.mm", "--chunks", "IOBES", "-q")[0] == 2
    assert "segments are trained on BIO labels" in run.err


@pytest.mark.parametrize("kind", ["sequences", "segments"])
def test_tokens_come_in_every_format(run, kind):
    """The same model from each, and predictions in the format of the file."""
    models = []
    for form, name in (("table", "t.csv"), ("jsonl", "t.jsonl"), ("table", "t.parquet")):
        if name == "t.parquet":
            pytest.importorskip("pyarrow")
            X, Y = zip(*formats.read_conll("train.conll"), strict=True)
            formats.write_table_sequences(name, X, Y)
        else:
            assert run("convert", "train.conll", "-o", name) == (0, "")
        assert run("fit", kind, name, "-o", "m.mm", "-c", "10", "-q")[0] == 0
        models.append(mm.load("m.mm"))
        assert models[-1].features.columns == ["word"]
        code, out = run("predict", "m.mm", name, "--format", form)
        assert code == 0
        if form == "jsonl":
            found = lines(out)
            assert all(record["predicted"] == record["labels"] for record in found)
        else:
            assert out.startswith("sequence,word,label,predicted\n1,Ada,B-PER,B-PER\n")
        assert json.loads(run("score", "m.mm", name, "--json")[1])["F1"] == 1
    assert (models[0].w_ == models[1].w_).all()


def test_columns_of_a_table_are_found_by_their_names(run):
    Path("named.csv").write_text("sentence,form,pos,y\n1,Ada,NNP,B\n1,slept,VBD,O\n2,Kurt,NNP,B\n2,ate,VBD,O\n")
    options = ("--id", "sentence", "--label", "y")
    assert run("fit", "sequences", "named.csv", "-o", "m.mm", "-c", "10", "-q", *options)[0] == 0
    assert mm.load("m.mm").features.columns == ["form", "pos"]
    Path("turned.csv").write_text("sentence,pos,more,form\n9,NNP,x,Kurt\n9,VBD,y,slept\n")
    code, out = run("predict", "m.mm", "turned.csv", *options)
    assert (code, out) == (0, "sentence,form,pos,predicted\n9,Kurt,NNP,B\n9,slept,VBD,O\n")
    Path("turned.csv").write_text("sentence,form\n9,Kurt\n")
    assert run("predict", "m.mm", "turned.csv", *options)[0] == 3
    assert "turned.csv, line 1: there is no column 'pos'. The columns are sentence, form" in run.err


def test_rows_come_in_every_format(run):
    """Features of tables and records have names, which the model keeps, or numbers, as in svmlight."""
    assert run("convert", "fruit.csv", "-o", "fruit.jsonl", "--of", "rows")[0] == 0
    weights = []
    for name in ("fruit.csv", "fruit.jsonl"):
        assert run("fit", "classes", name, "-o", "m.mm", "-c", "10", "-q")[0] == 0
        model = mm.load("m.mm")
        assert model.feature_names_in_.tolist() == ["size", "red", "long"]
        weights.append(model.weights_["features"]["red", "apple"])
        assert run("predict", "m.mm", name)[1].startswith("apple\npear\nbanana\n")
        assert run.err == ""
        assert "feature=red, label=apple" in run("inspect", "m.mm")[1]
    assert weights[0] == pytest.approx(weights[1], rel=0.05)  # zeros are left out of one of them
    Path("more.csv").write_text("long,kind,red,size\n1,x,0,7\n")
    assert run("predict", "m.mm", "more.csv") == (0, "banana\n")
    assert "1 feature that does not occur in the training data is ignored" in run.err
    assert run("predict", "m.mm", "test.svm")[0] == 3
    assert "features of test.svm are numbers; those of this model have names: size, red, long" in run.err
    assert run("predict", "classes.mm", "fruit.csv")[0] == 3
    assert "fruit.csv has the feature 'size'; the features of this model are numbers" in run.err
    assert run("convert", "train.svm", "-o", "t.csv")[0] == 0
    assert run("predict", "classes.mm", "t.csv")[1] == run("predict", "classes.mm", "train.svm")[1]
    assert run("convert", "train.letor", "-o", "t.csv")[0] == 0
    assert run("predict", "ranking.mm", "t.csv")[1] == run("predict", "ranking.mm", "train.letor")[1]
    assert json.loads(run("score", "ranking.mm", "t.csv", "--json")[1]) == {"ndcg (3)": 1.0}


def test_classes_in_a_tree(run):
    assert mm.load("taxonomy.mm").taxonomy["apple"] == ["round"]
    assert run("predict", "taxonomy.mm", "fruit.csv")[1].startswith("apple\npear\nbanana\n")
    Path("paths.csv").write_text("label,a,b\n" + "6.1,1,0\n6.2,0,1\n7.1,-1,-1\n" * 3)
    assert run("fit", "taxonomy", "paths.csv", "--taxonomy", ".", "-o", "m.mm", "-q")[0] == 0
    assert mm.load("m.mm").classes_.tolist() == ["6.1", "6.2", "7.1"]
    assert run("fit", "taxonomy", "paths.csv", "--taxonomy", ".", "--tree", "fruit.tree", "-o", "m.mm", "-q")[0] == 2
    Path("clus.arff").write_text("@attribute a real\n@attribute c hierarchical x\n@data\n1,6@6/2\n0,7\n" * 1)
    assert run("fit", "taxonomy", "clus.arff", "--taxonomy", "/", "--predict-at", "nodes", "-o", "m.mm", "-q")[0] == 0
    assert run("predict", "m.mm", "clus.arff")[1] == "6/2\n7\n"


def test_any_number_of_labels(run):
    code, out = run("predict", "multilabel.mm", "songs.arff")
    assert (code, out[:31]) == (0, "calm\nglad\ncalm,glad\ncalm\nglad\ng")
    rows = formats.read_mulan_rows("songs.arff", "songs.xml")
    scores = np.array(
        [
            list(map(float, line.split()))
            for line in run("predict", "multilabel.mm", "songs.arff", "--scores")[1].splitlines()
        ]
    )
    assert ((scores > 0) == rows.Y).all()
    formats.write_multilabel_jsonl("songs.jsonl", rows.X, rows.Y, rows.labels, rows.names)
    assert run("predict", "multilabel.mm", "songs.jsonl") == (code, out)
    assert json.loads(run("score", "multilabel.mm", "songs.jsonl", "--json")[1])["right rows"] == 1
    assert run("fit", "multilabel", "songs.jsonl", "-o", "m.mm", "-q", "--kernel", "linear")[0] == 0
    assert mm.load("m.mm").classes == ["calm", "glad"]
    formats.write_svmlight("songs.svm", rows.X, [np.flatnonzero(row) + 1 for row in rows.Y])
    assert run("fit", "multilabel", "songs.svm", "-o", "m.mm", "-q", "--kernel", "linear")[0] == 0
    assert run("predict", "m.mm", "songs.svm")[1] == out.replace("calm", "1").replace("glad", "2")
    bare = text("songs.arff").replace("@attribute calm {0,1}\n@attribute glad {0,1}\n", "")
    bare = "\n".join(line.rsplit(",", 2)[0] if line[:1].isdigit() else line for line in bare.splitlines())
    assert run("predict", "multilabel.mm", "-", "--format", "arff", stdin=bare) == (code, out)


def test_pairs_are_aligned(run):
    bare = text("pairs.fasta").replace("-", "")
    code, out = run("predict", "alignment.mm", stdin=bare)
    assert code == 0
    Path("found.fasta").write_text(out)
    found = formats.read_fasta_pairs("found.fasta")
    truth = formats.read_fasta_pairs("pairs.fasta")
    assert [pair.first.sequence.replace("-", "") for pair in found] == [pair.first.sequence for pair in truth]
    assert json.loads(run("score", "alignment.mm", "found.fasta", "--json")[1]) == {"right pairs": 1.0}
    out = run("inspect", "alignment.mm")[1]
    assert "substitution scores" in out
    assert "costs of gaps" in out
    Path("family.sto").write_text("# STOCKHOLM 1.0\na ACGT-A\nb AC-TTA\nc ACGTTA\n//\n")
    assert run("fit", "alignment", "family.sto", "-o", "m.mm", "-q")[0] == 0
    assert run("predict", "m.mm", "family.sto")[1].count(">") == 6  # all pairs
    for name in ("family.a3m", "family.afa"):
        assert run("convert", "family.sto", "-o", name)[0] == 0
        assert json.loads(run("score", "m.mm", name, "--json")[1])["right pairs"] > 0.5


def test_motifs_are_found_and_drawn(run):
    code, out = run("predict", "motifs.mm", "sites.fasta")
    assert code == 0
    fields = [line.split("\t") for line in out.splitlines()]
    strings = {record.name: record.sequence for record in formats.read_fasta("sites.fasta")}
    for name, has, begin, end, strand, _, site in fields:
        assert (has, strand) == ("yes", "+")
        assert strings[name][int(begin) - 1 : int(end)] == site == "TATAAT"
    assert lines(run("predict", "motifs.mm", "others.fasta", "--json")[1])[0]["motif"] is False
    out = run("inspect", "motifs.mm")[1]
    assert "motif of 6 letters, in bits" in out
    assert out.rstrip().splitlines()[-1].strip() == "TATAAT"
    assert json.loads(run("inspect", "motifs.mm", "--json")[1])["motif of 6 letters, in bits"]["consensus"] == "TATAAT"
    assert json.loads(run("score", "motifs.mm", "sites.fasta", "--json")[1]) == {"with the motif": 1.0}
    assert run("fit", "motifs", "sites.fasta", "-o", "m.mm", "-v", "3")[0] == 2
    assert "give them with --without FILE" in run.err
    assert (
        run("fit", "motifs", "sites.fasta", "-o", "m.mm", "--valid", "others.fasta", "--without", "others.fasta")[0]
        == 2
    )


RECORDS = {
    "graphs": ("graphs.jsonl", "labels"),
    "clustering": ("clusters.jsonl", "clusters"),
    "assignment": ("assignments.jsonl", "assignment"),
    "homologs": ("homologs.jsonl", "homolog"),
}


@pytest.mark.parametrize("kind", [*RECORDS, "diversity"])
def test_records_get_one_more_key(run, kind):
    name, truth = RECORDS.get(kind, ("documents.jsonl", "subtopics"))
    code, out = run("predict", f"{kind}.mm", name)
    assert code == 0
    given, found = lines(text(name)), lines(out)
    assert [{**record, "predicted": 0} for record in given] == [{**record, "predicted": 0} for record in found]
    right = [record["predicted"] == record[truth] for record in found if kind in RECORDS]
    assert not right or np.mean(right) > 0.6
    bare = "".join(json.dumps({key: value for key, value in record.items() if key != truth}) + "\n" for record in given)
    assert lines(run("predict", f"{kind}.mm", "--json", stdin=bare)[1]) == [record["predicted"] for record in found]


@pytest.mark.parametrize(
    ("kind", "line", "sentence"),
    [
        ("graphs", '{"edges": []}', "there is no 'nodes'; expected numbers in lists, (nodes, features)"),
        ("graphs", '{"nodes": [[1], [1, 2]], "edges": []}', "'nodes' are not numbers in lists of equal lengths"),
        ("graphs", '{"nodes": [[1]], "edges": [[0, 3]], "labels": [1]}', "edge"),
        ("graphs", '{"nodes": [[1]], "edges": [[0, 0.5]], "labels": [1]}', "'edges' has numbers that are not whole"),
        (
            "graphs",
            '{"nodes": [[1]], "edges": [], "labels": []}',
            "'labels' is []; expected a text or number for each of 1",
        ),
        ("graphs", '{"nodes": [[1]], "edges": [], "labels": [[1]]}', "'labels' is [[1]]; expected a text or number"),
        ("clustering", '{"items": 2, "pairs": [[0, 1]]}', "there is no 'features'"),
        ("clustering", '{"items": "x", "pairs": [], "features": []}', "n_items is 'x'"),
        ("clustering", '{"items": 2, "pairs": [[0, 1]], "features": [[1]], "clusters": [1]}', "for each of 2 items"),
        ("assignment", '{"pairs": [[1]], "assignment": [0]}', "'pairs' has 2 dimensions; expected 3"),
        ("assignment", '{"pairs": [[[1]]], "assignment": [4]}', "row 0 has the column 4"),
        ("diversity", '{"documents": ["a", 3], "subtopics": [[], []]}', "document 1 is 3; expected a text"),
        ("diversity", '{"documents": ["a"], "subtopics": ["b"]}', "expected a list for each of 1 documents"),
        ("homologs", '{"native": "AC", "candidates": []}', "there are no candidates"),
        ("homologs", '{"native": "AC", "candidates": ["A"], "homolog": 1, "alignment": []}', "'homolog' is 1"),
        (
            "homologs",
            '{"native": "AC", "candidates": ["A"], "homolog": 0, "alignment": ["ACC", "A--"]}',
            "of sequences of (3, 1) letters; expected (2, 1)",
        ),
        (
            "multilabel",
            '{"labels": ["a", "a"], "features": [1]}',
            "the labels are ['a', 'a']; expected different texts",
        ),
        ("classes", '{"label": 1, "features": "x"}', "'features' is 'x'"),
        ("sequences", '{"tokens": ["a"], "labels": ["x", "y"]}', "expected a text for each of 1 tokens"),
        ("segments", "nothing", "this is not JSON"),
    ],
)
def test_records_that_are_wrong_are_named_with_their_line(run, kind, line, sentence):
    Path("wrong.jsonl").write_text(f"\n{line}\n")
    assert run("fit", kind, "wrong.jsonl", "-o", "m.mm", "-q")[0] == 3
    assert "wrong.jsonl, line 2: " in run.err
    assert sentence in run.err


@pytest.mark.parametrize(
    ("kind", "name", "content", "sentence"),
    [
        ("classes", "w.csv", "label,a\n1,x\n", "w.csv, line 2: the column 'a' has 'x'; expected a finite number"),
        (
            "classes",
            "w.csv",
            "a,b\n1,2\n",
            "w.csv, line 1: there is no column 'label'. The columns are a, b; name the right one with --label",
        ),
        (
            "ranking",
            "w.csv",
            "label,a\n1,2\n",
            "w.csv, line 1: there is no column 'query'. The columns are label, a; name the right one with --id",
        ),
        ("measure", "w.svm", "1 a\n", "w.svm, line 1: 'a' is not a feature"),
        ("ordinal", "w.csv", "", "w.csv, which is empty: the table is empty"),
        ("taxonomy", "w.arff", "@data\n", "w.arff, line 1: the file has no attributes"),
        ("sequences", "w.csv", "word,label\na,b\n", "w.csv, line 1: there is no column 'sequence'"),
        ("segments", "w.conll", "a\n", "w.conll, line 1: found 1 columns in 'a'; expected a word and its tag at least"),
        ("alignment", "w.fasta", ">a\nAC\n>b\nA\n", "w.fasta, line 3: 'b' has 1 columns; expected 2, as 'a'"),
        (
            "alignment",
            "w.fasta",
            ">a\nAC\n",
            "w.fasta, line 1: 'a' is the last sequence and has no partner; expected pairs",
        ),
        ("alignment", "w.sto", "x\n", "w.sto, line 1: found 'x'; expected '# STOCKHOLM 1.0'"),
        ("alignment", "w.a3m", ">a\n", "w.a3m, line 1: record 'a' has no sequence"),
        ("motifs", "w.fasta", "ACGT\n", "w.fasta, line 1: found 'ACGT' before any header"),
        ("motifs", "w.fasta", "", "there is no sequence in w.fasta"),
        ("multilabel", "songs-w.arff", "@data\n", "songs-w.arff, line 1: no attribute above this line is the label"),
        ("multilabel", "w.svm", "x 1:1\n", "w.svm, line 1: a label is 'x'; expected numbers"),
        ("parsing", "w.mrg", "(S (N a)\n", "w.mrg, line 1: a bracket is not closed"),
        ("dependencies", "w.conllu", "1\ta\n", "w.conllu, line 1: the line has 2 columns; expected 10"),
    ],
)
def test_files_that_are_wrong_are_named_with_their_line(run, kind, name, content, sentence):
    Path(name).write_text(content)
    assert run("fit", kind, name, "-o", "m.mm", "-q")[0] == 3
    assert sentence in run.err
    if kind != "motifs" or content:
        Path(name).write_bytes(content.encode() + b"\xff\n")
        assert run("fit", kind, name, "-o", "m.mm", "-q")[0] == 3


FRUIT = "name,colour,size\napple,red,7\npear,green,6\napple,red,6.5\nbanana,yellow,6\n"


def test_texts_become_features(run):
    """As many as a vectorizer makes of them, and the model finds them again in columns of another order."""
    Path("texts.csv").write_text(FRUIT)
    options = ("--label", "name", "--categorical", "colour")
    assert run("fit", "classes", "texts.csv", "-o", "texts.mm", "-q", "-c", "10", *options)[0] == 0
    model = mm.load("texts.mm")
    rows = [{"size": 7.0, "colour": "red"}, {"size": 6.0, "colour": "green"}, {"size": 6.5, "colour": "red"}]
    vectorizer = DictVectorizer().fit([*rows, {"size": 6.0, "colour": "yellow"}])
    assert set(model.feature_names_in_) == set(vectorizer.get_feature_names_out())
    Path("new.csv").write_text("size,colour\n7,red\n6,green\n6,yellow\n6,\n")
    code, out = run("predict", "texts.mm", "new.csv")
    assert code == 0
    assert out.splitlines()[:3] == ["apple", "pear", "banana"]
    assert run.err == ""
    Path("new.csv").write_text("size,colour\n7,blue\n")
    assert run("predict", "texts.mm", "new.csv")[0] == 0
    assert "1 feature that does not occur in the training data is ignored" in run.err
    assert json.loads(run("score", "texts.mm", "texts.csv", "--label", "name", "--json")[1])["right classes"] == 1
    assert run("pack", "classes", "texts.csv", "-o", "texts", "-q", *options)[0] == 0
    assert run("fit", "classes", "texts", "-o", "packed.mm", "-q", "-c", "10")[0] == 0
    np.testing.assert_allclose(mm.load("packed.mm").w_, model.w_, atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--label nam", "there is no column 'nam'; did you mean 'name'? The columns are name, colour, size; name the"),
        ("--label fruit", "there is no column 'fruit'. The columns are name, colour, size; name the right one with --"),
        ("--label name", "line 2: the column 'colour' has 'red'; expected a finite number, or --categorical COLUMN"),
        ("--label name --categorical color", "there is no column 'color'; did you mean 'colour'?"),
    ],
)
def test_columns_that_are_not_there_are_named(run, arguments, sentence):
    Path("texts.csv").write_text(FRUIT)
    assert run("fit", "classes", "texts.csv", "-o", "m.mm", "-q", *arguments.split())[0] == 3
    assert sentence in run.err


def test_a_column_that_a_model_needs_is_named(run):
    Path("texts.csv").write_text(FRUIT)
    options = ("--label", "name", "--categorical", "colour")
    assert run("fit", "classes", "texts.csv", "-o", "texts.mm", "-q", *options)[0] == 0
    Path("new.csv").write_text("size\n7\n")
    assert run("predict", "texts.mm", "new.csv")[0] == 3
    assert "there is no column 'colour'. The columns are size" in run.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("fti classes train.svm -o m.mm", "there is no command 'fti'; did you mean 'fit'? See maxmargin --help"),
        ("fit clases train.svm -o m.mm", "there is no kind 'clases'; did you mean 'classes'? See maxmargin fit --help"),
        (
            "fit sequences train.conll -o m.mm --forbiden BIO",
            "there is no option --forbiden; did you mean '--forbidden'? See maxmargin fit sequences --help",
        ),
        ("predict classes.mm test.svm --outptu x", "did you mean '--output'? See maxmargin predict --help"),
        ("fit classes train.svm -o m.mm --format tabel", "--format is 'tabel'; did you mean 'table'?"),
        ("warmup sequence", "there is no kind 'sequence'; did you mean 'sequences'?"),
        ("predict classes.mm test.svm more.svm", "there are more arguments than expected: more.svm; see maxmargin pre"),
        ("fit classes train.svm", "or -v K for cross-validation alone; see maxmargin fit classes --help"),
        ("convert train.conll -o x.xyz", "-o x.xyz has the suffix .xyz, which is no known format; expected one of"),
        ("convert train.conll -o x.jsnl", "which is no known format; did you mean '.jsonl'?"),
        ("fit classes train.svm -o m.mm --format arff", "--format is 'arff'; expected one of svmlight, table, jsonl"),
        (
            "predict classes.mm test.svm --format conll",
            "--format is conll; expected one of svmlight, table, jsonl for classes",
        ),
        ("fit multilabel documents.jsonl.arff -o m.mm", "there is no documents.jsonl.xml beside documents.jsonl.arff"),
        ("convert fruit.csv -o x.jsonl", "tables and JSON lines hold rows or sequences: say which, --of rows"),
        ("convert fruit.csv --to stockholm", "alignments cannot be converted from table to stockholm"),
        ("convert fruit.csv --of rows --to jsonl --chunks BIO", "--chunks and --features are for sequences"),
        ("convert fruit.csv --of rows -o x.parquet", "this command writes tables as CSV"),
    ],
)
def test_commands_that_make_no_sense(run, arguments, sentence):
    before = set(Path().iterdir())
    assert run(*arguments.split())[0] == 2
    assert sentence in run.err
    assert set(Path().iterdir()) == before
