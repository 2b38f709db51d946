"""The command line as people run it: processes, pipes, a terminal, Ctrl-C."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest
from command.command_files import KINDS, MORE
from report.pages import checked
from shell import COMMAND, ENVIRONMENT, run_script


def test_help_imports_nothing_that_takes_long():
    python, *rest = COMMAND
    command = [python, "-X", "importtime", *rest, "--help"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "maxmargin fit sequences" in done.stdout
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "maxmargin" in imported
    assert not imported & {"numpy", "scipy", "sklearn", "numba", "pandas", "rich", "joblib"}


@pytest.mark.slow
def test_all_commands_in_pipes(tmp_path):
    done = run_script(
        """
        maxmargin demo --files data > /dev/null
        cat data/train.conll | maxmargin fit sequences - -o tagger.mm -c 10 --forbidden BIO -q
        cut -d ' ' -f 1 data/test.conll | maxmargin predict tagger.mm | head -2
        cat data/test.conll | maxmargin score tagger.mm - --json -q
        maxmargin inspect tagger.mm | grep kind
        cat data/train.conll | maxmargin certify tagger.mm - -q > certificate.txt
        maxmargin convert --chunks BILOU < data/train.conll | sed -n 2p
        cat data/test.conll | maxmargin report tagger.mm --data - -q > page.html
        maxmargin report tagger.mm --data data/test.conll -o other.html | sed -n 1p
        """,
        tmp_path,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == [
        "Ada B-PER",
        "Lovelace I-PER",
        '{"right labels": 1.0, "precision": 1.0, "recall": 1.0, "F1": 1.0}',
        "kind         sequences",
        "Lovelace L-PER",
        "page                         other.html",
    ]
    assert "relative gap" in (tmp_path / "certificate.txt").read_text()
    page, other = ((tmp_path / name).read_text(encoding="utf-8") for name in ("page.html", "other.html"))
    described = re.compile("<dt>data</dt><dd>[^<]*</dd>")  # standard input has no name
    assert described.sub("", page) == described.sub("", other)
    assert checked(page)
    locale = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"  # whatever it is, texts are UTF-8
    done = run_script(f"{locale} maxmargin predict tagger.mm < data/test.conll | grep ttingen", tmp_path)
    assert set(done.stdout.splitlines()) == {"Göttingen B-LOC B-LOC"}
    done = run_script("printf '1 x\\n' | maxmargin fit classes - -o m.mm", tmp_path)
    assert done.returncode == 3
    assert done.stderr == "maxmargin: <stdin>, line 1: 'x' is not a feature; expected its number and its value, 3:0.5\n"


def made_up(folder):
    """Rows without any rule, on which training takes long."""
    lines = [
        f"{(k * 7919) % 13} " + " ".join(f"{j + 1}:{(k * 31 + j * j * 17) % 97}" for j in range(60))
        for k in range(4000)
    ]
    (folder / "noise.svm").write_text("\n".join(lines) + "\n")
    return [*COMMAND, "fit", "classes", "noise.svm", "-o", "m.mm", "-c", "1e6", "-e", "1e-9", "--max-passes", "inf"]


@pytest.mark.slow
def test_ctrl_c_saves_the_best_model_so_far(tmp_path):
    with subprocess.Popen(
        made_up(tmp_path), cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        for line in run.stderr:
            if line.startswith("pass "):
                break
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=100)
    assert run.returncode == 0
    assert "training was interrupted; the model is the best one so far" in err
    assert "the best model so far was saved to m.mm" in err
    assert "interrupted" in out
    done = subprocess.run(
        [*COMMAND, "score", "m.mm", "noise.svm", "-q"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.stdout.startswith("right classes  0.")


def in_a_terminal(command, folder, stop_at=None):
    """What a command shows there, and its exit code; Ctrl-C is pressed once it has shown something."""
    leader, follower = pty.openpty()
    run = subprocess.Popen(command, cwd=folder, env={**ENVIRONMENT, "COLUMNS": "80"}, stdout=follower, stderr=follower)
    os.close(follower)
    shown, deadline = b"", time.monotonic() + 200
    try:
        while more := os.read(leader, 4096):
            shown += more
            if stop_at is not None and (stop_at in shown or time.monotonic() > deadline):
                run.send_signal(signal.SIGINT)
                stop_at = None
    except OSError:  # the terminal is gone with the process
        pass
    os.close(leader)
    return shown, run.wait(timeout=100)


@pytest.mark.slow
def test_on_a_terminal_there_is_a_live_line(tmp_path):
    shown, code = in_a_terminal(made_up(tmp_path), tmp_path, stop_at=b"gap")
    assert code == 0
    assert b"\x1b[" in shown  # drawn anew
    assert b"saved to m.mm" in shown


def made_up_sentences(folder, n):
    """Labels without any rule, on which training takes long."""
    with open(folder / "noise.conll", "w") as file:
        for k in range(n):
            file.writelines(
                f"w{(7919 * k + 31 * t * t) % 1009} {('O', 'B-x', 'B-y', 'I-x', 'O')[(k * k + 3 * t * t) % 5]}\n"
                for t in range(12)
            )
            file.write("\n")


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_model_of_a_new_kind_on_a_terminal(tmp_path):
    made_up_sentences(tmp_path, 2000)
    command = [*COMMAND, "fit", "segments", "noise.conll", "-o", "m.mm", "-c", "1e5", "-e", "1e-9"]
    shown, code = in_a_terminal([*command, "--max-passes", "inf"], tmp_path, stop_at=b"gap")
    assert code == 0
    assert b"the best model so far was saved to m.mm" in shown
    done = subprocess.run(
        [*COMMAND, "predict", "m.mm", "noise.conll", "-q"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("\n\n") == 2000


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [False, True])
def test_progress_of_several_c_is_told_over_all_and_of_each(tmp_path, terminal):
    made_up_sentences(tmp_path, 200)
    command = [*COMMAND, "fit", "sequences", "noise.conll", "-o", "m.mm", "--c", "0.1,1,10", "--valid", "noise.conll"]
    if terminal:
        shown, code = in_a_terminal(command, tmp_path)
        shown = shown.decode()
        assert "\x1b[" in shown
        assert "gap" in shown.partition("C 1 of 3")[0]  # of the first fit
    else:
        done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
        shown, code = done.stderr, done.returncode
        assert "\x1b[" not in shown
        assert re.match(r"read .*\nC  ", done.stdout)
    assert code == 0
    for k, C in enumerate(("0.1", "1", "10"), 1):
        assert f"C {k} of 3: {C}  score 0." in shown
    assert "best so far" in shown


INPUTS = {"multilabel": "--labels songs.xml"}  # what standard input cannot say


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_pipes_and_on_a_terminal(tmp_path, kind):
    data, *options = KINDS[kind]
    script = f"""
        maxmargin demo --files . > /dev/null
        grep -v ^2 train.svm > two.svm
        cat {data} | maxmargin fit {kind} - -o m.mm -q {format_of(data)} {INPUTS.get(kind, "")} {" ".join(options)}
        cat {data} | maxmargin predict m.mm -q {format_of(data)} > piped.txt
        maxmargin predict m.mm {data} -o written.txt -q
        cmp piped.txt written.txt
        cat {data} | maxmargin score m.mm - --json -q {format_of(data)} {" ".join(MORE.get(kind, ()))}
    """
    done = run_script(script, tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    least = 0.5 if kind == "diversity" else 0.9  # the few documents that are chosen cannot cover all subtopics
    assert all(least < value <= 1 for value in json.loads(done.stdout).values()), done.stdout
    shown, code = in_a_terminal([*COMMAND, "inspect", "m.mm"], tmp_path)
    assert code == 0
    assert all(len(line) <= 80 for line in shown.decode().splitlines())
    more = INPUTS.get(kind, "").split()
    shown, code = in_a_terminal([*COMMAND, "fit", kind, "nowhere", "-o", "m.mm", *more], tmp_path)
    assert (code, shown.decode().strip()) == (2, "maxmargin: nowhere: No such file or directory")


def format_of(name):
    """Of what comes from standard input: the name of the file would say it."""
    for suffix, form in ((".csv", "table"), (".jsonl", "jsonl")):
        if name.endswith(suffix) and name not in ("graphs.jsonl", *(f"{each}.jsonl" for each in ONLY_RECORDS)):
            return f"--format {form}"
    return ""


ONLY_RECORDS = ("clusters", "assignments", "documents", "homologs")


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error(tmp_path):
    done = run_script(
        "maxmargin demo --files data > /dev/null; maxmargin fit classes data/train.svm -o m.mm -q; "
        "for k in $(seq 2000); do cat data/train.svm; done > long.svm; maxmargin predict m.mm long.svm -q | head -1",
        tmp_path,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path):
    (tmp_path / "test.sh").write_text(
        """
        source completion.sh
        complete_after() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _maxmargin; echo "${COMPREPLY[@]}"; }
        complete_after maxmargin pre
        complete_after maxmargin fit se
        complete_after maxmargin fit sequences train.conll --forb
        complete_after maxmargin score model.mm --js
        complete_after maxmargin score mo
        """
    )
    done = run_script("maxmargin completion > completion.sh; bash -u test.sh", tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == ["predict", "sequences segments", "--forbidden", "--json", ""]
