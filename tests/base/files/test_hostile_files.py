"""Files of people whom one does not trust: a ValueError, or a model that does no harm; soon, and in little memory."""

import contextlib
import gzip
import io
import json
import os
import pickle
import resource
import struct
import sys
import zipfile
import zlib
from itertools import islice

import numpy as np
import pytest
from base.files.fitted_models import MAKERS, made
from base.files.spoiling import crafted, damaged, parts_of, single_changes
from base.files.test_models import own

import maxmargin as mm
from maxmargin.base.files import container
from maxmargin.base.files.class_table import MODULES
from maxmargin.base.files.known_classes import known_class
from maxmargin.base.files.saving import model_bytes

QUICK, SLOW = 9, 410  # files per kind of model; the slow test makes more than 20,000
QUICK_STEP, SLOW_STEP = 503, 20  # of the files in which one field is changed, about 2,000 for every kind of model
FORBIDDEN = ("import", "exec", "compile", "socket.", "subprocess.", "os.system", "os.exec", "os.spawn", "pickle.")
WATCHED = []
ALLOWED_CALLS = 200_000  # of functions, while a file is loaded: a measure of work that no busy machine changes
ANSWERS = ("predict", "decision_function", "predict_proba", "predict_confidence", "predict_costs", "weights_")


def watch(event, arguments):
    if WATCHED and (event.startswith(FORBIDDEN) or (event == "open" and _writes(arguments))):
        WATCHED.append((event, str(arguments)[:200]))


def _writes(arguments):
    _, mode, flags = arguments
    return (mode is not None and set("wax+") & set(mode)) or flags & (os.O_WRONLY | os.O_RDWR)


sys.addaudithook(watch)


@pytest.fixture(autouse=True, scope="module")
def _imported():
    """All classes of the library, so that what is imported later is not its own."""
    for each in MODULES:
        known_class(each)


def load(path, task=None):
    """The model, or the ValueError; what it must not do is seen by the audit hook."""
    WATCHED.append("watching")
    try:
        return mm.load(path, task)
    except ValueError as error:
        return error
    finally:
        seen, WATCHED[:] = WATCHED[1:], []
        assert not seen, seen


@contextlib.contextmanager
def counted_calls():
    """Count the calls of functions, those in C among them; the count is the only entry of the list."""
    calls = [0]

    def count(frame, event, argument):
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def attack(kind, n, path, seed=0):
    """Load n spoiled files of this kind; those that load must answer, or raise an error of Python's."""
    rng = np.random.default_rng([seed, sorted(MAKERS).index(kind)])
    model, few = made(kind)
    content, task = model_bytes(model), own(model)
    description, tensors = parts_of(content)
    others = [model_bytes(made(name)[0]) for name in ("classes", "sequences_tokens")]
    path.write_bytes(content)
    mm.load(path, task)  # all that it needs is imported now
    assert not isinstance(load(path, task), ValueError)
    survived = 0
    for i in range(n):
        spoiled = damaged(rng, content, others) if i % 3 == 0 else crafted(rng, description, tensors)
        survived += survives(spoiled, path, few, task, (kind, seed, i))
    return survived


def attack_fields(kind, step, path):
    """The same with files of which one field is changed, every step-th of them."""
    model, few = made(kind)
    content, task = model_bytes(model), own(model)
    path.write_bytes(content)
    mm.load(path, task)
    changes = islice(single_changes(*parts_of(content)), 0, None, step)
    return sum(survives(spoiled, path, few, task, (kind, what)) for what, spoiled in changes)


def survives(spoiled, path, few, task, what):
    """Whether a file can be loaded, and does no harm then; `what` it is."""
    path.write_bytes(spoiled)
    with counted_calls() as calls:
        loaded = load(path, task)
    assert calls[0] < ALLOWED_CALLS, what
    if isinstance(loaded, ValueError):
        return False
    ask(loaded, few, what)
    return True


def ask(model, few, what):
    """A model from a crafted file may be useless, but its predictions read no memory that is not theirs."""
    for name in ANSWERS:
        said = ""
        try:
            found = getattr(model, name)
            if callable(found):
                found(few)
        except Exception as error:  # whatever Python says of odd numbers; a crash of the process would end the tests
            said = str(error)
        # These are the words of compiled code, where it looks (test_bounds_checked.py).
        assert said != "index is out of bounds", (what, name)


@pytest.mark.every(30)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(MAKERS))
def test_spoiled_files(kind, tmp_path):
    attack(kind, QUICK, tmp_path / "model.mm")


@pytest.mark.every(30)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(MAKERS))
def test_fields_changed_alone(kind, tmp_path):
    attack_fields(kind, QUICK_STEP, tmp_path / "model.mm")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MAKERS)
def test_many_spoiled_files(kind, tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attack(kind, SLOW, tmp_path / "model.mm", seed=1)
    attack_fields(kind, SLOW_STEP, tmp_path / "model.mm")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # kilobytes


# --- one mistake at a time


def changed(model, tmp_path, change):
    """A file whose header `change` has changed, and whose checksum is of the model before that."""
    content = model_bytes(model)
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    rest = change(header, content[8 + length :])
    text = json.dumps(header).encode()
    path = tmp_path / "model.mm"
    path.write_bytes(struct.pack("<Q", len(text)) + text + (content[8 + length :] if rest is None else rest))
    return path


def _last(header):
    return max((name for name in header if name != "__metadata__"), key=lambda n: header[n]["data_offsets"])


def overlap(header, content):
    entry = header[_last(header)]
    entry["data_offsets"] = [each - 8 for each in entry["data_offsets"]]


def same_place(header, content):
    header["twin"] = dict(header[_last(header)])


def gap(header, content):
    entry = header[_last(header)]
    entry["data_offsets"] = [each + 8 for each in entry["data_offsets"]]
    return content + bytes(8)


def too_large(header, content):
    header[_last(header)]["shape"] = [2**40]


def empty_at_an_odd_place(header, content):
    header["empty"] = {"dtype": "F64", "shape": [0], "data_offsets": [3, 3]}


def unknown_dtype(header, content):
    header[_last(header)]["dtype"] = "F8_E4M3"


def negative_shape(header, content):
    header[_last(header)]["shape"] = [-1, -8]


def another_version(header, content):
    text = header["__metadata__"]["maxmargin"]
    header["__metadata__"]["maxmargin"] = text.replace('"format":1', '"format":99')


def no_metadata(header, content):
    del header["__metadata__"]


HEADERS = {
    overlap: "overlaps another one",
    same_place: "overlaps another one",
    gap: "leaves a gap",
    too_large: "larger than the data",
    empty_at_an_odd_place: "overlaps another one, leaves a gap",
    unknown_dtype: "has an unknown type",
    negative_shape: "has the shape",
    another_version: "checksum is wrong",
    no_metadata: "is not a model file of maxmargin",
}


@pytest.mark.parametrize("change", HEADERS, ids=lambda change: change.__name__)
def test_headers(change, tmp_path):
    path = changed(made("classes")[0], tmp_path, change)
    with pytest.raises(ValueError, match=HEADERS[change]):
        mm.load(path)


def test_a_version_of_the_future(tmp_path):
    description, tensors = parts_of(model_bytes(made("classes")[0]))
    (tmp_path / "model.mm").write_bytes(container.written({**description, "format": 99}, tensors))
    with pytest.raises(ValueError, match=r"has format 99; this version of maxmargin knows the formats 1 to"):
        mm.load(tmp_path / "model.mm")


class Evil:
    def __reduce__(self):
        return os.system, ("echo this must not run > /dev/null",)


def _zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Evil()))
    return stream.getvalue()


def _many_arrays(n):
    entries = {f"t{k}": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for k in range(n)}
    text = json.dumps({"__metadata__": {"maxmargin": "{}"}, **entries}).encode()
    return struct.pack("<Q", len(text)) + text


OTHER_FILES = {
    "empty": b"",
    "short": b"abc",
    "text": b"# a text file with some lines\n" * 10,
    "pickle": pickle.dumps(Evil()),
    "zip": _zip(),
    "gzip": gzip.compress(pickle.dumps(Evil())),
    "header of 100,000 arrays": _many_arrays(100_000),
    "header of 2^63 bytes": struct.pack("<Q", 2**63) + b"{}" * 50,
    "33,000,000 bytes of lists": struct.pack("<Q", 33_000_004) + b'{"":' + b"[]," * 11_000_000,
    "deep JSON": struct.pack("<Q", 200_000) + b"[" * 200_000,
    "no object": struct.pack("<Q", 2) + b"[]",
    "a name twice": struct.pack("<Q", 13) + b'{"a":1,"a":2}',
    "a number of many digits": struct.pack("<Q", 10_007) + b'{"a":' + b"9" * 10_001 + b"}",
    "NaN": struct.pack("<Q", 9) + b'{"a":NaN}',
}


@pytest.mark.parametrize("what", OTHER_FILES)
def test_other_files(what, tmp_path):
    path = tmp_path / "model.mm"
    path.write_bytes(OTHER_FILES[what])
    with counted_calls() as calls:
        assert isinstance(load(path), ValueError)
    assert calls[0] < ALLOWED_CALLS


def test_bytes_that_grow(tmp_path):
    """A packed array that would fill the memory."""
    description, tensors = parts_of(model_bytes(made("sequences_tokens")[0]))
    short = np.frombuffer(zlib.compress(bytes(2**24)), dtype=np.uint8)
    entry = next(part for part in description["parts"] if part["class"] == "Vocabulary")
    entry["fields"]["text"] = {"bytes": {"packed": "bomb", "dtype": "|u1", "length": 2**24}}
    (tmp_path / "model.mm").write_bytes(container.written(description, {**tensors, "bomb": short}))
    with pytest.raises(ValueError, match="which is too many"):
        mm.load(tmp_path / "model.mm")
    entry["fields"]["text"]["bytes"]["length"] = 100
    (tmp_path / "model.mm").write_bytes(container.written(description, {**tensors, "bomb": short}))
    with pytest.raises(ValueError, match="differs from what the file says"):
        mm.load(tmp_path / "model.mm")


def test_a_link_to_another_file(tmp_path):
    """Is what it leads to."""
    target, link = tmp_path / "other", tmp_path / "model.mm"
    target.write_bytes(pickle.dumps(Evil()))
    link.symlink_to(target)
    assert isinstance(load(link), ValueError)
    target.write_bytes(model_bytes(made("classes")[0]))
    assert isinstance(load(link), mm.MulticlassSVC)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["classes", "sequences_hashed", "parser_words", "counted_classes"])
def test_weights_that_are_no_numbers(kind, number, tmp_path):
    """Written as they are, without their zeros, and packed."""
    description, tensors = parts_of(model_bytes(made(kind)[0]))
    fields = description["parts"][description["model"]]["fields"]
    found = fields.get("w_", fields.get("dual_coef_"))
    found = found.get("values", found)
    if "packed" in found:
        name = found["packed"]
        values = np.frombuffer(zlib.decompress(tensors[name].tobytes())).copy()
        values[len(values) // 2] = number
        tensors[name] = np.frombuffer(zlib.compress(values.tobytes()), dtype=np.uint8)
    else:
        name = found.get("array", found.get("columns"))
        tensors[name] = tensors[name].copy()
        tensors[name].flat[0] = number
    (tmp_path / "model.mm").write_bytes(container.written(description, tensors))
    with pytest.raises(ValueError, match="finite"):
        mm.load(tmp_path / "model.mm")


@pytest.mark.parametrize("many", [10**9, 2**28, 2**40])
def test_a_model_of_many_labels(many, tmp_path):
    """That a file says to have, in a few bytes."""
    for kind, classes in {"sequences": "classes_", "classes": "classes_", "graph": "classes_"}.items():
        description, tensors = parts_of(model_bytes(made(kind)[0]))
        task = next(part["fields"] for part in description["parts"] if "dim" in part["fields"])
        for value in ({"range": [0, many, 1]}, {"texts": ["a"], "shape": [many]}, many):
            before, task[classes] = task[classes], value
            (tmp_path / "model.mm").write_bytes(container.written(description, tensors))
            assert isinstance(load(tmp_path / "model.mm"), ValueError)
            task[classes] = before
        task["dim"] = many
        (tmp_path / "model.mm").write_bytes(container.written(description, tensors))
        assert isinstance(load(tmp_path / "model.mm"), ValueError)


def test_weights_of_another_length(tmp_path):
    for kind in ("classes", "sequences_tokens", "graph", "aligner"):
        description, tensors = parts_of(model_bytes(made(kind)[0]))
        fields = description["parts"][description["model"]]["fields"]["w_"]
        name = fields.get("array", fields.get("values", {}).get("array") if "values" in fields else None)
        tensors[name] = np.append(tensors[name], 1.0)
        (tmp_path / "model.mm").write_bytes(container.written(description, tensors))
        with pytest.raises(ValueError, match=r"w_: expected|weights do not fit"):
            mm.load(tmp_path / "model.mm")
