"""Files of annotated texts: round trips, what tools export, and one sentence for everything that is wrong."""

import io
import json
import re
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.base.errors import InvalidLabels
from maxmargin.formats import AnnotatedText, Span, iterate_spans, read_spans, write_spans

needs_spacy = pytest.mark.skipif(find_spec("spacy") is None, reason="DocBin files need spaCy")
LETTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Cc", "M"])
LABELS = st.text(st.characters(codec="utf-8", categories=["L", "N", "Pd"]), min_size=1, max_size=5)


@st.composite
def annotated(draw, overlapping=True, letters=LETTERS):
    text = draw(st.text(letters, max_size=30))
    if not text or draw(st.booleans()):
        return AnnotatedText(text, draw(st.sampled_from([None, []])))
    spans = []
    begin = 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0 if overlapping else begin, len(text)))
        if start == len(text):
            break
        end = draw(st.integers(start + 1, len(text)))
        spans.append(Span(start, end, draw(LABELS)))
        begin = end
    return AnnotatedText(text, sorted(spans, key=lambda span: span[:3]))


@given(st.lists(annotated(), max_size=4), st.sampled_from(["doccano", "prodigy", "label_studio"]))
def test_open_files_return_what_was_written(documents, form):
    documents = [each._replace(name=str(i)) for i, each in enumerate(documents)]
    file = io.StringIO()
    write_spans(file, documents, form)
    file.seek(0)
    assert read_spans(file, form) == documents


@given(st.lists(annotated(), min_size=1, max_size=3))
def test_paths_return_what_was_written(tmp_path_factory, documents):
    folder = tmp_path_factory.mktemp("spans")
    documents = [each._replace(name=f"d{i}") for i, each in enumerate(documents)]
    for name, form in {
        "a.jsonl": None,
        "p.jsonl": "prodigy",
        "b.json.gz": None,
        "brat": None,
        "c.jsonl.xz": None,
    }.items():
        write_spans(folder / name, documents, form)
        assert read_spans(folder / name) == documents, name


@needs_spacy
@given(st.lists(annotated(overlapping=False), max_size=3))
def test_docbin_returns_what_was_written(tmp_path_factory, documents):
    path = tmp_path_factory.mktemp("docbin") / "a.spacy"
    # A text without tokens cannot say whether it is annotated.
    documents = [each._replace(spans=[]) if not each.text else each for each in documents]
    write_spans(path, documents)
    assert [each._replace(spans=each.spans or []) for each in read_spans(path)] == [
        each._replace(spans=each.spans or []) for each in documents
    ]
    annotated = [each.spans is not None for each, was in zip(read_spans(path), documents, strict=True) if was.text]
    assert annotated == [each.spans is not None for each in documents if each.text]


@needs_spacy
def test_spacy_itself_reads_the_entities(tmp_path):
    import spacy
    from spacy.tokens import DocBin

    write_spans(
        tmp_path / "a.spacy", [AnnotatedText("Ada Lovelace, of London", [Span(0, 12, "PER"), Span(17, 23, "LOC")])]
    )
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("en").vocab)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Ada Lovelace", "PER"), ("London", "LOC")]
    assert [token.text for token in doc] == ["Ada", "Lovelace", ",", "of", "London"]


def test_without_spacy_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(ImportError, match="DocBin files need spaCy"):
        read_spans(tmp_path / "a.spacy")


ADA = "Ada slept."
DOCCANO = [
    {"id": 3, "text": ADA, "label": [[0, 3, "PER"]], "meta": {}},
    {"id": 3, "text": ADA, "labels": [[0, 3, "PER"]]},
    {
        "id": 3,
        "text": ADA,
        "entities": [{"id": 9, "label": "PER", "start_offset": 0, "end_offset": 3}],
        "relations": [],
    },
]
SPAN = {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}
RESULT = {"id": "x", "from_name": "label", "to_name": "text", "type": "labels", "value": SPAN}
CHOICE = {"type": "choices", "value": {"choices": ["good"]}}
LABEL_STUDIO = [
    {"id": 3, "data": {"text": ADA}, "annotations": [{"was_cancelled": False, "result": [CHOICE, RESULT]}]},
    {"id": 3, "data": {"text": ADA}, "annotations": [{"was_cancelled": True, "result": []}, {"result": [RESULT]}]},
    {"id": 3, "text": ADA, "label": [SPAN], "annotator": 1},
]


@pytest.mark.parametrize("record", DOCCANO)
def test_what_doccano_exports(record):
    assert read_spans(io.StringIO(json.dumps(record)), "doccano") == [AnnotatedText(ADA, [Span(0, 3, "PER")], "3")]


@pytest.mark.parametrize("task", LABEL_STUDIO)
def test_what_label_studio_exports(task):
    assert read_spans(io.StringIO(json.dumps([task])), "label_studio") == [AnnotatedText(ADA, [Span(0, 3, "PER")], "3")]


def test_several_labels_are_several_spans():
    task = {"data": {"text": ADA}, "annotations": [{"result": [{**RESULT, "value": {**SPAN, "labels": ["PER", "X"]}}]}]}
    (document,) = read_spans(io.StringIO(json.dumps([task])), "label_studio")
    assert [span.label for span in document.spans] == ["PER", "X"]


def test_what_prodigy_exports():
    span = {"start": 0, "end": 3, "label": "PER", "token_start": 0, "token_end": 0}
    records = [{"text": ADA, "spans": [span], "answer": answer} for answer in ("accept", "reject", "ignore")]
    file = io.StringIO("\n".join(map(json.dumps, records)))
    with pytest.warns(InvalidLabels, match=r"2 of 3 records were left out, .* \(the first: line 2\)"):
        assert read_spans(file, "prodigy") == [AnnotatedText(ADA, [Span(0, 3, "PER")])]


def test_what_brat_writes(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Ada slept\r\nin New\nYork.")
    (tmp_path / "a.ann").write_bytes(
        b"T1\tLOC 14 22\tNew York\nT2\tPER 0 3\tAda\nR1\tIn Arg1:T2 Arg2:T1\n#1\tAnnotatorNotes T1\tsure?\n"
    )
    (tmp_path / "b.txt").write_text("not annotated")
    first, second = read_spans(tmp_path)
    assert first.spans == [Span(0, 3, "PER"), Span(14, 22, "LOC")]
    assert (first.name, second.name, second.spans) == ("a", "b", None)
    assert read_spans(tmp_path / "a.ann") == read_spans(tmp_path / "a.txt") == [first]


def test_documents_are_read_one_by_one():
    lines = iter(['{"text": "a"}\n', "no JSON\n"])
    documents = iterate_spans(io.StringIO("".join(lines)), "doccano")
    assert next(documents).text == "a"
    with pytest.raises(ValueError, match="line 2: this is not JSON"):
        next(documents)


def doccano(**fields):
    return json.dumps({"text": ADA, **fields})


def studio(**fields):
    return json.dumps([{"id": 8, "data": {"text": ADA}, **fields}])


def one_result(**value):
    return studio(annotations=[{"result": [{**RESULT, "value": {**SPAN, **value}}]}])


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        ("doccano", doccano(label=[[4, 99, "X"]]), "line 1: the span 4:99 'X' does not fit the text, which has 10"),
        ("doccano", doccano(label=[[3, 3, "X"]]), "the span 3:3 'X' does not fit"),
        ("doccano", doccano(label=[[-1, 3, "X"]]), "the span -1:3 'X' does not fit"),
        ("doccano", doccano(label=[[0.5, 3, "X"]]), "a span has the offsets 0.5 and 3; expected whole numbers"),
        ("doccano", doccano(label=[[True, 3, "X"]]), "a span has the offsets True and 3"),
        ("doccano", doccano(label=[[0, 3, ""]]), "the span 0:3 has the label ''"),
        ("doccano", doccano(label=[[0, 3]]), r"a span is \[0, 3\]; expected \[start, end, label\]"),
        ("doccano", doccano(label="PER"), "'label' is 'PER'; expected a list of spans"),
        ("doccano", doccano(label=[], entities=[]), "there are 'label' and 'entities'; expected one"),
        ("doccano", doccano(entities=[{"label": "X"}]), "expected a record with 'start_offset', 'end_offset', 'label'"),
        ("doccano", '{"label": []}', "line 1: there is no 'text'"),
        ("doccano", '{"text": 3}', "'text' is 3; expected a text"),
        ("prodigy", doccano(spans=[[0, 3, "X"]]), "expected a record with 'start', 'end', 'label'"),
        ("prodigy", doccano(answer="maybe"), "'answer' is 'maybe'"),
        ("label_studio", "{}", "expected a list of tasks in square brackets"),
        ("label_studio", "[3]", "task 0: found 3"),
        ("label_studio", "[\n\n{]", "line 3: this is not JSON"),
        ("label_studio", '[{"data": {"html": "x"}}]', "expected a record with a 'text'"),
        ("label_studio", studio(annotations=[{"result": []}] * 2), r"task 0 \(id 8\): there are 2 annotations"),
        ("label_studio", studio(annotations=[{"result": [{"type": "hypertextlabels"}]}]), "spans of HTML"),
        ("label_studio", studio(annotations=[{}]), "'result' is None; expected a list"),
        ("label_studio", studio(annotations=[7]), "an annotation is 7"),
        ("label_studio", studio(annotations=[{"result": [7]}]), "a result is 7"),
        ("label_studio", one_result(start=1), "0:3|1:3 'PER' is 'Ada' in the annotation but 'da' in the text"),
        ("label_studio", one_result(labels="PER"), "'labels' is 'PER'; expected a list"),
        ("label_studio", studio(annotations=[{"result": [{"value": {}}]}]), "with 'start', 'end' and 'labels'"),
    ],
)
def test_bad_content(form, content, message):
    with pytest.raises(ValueError, match=message) as error:
        read_spans(io.StringIO(content), form)
    assert str(error.value).startswith("the text")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0 99\tAda", "a.ann, line 1: the span 0:99 'PER' does not fit"),
        ("T1\tPER 0 3\tEva", "the span 0:3 'PER' is 'Eva' in the annotation but 'Ada' in the text"),
        ("T1\tPER 0 3;4 9\tAda slept", "has several pieces"),
        ("T1 PER 0 3 Ada", "found 'T1 PER 0 3 Ada'; expected T1, a label"),
    ],
)
def test_bad_brat(tmp_path, line, message):
    (tmp_path / "a.txt").write_text(ADA)
    (tmp_path / "a.ann").write_text(line + "\n")
    with pytest.raises(ValueError, match=message):
        read_spans(tmp_path)


def test_bad_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Ad\xe4")
    with pytest.raises(ValueError, match=r"a\.txt, byte 2: this is not UTF-8 text"):
        read_spans(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "Ad\xe4"}')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 1: this is not UTF-8 text"):
        read_spans(tmp_path / "a.jsonl")
    (tmp_path / "b.ann").write_text("")
    with pytest.raises(ValueError, match=r"has b\.ann without b\.txt"):
        read_spans(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match=r"none has no file that ends in \.txt"):
        read_spans(tmp_path / "none")
    with pytest.raises(ValueError, match=r"the suffix of a.xml does not tell its format; expected .jsonl"):
        read_spans(tmp_path / "a.xml")
    with pytest.raises(ValueError, match="an open file does not tell its format"):
        read_spans(io.StringIO())
    with pytest.raises(ValueError, match="form is 'docano'"):
        read_spans(io.StringIO(), "docano")
    with pytest.raises(ValueError, match="brat is not one text file; expected a path"):
        read_spans(io.StringIO(), "brat")


@needs_spacy
def test_bad_docbin(tmp_path):
    (tmp_path / "a.spacy").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a\.spacy is not a DocBin file of spaCy"):
        read_spans(tmp_path / "a.spacy")
    with pytest.raises(ValueError, match="document 0: the spans 0:3 'A' and 2:5 'B' overlap"):
        write_spans(tmp_path / "b.spacy", [AnnotatedText(ADA, [Span(0, 3, "A"), Span(2, 5, "B")])])


def test_bad_documents_are_not_written(tmp_path):
    for name in ("a.jsonl", "a.json", "folder"):
        with pytest.raises(ValueError, match="document 1: the span 5:50 'X' does not fit"):
            write_spans(tmp_path / name, [AnnotatedText(ADA, []), AnnotatedText(ADA, [Span(5, 50, "X")])])
        assert not (tmp_path / name).is_file()
    with pytest.raises(ValueError, match=r"a\.ann is one file; expected a folder"):
        write_spans(tmp_path / "a.ann", [])
    with pytest.raises(ValueError, match="no labels with blanks, as 'a b'"):
        write_spans(tmp_path / "folder", [AnnotatedText(ADA, [Span(0, 3, "a b")])])
    for name in ("../up", "twice", ".hidden"):
        with pytest.raises(ValueError, match=re.escape(f"has the name {name!r}")):
            write_spans(tmp_path / "folder", [AnnotatedText(ADA, [], "twice"), AnnotatedText(ADA, [], name)])


def test_a_byte_order_mark_does_not_hide_the_first_span_of_brat(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Ada slept")
    (tmp_path / "a.ann").write_bytes(b"\xef\xbb\xbfT1\tPER 0 3\tAda\r\n")
    assert read_spans(tmp_path) == [AnnotatedText("Ada slept", [Span(0, 3, "PER")], "a")]


def test_an_old_annotation_does_not_become_that_of_a_new_text(tmp_path):
    write_spans(tmp_path, [AnnotatedText("Ada", [Span(0, 3, "PER")], "a")], "brat")
    with pytest.raises(ValueError, match=r"document 0 is not annotated, but .* has a\.ann already"):
        write_spans(tmp_path, [AnnotatedText("Ada slept", None, "a")], "brat")
    assert read_spans(tmp_path)[0].text == "Ada"


def test_a_line_is_named_once():
    with pytest.raises(ValueError, match=r"^the text, line 1: 'spans' is None; expected a list of spans$"):
        read_spans(io.StringIO('{"text": "a", "spans": null}\n'), "prodigy")


@pytest.mark.parametrize("form", ["doccano", "prodigy", "label_studio", "brat"])
def test_spans_may_be_plain_tuples(tmp_path, form):
    write_spans(tmp_path / "file", [AnnotatedText("Ada", [(0, 3, "PER")])], form)
    assert read_spans(tmp_path / "file", form)[0].spans == [Span(0, 3, "PER")]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("Ada", r"document 0 is 'Ada'; expected an AnnotatedText"),
        (AnnotatedText(None, None), r"document 0 has the text None; expected a string"),
        (AnnotatedText("Ada", [], 5), r"document 0 has the name 5; expected a string"),
        (AnnotatedText("Ada", [(0, 3)]), r"document 0: a span is \(0, 3\); expected a Span"),
        (AnnotatedText("Ada", 7), r"document 0: 'int' object is not iterable"),
    ],
)
def test_documents_that_are_none(document, message):
    with pytest.raises(ValueError, match=message):
        write_spans(io.StringIO(), [document], "doccano")
