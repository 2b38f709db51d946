"""pack and open_packed: what a manifest may say, and what is said of others."""

import json
import sys

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.base.files import array_folder
from maxmargin.base.files.array_folder import MANIFEST

X = [[["a", "b"], ["c"]], [["a"], ["c", "d"]]]
Y = [["x", "y"], ["y", "x"]]


@pytest.fixture
def folder(tmp_path):
    mm.pack(zip(X, Y, strict=True), tmp_path / "folder", "sequences")
    return tmp_path / "folder"


def test_a_manifest_is_for_people_too(folder):
    told = json.loads((folder / MANIFEST).read_text())
    assert told["kind"] == "sequences"
    assert told["arrays"]["rows"]["length"] == 4
    assert set(told) == {"format", "kind", "versions", "parts", "data", "block", "arrays", "sha256"}
    assert np.load(folder / "offsets.npy", allow_pickle=False).tolist() == [0, 2, 4]


def test_what_cannot_be_packed_is_said(tmp_path):
    with pytest.raises(ValueError, match="kind must be one of 'sequences'"):
        mm.pack(zip(X, Y, strict=True), tmp_path / "folder", "trees")
    with pytest.raises(TypeError, match="colour"):
        mm.pack(zip(X, Y, strict=True), tmp_path / "folder", "sequences", colour=1)
    with pytest.raises(ValueError, match="which a model file cannot hold"):
        mm.pack([([["a"]], [test_what_cannot_be_packed_is_said])], tmp_path / "folder", "sequences")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.update(data=7), "does not say what the data are"),
        (lambda told: told.update(data=True), "does not say what the data are"),
        (lambda told: told.update(parts=None), "does not say what the data are"),
        (lambda told: told["parts"].__setitem__(0, {"class": "os.system", "fields": {}}), "has the unknown class"),
        (lambda told: told.update(data=0), "which is not packed data"),
        (lambda told: told["parts"][-1]["fields"].update(n=0), "PackedSequences.n: "),
        (lambda told: told["parts"][-1]["fields"].update(n_tokens=2**50), "PackedSequences.n_tokens: "),
        (lambda told: told["parts"][-1]["fields"].update(labels=["x", "x"]), "PackedSequences.labels: "),
        (
            lambda told: told["parts"][-1]["fields"].update(choices=["x"]),
            "set of allowed labels occurs twice or is a label",
        ),
        (
            lambda told: told["parts"][-1]["fields"].update(choices=[None, None]),
            "set of allowed labels occurs twice or is a label",
        ),
        (lambda told: told["parts"][-1]["fields"].update(folder="x"), "PackedSequences has no field 'folder'"),
        (lambda told: told["parts"][-1]["fields"].pop("packer"), "PackedSequences has no packer"),
    ],
)
def test_crafted_manifests_are_refused(folder, change, message):
    told = json.loads((folder / MANIFEST).read_text())
    del told["sha256"]
    change(told)
    signed = {**told, "sha256": array_folder._digest(array_folder._text(told).encode())}
    (folder / MANIFEST).write_text(json.dumps(signed))
    with pytest.raises(ValueError, match=message):
        mm.open_packed(folder)


def test_opening_runs_no_code(folder):
    mm.open_packed(folder)  # imports what it needs
    seen = []
    active = True

    def watch(event, arguments):
        if active and event in ("exec", "compile", "subprocess.Popen", "os.system", "pickle.find_class"):
            seen.append(event)

    sys.addaudithook(watch)
    mm.open_packed(folder).verify()
    active = False
    assert seen == []
