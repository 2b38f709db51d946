"""maxmargin explain: the same contributions as the method `explain` of the model in the file."""

import json
from math import isclose
from pathlib import Path

import pytest
from command.command_files import KINDS, MORE, text

import maxmargin as mm


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_every_kind_are_explained(run, kind):
    data, more = KINDS[kind][0], MORE.get(kind, ())
    code, out = run("explain", f"{kind}.mm", data, *more, "--example", "1", "-n", "100000", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["example"] == 1
    assert isclose(told["total"], sum(each["contribution"] for each in told["contributions"]), abs_tol=1e-9)
    code, out = run("explain", f"{kind}.mm", data, *more, "--example", "1", "-n", "2", "-q")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "example 1"
    assert lines[1].startswith(f"{type(mm.load(f'{kind}.mm')).__name__}: score of ")
    assert told["contributions"][0]["name"][:40] in lines[2]
    code, out = run("explain", f"{kind}.mm", data, *more)
    assert code == 0
    assert "example" in out


def test_mistakes_are_compared_with_the_truth(run):
    Path("wrong.conll").write_text(text("test.conll").replace("B-PER", "B-LOC").replace("I-PER", "I-LOC"))
    code, out = run("explain", "sequences.mm", "wrong.conll", "--worst", "2", "--json")
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(told) == 2
    for each in told:
        assert "PER" in each["output"]
        assert "LOC" in each["against"]
        assert each["total"] > 0
    code, out = run("explain", "sequences.mm", "wrong.conll", "--worst", "1")
    assert code == 0
    assert "minus score of" in out


def test_one_position(run):
    code, out = run("explain", "sequences.mm", "test.conll", "--example", "0", "--at", "1", "--json")
    assert code == 0
    assert {each["unit"] for each in json.loads(out)["contributions"]} <= {
        "position 1",
        "transition 0–1",
        "transition 1–2",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sequences.mm", "test.conll", "--example", "100000"), 2, "--example is 100000; expected a number from 0 to"),
        (("sequences.mm", "test.conll", "--example", "-1"), 2, "--example is -1; expected a number from 0 to"),
        (("sequences.mm", "test.conll", "--example", "0", "--at", "99"), 3, "no part of the output is there"),
        (("ranking.mm", "train.letor", "--example", "0", "--at", "0"), 2, "--at is for outputs with parts"),
        (("sequences.mm", "test.conll", "-n", "0"), 2, "-n is 0; expected a number of contributions >= 1"),
        (("sequences.mm", "test.conll", "--worst", "0"), 2, "--worst is 0; expected a number of examples >= 1"),
        (("sequences.mm", "no such file"), 2, "no such file"),
    ],
)
def test_faults(run, arguments, code, message):
    assert run("explain", *arguments)[0] == code
    assert message in run.err


def test_kernels_have_no_contributions(run):
    assert run("fit", "classes", "train.svm", "-o", "rbf.mm", "-q", "-c", "1", "--kernel", "rbf")[0] == 0
    assert run("explain", "rbf.mm", "train.svm", "--example", "0")[0] == 3
    assert "with a kernel has no weights of features" in run.err


def test_help_reads_well(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out = run("explain", "--help")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
