"""What can go wrong with a command, in real processes: each case ends in one sentence, and no file is lost.

A case is a shell command in a folder with data and models. After it, every file that was there is as it was, except
those that the case writes, no draft is left, and nothing on standard error is a traceback.
"""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from shell import ENVIRONMENT

COMMAND = f'"{sys.executable}" -m maxmargin'


class Case(NamedTuple):
    """A command, its exit code, a piece of its message, and the files that it may write."""

    command: str
    code: int
    message: str = ""
    writes: tuple[str, ...] = ()


PRINTING = (
    "predict rows.mm test.svm",
    "score rows.mm test.svm",
    "inspect rows.mm",
    "certify rows.mm train.svm",
    "convert train.svm --to jsonl --of rows",
    "report rows.mm --data test.svm",
    "completion",
    "--version",
    "--help",
    "fit --help",
)
WRITING = (
    "predict rows.mm test.svm -o {}",
    "convert test.conll --to jsonl --of sequences -o {}",
    "report rows.mm --data test.svm -o {}",
    "fit classes train.svm -q -o {}",
    "predict tagger.mm test.conll -o {}",
    "convert train.svm --to jsonl --of rows -o {}",
)
READING = (
    "predict rows.mm",
    "score rows.mm -",
    "certify rows.mm -",
    "convert --to jsonl --of sequences",
    "report rows.mm --data -",
    "fit classes - -o new.mm",
    "pack classes - -o folder",
)


def full_disk(command: str, output: str, writes: tuple[str, ...] = ()) -> Case:
    """Return a case in which no file can grow: once as usual, which fills caches, then without space."""
    once = f"{command.format('before')} > /dev/null 2>&1; rm -r before; ulimit -f 0"
    return Case(f"{once}; {COMMAND} {command.format(output)}", 2, f"{output}: File too large" * (not writes), writes)


def cases():
    yield from (Case(f"{each} >&-", 2, "standard output: it is closed") for each in PRINTING)
    yield from (Case(f"{each} > /dev/full", 2, "standard output: No space left on device") for each in PRINTING)
    yield from (Case(f"{each} 2>&-", 0) for each in PRINTING)
    yield from (Case(f"{each} <&-", 0) for each in PRINTING)
    yield from (Case(f"{each} <&-", 2, "standard input is closed") for each in READING)
    yield from (Case(f"{each} <&- 2>&-", 2) for each in READING)
    yield from (Case(f"{each} 0> ignored", 2, "<stdin>: Bad file descriptor", ("ignored",)) for each in READING[:3])
    for each in WRITING:
        quiet = "" if "convert" in each else " -q"
        yield Case(f"{each.format('old')}{quiet} <&- 2>&-", 0, "", ("old",))
        yield full_disk(each, "old")
        yield Case(each.format("link"), 0, "", ("old",))
        yield Case(each.format("nowhere/new"), 2, "nowhere")
        yield Case(each.format("some"), 3, "some is a folder")
        if "fit" not in each:  # models are not written to devices
            yield Case(each.format("/dev/full"), 2, "/dev/full: No space left on device")
            yield Case(each.format("/dev/null"), 0)
            yield Case(each.format("old.gz"), 0, "", ("old.gz",))
            yield full_disk(each, "old.xz")
    yield full_disk("pack classes train.svm -o {}", "folder")
    yield full_disk("pack sequences train.conll -o {}", "folder")
    yield full_disk("demo --files {}", "folder", ("folder",))
    # outputs that name an input
    yield Case("predict tagger.mm copy.conll -o copy.conll", 0, "", ("copy.conll",))
    yield Case("predict tagger.mm copy.conll -o copy_link.conll", 0, "", ("copy.conll",))
    yield Case("predict tagger.mm copy_link.conll -o copy.conll", 0, "", ("copy.conll",))
    yield Case("predict tagger.mm copy.conll -o copy_hard.conll", 0, "", ("copy_hard.conll",))
    yield Case("convert copy.conll -o copy.conll --chunks BILOU", 0, "", ("copy.conll",))
    yield Case("convert copy_link.conll -o copy_link.conll --chunks BILOU", 0, "", ("copy.conll",))
    yield Case("convert copy.conll -o ./copy.conll --to crfsuite", 0, "", ("copy.conll",))
    yield Case("convert bad.conll -o bad.conll --to jsonl", 3, "bad.conll, line")
    yield Case("predict tagger.mm bad.conll -o bad.conll", 3, "bad.conll, line")
    yield Case("predict tagger.mm copy.conll -o tagger.mm", 2, "would replace tagger.mm")
    yield Case("report rows.mm --data test.svm -o rows.mm", 2, "would replace rows.mm")
    yield Case("report rows.mm --data test.svm -o test.svm", 2, "would replace test.svm")
    yield Case("fit classes train.svm -o train.svm", 2, "would replace train.svm")
    yield Case("fit classes train.svm --valid test.svm -o test.svm", 2, "would replace test.svm")
    yield Case("fit taxonomy fruit.csv --tree fruit.tree -o fruit.tree", 2, "would replace fruit.tree")
    yield Case("fit classes train.svm -o new.mm --checkpoint train.svm", 2, "--checkpoint train.svm would replace")
    yield Case("fit classes train.svm --valid test.svm -o new.mm --checkpoint ./test.svm", 2, "would replace test.svm")
    yield Case("fit classes train.svm -o new.mm --checkpoint ./new.mm", 2, "-o and --checkpoint both name new.mm")
    yield Case("fit classes train.svm -o new.mm --checkpoint rows.mm", 3, "rows.mm is not a checkpoint")
    yield Case("demo --files changed", 2, "changed/train.svm exists and is no example file")
    yield Case("demo --files old", 2, "old is a file; expected a folder")
    yield Case("demo --files .", 0)
    # other faults
    yield Case("inspect rows.mm -n 0", 0)
    yield Case("inspect tagger.mm -n 0 --json", 0)
    yield Case("inspect rows.mm -n -1", 2, "expected a number of weights >= 0")
    yield Case("fit taxonomy fruit.csv -o new.mm", 2, "give the taxonomy")
    yield Case("fit sequences packed_rows -o new.mm", 3, "packed_rows holds packed classes; expected packed sequences")
    yield Case("certify tagger.mm packed_rows", 3, "expected packed sequences")
    yield Case("fit classes packed_sentences -o new.mm", 3, "holds packed sequences; expected packed classes")
    yield Case("fit ranking packed_rows -o new.mm", 3, "holds packed classes; expected packed ranking")
    yield Case("certify rows.mm packed_sentences", 3, "holds packed sequences; expected packed classes")
    yield Case("fit classes some -o new.mm", 3, "some is not a packed folder")
    yield Case("predict rows.mm some", 2, "some: Is a directory")
    yield Case("predict some test.svm", 2, "some: Is a directory")
    yield Case("predict nowhere.mm test.svm", 2, "nowhere.mm: No such file or directory")
    yield Case("predict test.svm test.svm", 3, "not a model file")
    yield Case("predict cut.mm test.svm", 3, "cut.mm")
    yield Case("predict empty test.svm", 3, "not a model file")
    yield Case("fit classes empty -o new.mm", 3, "no row in empty")
    yield Case("fit sequences empty -o new.mm", 3, "no sentence in empty")
    yield Case("fit sequences long.conll -o new.mm", 3, "long.conll, line 1: the line has")
    yield Case("fit sequences lines.conll.gz -o new.mm", 3, "lines.conll.gz holds more than")
    yield Case("fit sequences binary.conll -o new.mm", 3, "binary.conll, line 1: this is not UTF-8 text")
    yield Case("fit classes train.svm", 2, "-o MODEL")
    yield Case("fit classes train.svm -o -", 2, "standard output")
    yield Case("fit nothing train.svm -o new.mm", 2, "there is no kind 'nothing'")
    yield Case("predict rows.mm test.svm --format conll", 2, "expected one of")
    yield Case("predict tagger.mm test.svm -o old", 3, "", ())


CASES = list(cases())


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with everything that the cases read; each case has a copy of it."""
    data = tmp_path_factory.mktemp("faults")
    for command in (
        "demo --files .",
        "fit classes train.svm -o rows.mm -q",
        "fit sequences train.conll -o tagger.mm -q",
        "pack classes train.svm -o packed_rows -q",
        "pack sequences train.conll -o packed_sentences -q",
    ):
        subprocess.run([sys.executable, "-m", "maxmargin", *command.split()], cwd=data, env=ENVIRONMENT, check=True)
    shutil.copy(data / "test.conll", data / "copy.conll")
    (data / "copy_link.conll").symlink_to("copy.conll")
    os.link(data / "copy.conll", data / "copy_hard.conll")
    for name in ("old", "old.gz", "old.xz"):
        (data / name).write_bytes(b"old content")
    (data / "link").symlink_to("old")
    (data / "some").mkdir()
    (data / "changed").mkdir()
    (data / "changed" / "train.svm").write_text("0 1:1\n")
    (data / "empty").write_bytes(b"")
    (data / "cut.mm").write_bytes((data / "rows.mm").read_bytes()[:-20])
    (data / "bad.conll").write_text((data / "test.conll").read_text() * 50 + "one\n")
    (data / "long.conll").write_text("a " * 2**20 + "O\n")
    (data / "binary.conll").write_bytes(bytes(range(128, 256)))
    (data / "lines.conll.gz").write_bytes(gzip.compress(b"\n" * 2**24))
    return data


def contents(folder: Path) -> dict[str, object]:
    """Return what is in a folder: the bytes of files, the targets of links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


@pytest.mark.every(79)
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_fault_is_one_sentence_and_no_file_is_lost(case, data, tmp_path):
    place = tmp_path / "case"
    shutil.copytree(data, place, symlinks=True)
    (place / "copy_hard.conll").unlink()
    os.link(place / "copy.conll", place / "copy_hard.conll")
    before = contents(place)
    done = subprocess.run(
        ["sh", "-c", f"{COMMAND} {case.command}"],
        cwd=place,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        input="",
        timeout=300,
    )
    said = f"{case.command}\n{done.stderr}"
    assert done.returncode == case.code, said
    assert "Traceback" not in done.stderr, said
    assert "Exception ignored" not in done.stderr, said
    if case.code and "2>&-" not in case.command:
        assert done.stderr.splitlines()[-1].startswith("maxmargin"), said
        assert case.message in done.stderr, said
    after = contents(place)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    allowed = {name for name in changed if name.split("/")[0] in case.writes}
    assert changed - allowed == set(), said
    if case.code == 0 and case.writes:
        assert changed, said
        assert all(after[name] for name in case.writes), said


def test_there_are_many_cases():
    assert len(CASES) >= 120
