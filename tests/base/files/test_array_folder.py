"""Folders of arrays: what was written comes back, and what was not written so is refused."""

import json
import os
import pickle
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from thorough import THOROUGH, examples

from maxmargin.base.files import array_folder
from maxmargin.base.files.array_folder import MANIFEST, ArrayFolder, ArrayFolderWriter

SAYS = "damaged|has format"
KINDS = [np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64]


def written(folder, arrays, about=None):
    """A folder with these arrays, each in pieces."""
    with ArrayFolderWriter(folder) as writer:
        for name, pieces in arrays.items():
            for piece in pieces:
                writer.append(name, piece)
        writer.finish(about or {})
    return folder


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "data", {"a": [np.arange(5, dtype=np.int64)], "b": [np.linspace(0, 1, 3)]}, {"x": "é"})


@st.composite
def pieces(draw):
    kind = draw(st.sampled_from(KINDS))
    return draw(st.lists(st_numpy.arrays(kind, st.integers(0, 40)), min_size=1, max_size=4))


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), pieces(), max_size=3))
@examples(10, 30)
def test_arrays_come_back_as_they_were(tmp_path_factory, arrays):
    base = tmp_path_factory.mktemp("folders")
    opened = ArrayFolder(written(base / "data", arrays, {"told": [1, None, "x"]}))
    assert opened.about == {"told": [1, None, "x"]}
    for name, parts in arrays.items():
        expected = np.concatenate(parts)
        assert opened.arrays[name].dtype == expected.dtype
        np.testing.assert_array_equal(opened.arrays[name], expected)
        assert not opened.arrays[name].flags.writeable
        opened.verify(name)
        np.testing.assert_array_equal(np.load(base / "data" / f"{name}.npy", allow_pickle=False), expected)
    assert os.listdir(base) == ["data"]  # and no draft


def test_pieces_are_verified_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr(array_folder, "BLOCK", 4096)
    numbers = np.arange(5000, dtype=np.int64)
    path = written(tmp_path / "data", {"a": np.array_split(numbers, 7)}) / "a.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # in the last block
    path.write_bytes(content)
    opened = ArrayFolder(tmp_path / "data")
    opened.verify("a", 0, 4000)
    with pytest.raises(ValueError, match=r"a\.npy is damaged: a checksum is wrong"):
        opened.verify("a", 4000, 5000)
    with pytest.raises(ValueError, match="checksum"):
        list(opened.pieces("a", at_once=1000))


def test_a_pickle_has_no_numbers(tmp_path):
    opened = ArrayFolder(written(tmp_path / "data", {"a": [np.arange(10_000, dtype=np.int64)]}))
    content = pickle.dumps(opened)
    assert len(content) < 1000
    np.testing.assert_array_equal(pickle.loads(content).arrays["a"], np.arange(10_000))
    shutil.rmtree(tmp_path / "data")
    written(tmp_path / "data", {"a": [np.arange(10_000, dtype=np.int64) + 1]})
    with pytest.raises(ValueError, match="packed again"):
        pickle.loads(content)


def test_nothing_stays_behind_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="arrays of object"):
        written(tmp_path / "data", {"a": [np.arange(5)], "b": [np.array([None])]})
    assert os.listdir(tmp_path) == []


def test_what_is_there_is_not_written_over(folder, tmp_path):
    with pytest.raises(ValueError, match="already exists"):
        ArrayFolderWriter(folder)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="already exists"):
        ArrayFolderWriter(tmp_path / "link")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ArrayFolderWriter(tmp_path / "not" / "there")
    (tmp_path / "empty").mkdir()
    assert len(ArrayFolder(written(tmp_path / "empty", {"a": [np.arange(3)]})).arrays["a"]) == 3


def test_only_numbers_that_kernels_take_are_written(tmp_path):
    with pytest.raises(ValueError, match="arrays of object"), ArrayFolderWriter(tmp_path / "data") as writer:
        writer.append("a", np.array([None]))


# --- folders that nobody has written so


def opens(folder):
    """Open a folder and read all of its numbers."""
    opened = ArrayFolder(folder)
    for name in opened.arrays:
        opened.verify(name)


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["a.npy", "b.npy", MANIFEST])
def test_every_byte_counts(folder, file):
    content = (folder / file).read_bytes()
    step = 1 if THOROUGH else 7
    for k in range(0, len(content), step):
        spoiled = bytearray(content)
        spoiled[k] ^= 0x11
        (folder / file).write_bytes(spoiled)
        with pytest.raises(ValueError, match=SAYS):
            opens(folder)
    for k in range(0, len(content), step):
        (folder / file).write_bytes(content[:k])
        with pytest.raises(ValueError, match=SAYS):
            opens(folder)
    (folder / file).write_bytes(content + b"0")
    with pytest.raises(ValueError, match=SAYS):
        opens(folder)


def signed(folder, change):
    """Change the manifest, and give it a right checksum."""
    path = folder / MANIFEST
    told = json.loads(path.read_text())
    del told["sha256"]
    change(told)
    path.write_text(json.dumps({**told, "sha256": array_folder._digest(array_folder._text(told).encode())}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told["arrays"].update({"../b": told["arrays"].pop("b")}), "has an entry '../b'"),
        (lambda told: told["arrays"].update({"/etc/b": told["arrays"].pop("b")}), "has an entry '/etc/b'"),
        (lambda told: told["arrays"].update(c=told["arrays"]["b"]), "has no c.npy"),
        (lambda told: told["arrays"].update(b=None), "has an entry 'b'"),
        (lambda told: told["arrays"]["b"].update(length=10**12), "number of checksums"),
        (lambda told: told["arrays"]["b"].update(length=2**70), "the length 1180591620717411303424"),
        (lambda told: told["arrays"]["b"].update(length=4), "type or size"),
        (lambda told: told["arrays"]["b"].update(length=-1), "length -1"),
        (lambda told: told["arrays"]["b"].update(length=True), "length True"),
        (lambda told: told["arrays"]["b"].update(dtype="<i8"), "type or size"),
        (lambda told: told["arrays"]["b"].update(dtype="|O8"), "the type"),
        (lambda told: told["arrays"]["b"].update(sha256="x"), "number of checksums"),
        (lambda told: told["arrays"]["b"].update(sha256=["x"]), "a checksum is wrong"),
        (lambda told: told.update(arrays=[]), "lists no arrays"),
        (lambda told: told.update(block=0), "lists no arrays"),
        (lambda told: told.update(format=2), "format 2"),
    ],
)
def test_a_crafted_manifest_is_refused(folder, change, message):
    signed(folder, change)
    with pytest.raises(ValueError, match=message):
        opens(folder)


def test_links_and_pipes_are_refused(folder, tmp_path):
    shutil.move(folder / "a.npy", tmp_path / "a.npy")
    with pytest.raises(ValueError, match=r"has no a\.npy"):
        opens(folder)
    (folder / "a.npy").symlink_to(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="is a link"):
        opens(folder)
    (folder / "a.npy").unlink()
    os.mkfifo(folder / "a.npy")
    with pytest.raises(ValueError, match="a device or a pipe"):
        opens(folder)


def test_what_is_no_folder_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ArrayFolder(tmp_path / "data")
    with pytest.raises(ValueError, match="not a packed folder"):
        ArrayFolder(tmp_path)
    (tmp_path / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(ValueError, match="damaged"):
        ArrayFolder(tmp_path)


def test_pickled_arrays_are_never_read(folder):
    np.save(folder / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged"):
        opens(folder)
