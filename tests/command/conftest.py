"""A folder with files and a model of every kind, and a way to run commands there."""

import io
import os
import sys

import pytest
from command.command_files import KINDS

from maxmargin.command.main import main


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files to learn from, and a model of every kind."""
    folder = tmp_path_factory.mktemp("files")
    assert main(["demo", "--files", str(folder)]) == 0
    rows = (folder / "train.svm").read_text().splitlines(keepends=True)
    (folder / "three.conll").write_text("a D O\n")
    (folder / "narrow.svm").write_text("0 1:1\n1 2:1\n2 3:1\n")
    (folder / "wide.svm").write_text("0 1:1\n1 2:1\n2 3:1 99:1\n")
    (folder / "uneven.conll").write_text("a O\nb c O\n")
    (folder / "two.svm").write_text("".join(row for row in rows if row[0] != "2"))
    before = os.getcwd()
    os.chdir(folder)
    for kind, (data, *options) in KINDS.items():
        C = [] if kind == "multilabel" else ["-c", "10"]
        assert main(["fit", kind, data, "-o", f"{kind}.mm", "-q", *C, *options]) == 0, kind
    os.chdir(before)
    return folder


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Run a command in the folder; returns exit code and standard output, and asks of errors that they are one line."""
    monkeypatch.chdir(folder)

    def run(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        run.err = err
        if code in (2, 3):
            said = [line for line in err.splitlines() if not line.startswith("read ")]  # fit has read the data
            assert len(said) == 1
            assert said[0].startswith("maxmargin")
            assert "Traceback" not in err
        return code, out

    return run
