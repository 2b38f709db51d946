"""All readers of formats: whatever is in a file, they return a value or raise a ValueError that names file and line.

What each reads is proved beside its room; here are properties that all of them have.
"""

import bz2
import gzip
import lzma
import re
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin import datasets, formats
from maxmargin.inputs.readers.mulan import read_label_names
from maxmargin.inputs.readers.tables import MissingColumnError, TextCellError

XML = '<labels><label name="calm"/></labels>\n'
HEAD = "@relation r\n@attribute a numeric\n@attribute calm {0,1}\n@attribute c {red, 'a b'}\n@data\n"


def iterate_doccano(path):
    return formats.iterate_spans(path, "doccano")


def iterate_prodigy(path):
    return formats.iterate_spans(path, "prodigy")


def whole_label_studio(path):
    return formats.read_spans(path, "label_studio")


# Of every reader a text that it reads (unless that is empty), and pieces that such texts are made of.
READERS = {
    "conll": (formats.iterate_conll, "a N O\nb V B-x\n\n", "a b \t\n O -DOCSTART- B-x I-x"),
    "conllu": (
        formats.iterate_conllu,
        "1\tit\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tis\tbe\tVERB\t_\t_\t0\troot\t_\t_\n\n",
        "# 1 2 3-4 2.1 _ \t \n 0 root",
    ),
    "crfsuite": (formats.iterate_crfsuite, "B-x\tw=a\tn:2\nO\tw\\:b\n\n", "@weight: : \\ \t \n B-x 2 nan"),
    "svmlight": (formats.iterate_svmlight, "1 qid:2 3:4 # x\n", "qid: : 1 2:3 # \n -1 1e999"),
    "multilabel svmlight": (formats.iterate_multilabel_svmlight, "1,2 3:4\n3:1\n", ", : 1 2:3 # \n -1"),
    "mulan": (None, f"{HEAD}1,0,red\n{{0 2, 2 'a b'}}\n", "{ } , ' \" % ? 0 1 2 red \n @data \\"),
    "mulan labels": (read_label_names, XML, "< > </ /> label name= \" ' & ; <!DOCTYPE <![CDATA[ ]]> \n"),
    "clus": (
        datasets.read_clus,
        "@attribute a numeric\n@attribute class hierarchical 6,6/2\n@data\n1,6@6/2\n",
        "{ } , @ / 6 \n",
    ),
    "table rows": (formats.iterate_table_rows, "query,label,a\n1,x,0.5\n", 'query label , " \n 1 x \t nan'),
    "table sequences": (
        formats.iterate_table_sequences,
        "sequence,word,label\n1,a,O\n2,b,O\n",
        'sequence label , " \n 1 x',
    ),
    "jsonl rows": (
        formats.iterate_jsonl_rows,
        '{"label": 1, "features": {"a": 1}}\n',
        '{ } [ ] "label" "query" "features" : , 1 1e999 NaN null true \n',
    ),
    "multilabel jsonl": (
        formats.iterate_multilabel_jsonl,
        '{"labels": ["x"], "features": {"a": 1}}\n',
        '{ } [ ] "labels" "features" : , 1 "a" null \n',
    ),
    "jsonl sequences": (
        formats.iterate_jsonl_sequences,
        '{"tokens": [["a"]], "labels": ["O"]}\n',
        '{ } [ ] "tokens" "features" "labels" "weight" : , "a" 1 null \n',
    ),
    "doccano": (
        iterate_doccano,
        '{"text": "Ada", "label": [[0, 3, "PER"]]}\n',
        '{ } [ ] "text" "label" "entities" "start_offset" : , 0 3 -1 "a" 1.5 null true \n',
    ),
    "prodigy": (
        iterate_prodigy,
        '{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n',
        '{ } [ ] "text" "spans" "start" "end" "label" "answer" : , 0 3 -1 "a" null \n',
    ),
    "label studio": (
        whole_label_studio,
        '[{"data": {"text": "Ada"}, "annotations": [{"result": [{"value": '
        '{"start": 0, "end": 3, "labels": ["X"]}}]}]}]\n',
        '{ } [ ] "text" "data" "id" "annotations" "result" "value" "labels" "start" "end" : , 0 3 -1 "a" null \n',
    ),
    "taxonomy": (formats.read_taxonomy, "cat\tpet\npet animal\n", "# \t \n a b c"),
    "trees": (formats.iterate_trees, "(S (N a)\n (V b))\n", "( ) S a \n -LRB-"),
    "fasta": (formats.iterate_fasta, ">a x\nACDE\n>b\nAC\n", "> a - . \n AC *"),
    "fasta pairs": (formats.iterate_fasta_pairs, ">a x\nAC-E\n>b\nACDE\n", "> a - . \n AC *"),
    "aligned fasta": (formats.read_aligned_fasta, ">a\nAC-E\n>b\nACDE\n", "> a - . \n AC *"),
    "a3m": (formats.read_a3m, ">a\nACDE\n>b\nA-dDE\n", "> a - . \n AC c # ss_pred"),
    "stockholm": (
        formats.iterate_stockholm,
        "# STOCKHOLM 1.0\na AC-E\nb ACDE\n//\n",
        "# STOCKHOLM 1.0 #=GF #=GS #=GC #=GR // a AC \n - .",
    ),
    "matrix": (formats.read_matrix, "   A  C\nA  1 -1\nC -1  2\n", "# A C 1 -1 \n * nan"),
    "meme": (
        formats.read_meme,
        "",
        "MEME version 4 ALPHABET= ACGT MOTIF letter-probability matrix: w= 1 0.5 \n",
    ),
}


def read(name, path):
    """All that a reader finds in a file, as a list of one or more values."""
    reader = READERS[name][0]
    if name == "mulan":
        labels = path.parent / "labels.xml"
        labels.write_text(XML)
        found = formats.iterate_mulan_rows(path, labels)
    else:
        found = reader(path)
    return list(found) if isinstance(found, Iterator) else [found]


def value_or_line(name, path, content):
    """What is read, or None where that is an error, which must name the line."""
    path.write_bytes(content)
    complaint = None
    try:
        return read(name, path)
    except ValueError as error:
        complaint = error
    assert type(complaint) in (ValueError, MissingColumnError, TextCellError)
    place = r"(given|labels)\.\w+, (line \d+|which is empty|task \d+( \(id .*\))?): "
    assert re.match(place, str(complaint), re.DOTALL), complaint
    return None


def test_every_reader_is_here():
    named = {reader for reader, *_ in READERS.values() if reader is not None}
    named |= {formats.iterate_mulan_rows, formats.iterate_spans}
    whole = {getattr(formats, reader.__name__.replace("iterate_", "read_"), None) for reader in named}
    readers = [name for name in formats.__all__ if name.startswith(("read_", "iterate_"))]
    missing = [name for name in readers if getattr(formats, name) not in named | whole]
    assert not missing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("given")


@pytest.mark.parametrize("name", [name for name in READERS if READERS[name][1]])
def test_what_is_right_is_read(name, tmp_path):
    content = READERS[name][1].encode()
    plain = repr(value_or_line(name, tmp_path / "given.txt", content))
    assert plain != "None"
    assert repr(value_or_line(name, tmp_path / "given.txt", b"\xef\xbb\xbf" + content)) == plain
    assert repr(value_or_line(name, tmp_path / "given.txt", content.replace(b"\n", b"\r\n"))) == plain
    for suffix, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
        path = tmp_path / f"given.txt.{suffix}"
        path.write_bytes(compress(content))
        assert repr(read(name, path)) == plain


@pytest.mark.parametrize("name", READERS)
@examples(15, 300)
@given(data=st.data())
def test_any_text_is_read_or_refused_with_its_line(name, folder, data):
    right, pieces = READERS[name][1:]
    some = st.sampled_from([*re.split(r"(?<=[^ ]) | (?=[^ ])", pieces), " ", "\n", right])
    text = "".join(data.draw(st.lists(some | st.text(max_size=5), max_size=30)))
    value_or_line(name, folder / "given.txt", text.encode())


@pytest.mark.parametrize("name", READERS)
@examples(10, 200)
@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_their_line(name, folder, data):
    """Bytes alone, or in the place of a part of a text that is right."""
    right = READERS[name][1].encode()
    begin = data.draw(st.integers(0, len(right)))
    end = data.draw(st.integers(begin, len(right)))
    content = right[:begin] + data.draw(st.binary(max_size=20)) + right[end:]
    value_or_line(name, folder / "given.txt", content)


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_utf_8_is_told_with_its_line(name, tmp_path):
    right = READERS[name][1].encode()
    (tmp_path / "given.txt").write_bytes(right + b"\xff\xfe\n")
    line = len(right.splitlines()) + 1
    with pytest.raises(ValueError, match=rf"^given\.txt, line {line}: this is not UTF-8"):
        read(name, tmp_path / "given.txt")


STREAMING = [name for name, (reader, *_) in READERS.items() if reader and reader.__name__.startswith("iterate_")]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*STREAMING, "mulan"])
def test_what_streams_needs_no_more_memory_for_more(name, tmp_path):
    """The peak for 40 times as many examples: far below what all of them would take."""
    reader, right, _ = READERS[name]
    head, body = ("", right) if name not in ("mulan", "table rows", "table sequences") else split(name, right)
    peaks = []
    for times in (2_000, 40_000):
        with open(tmp_path / "given.txt", "w") as file:
            file.write(head)
            file.writelines(body.replace("1,a,O", f"{k},a,O").replace("2,b,O", f"{k},b,O") for k in range(times))
        (tmp_path / "labels.xml").write_text(XML)
        tracemalloc.start()
        more = (
            {"at_once": 1000}
            if name in ("svmlight", "table rows", "jsonl rows", "mulan") or "multilabel" in name
            else {}
        )
        if name == "mulan":
            found = formats.iterate_mulan_rows(tmp_path / "given.txt", tmp_path / "labels.xml", **more)
        else:
            found = reader(tmp_path / "given.txt", **more)
        n = sum(1 for _ in found)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n >= times / 1000
    ids = 200 * 38_000 if name == "table sequences" else 0  # it remembers which sequences it has seen
    assert peaks[1] < peaks[0] + 300_000 + ids


def split(name, right):
    """The head of a file, and what may come many times."""
    at = right.index("@data\n") + 6 if name == "mulan" else right.index("\n") + 1
    return right[:at], right[at:]


def test_a_table_of_bytes_is_no_parquet_file(tmp_path):
    pytest.importorskip("pyarrow")
    for content in (b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1"):
        (tmp_path / "given.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"^given\.parquet is not a Parquet file, or it is damaged"):
            formats.read_table_rows(tmp_path / "given.parquet")
