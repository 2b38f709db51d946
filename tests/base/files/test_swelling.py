"""Files that swell: short files that would take much memory are refused before they do."""

import json
from math import inf

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.base.files import plain_data
from maxmargin.base.files.plain_data import DataReader, DataWriter

MB = 2**20


def reader(tensors, limit=None):
    return DataReader(tensors, lambda name: None, limit=limit)


def bits():
    """Return a megabyte of zeros and ones, compressed."""
    writer = DataWriter()
    found = writer.write(np.random.default_rng(0).integers(0, 2, MB).astype(np.uint8).tobytes(), "it")["bytes"]
    assert "packed" in found
    return writer.tensors, found


CRAFTED = {
    "an array named 2,000 times": ({"t0": np.zeros(MB, dtype=np.uint8)}, [{"array": "t0"}] * 2000),
    "its columns": ({"t0": np.zeros((1024, 1024), dtype=np.uint8)}, [{"columns": "t0"}] * 2000),
    "a packed array named 2,000 times": (bits()[0], [bits()[1]] * 2000),
    "weights of a large model": (
        {"t0": np.zeros(0, dtype=np.uint8), "t1": np.zeros(0)},
        [{"vector": 2**28, "steps": {"array": "t0"}, "values": {"array": "t1"}}],
    ),
    "sparse matrices that share arrays": (
        {"t0": np.zeros(MB // 8 + 1, dtype=np.int64), "t1": np.zeros(0, dtype=np.int64), "t2": np.zeros(0)},
        [{"csr": ["t0", "t1", "t2"], "shape": [MB // 8, 5], "sorted": True}] * 2000,
    ),
    "texts": ({}, [{"texts": ["a" * 2000, *[""] * 2], "shape": [3]}] * 60_000),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CRAFTED)
def test_a_short_file_that_would_take_a_gigabyte_is_refused(name):
    tensors, found = CRAFTED[name]
    reading = reader(tensors)
    with pytest.raises(ValueError, match="its values take more than 1,073,741,824 bytes, far more than the file"):
        read_each(reading, found)


def read_each(reading, found):
    """Read values one after the other, without keeping them, so that the test itself takes little memory."""
    for each in found:
        reading.read(each)


def test_many_objects_are_counted():
    entry = {"class": "TokenTemplates", "fields": {}}
    few = reader({}, limit=10 * plain_data.PER_PART)
    for _ in range(10):
        with pytest.raises(ValueError, match="unknown class"):
            few.add_part(entry)
    with pytest.raises(ValueError, match="take more than 20,480 bytes"):
        few.add_part(entry)


def test_the_limit_can_be_raised(tmp_path):
    model = mm.MulticlassSVC().fit([[0.0], [1.0], [2.0]], ["low", "mid", "high"])
    path = tmp_path / "model.mm"
    model.save(path)
    for limit in (None, 10**6, inf):
        assert (mm.load(path, limit=limit).w_ == model.w_).all()
    with pytest.raises(ValueError, match=r"model.mm cannot be loaded: its values take more than 50 bytes.*limit=…"):
        mm.load(path, limit=50)


def test_an_array_that_is_named_twice_is_not_shared():
    found = json.loads(json.dumps([{"array": "t0"}, {"array": "t0"}]))
    first, second = reader({"t0": np.arange(5)}).read(found)
    assert np.array_equal(first, second)
    assert not np.shares_memory(first, second)
