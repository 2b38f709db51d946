"""A parser lists its commands and options, and says what is wrong in one sentence."""

import pytest

from maxmargin import SequenceLabeler
from maxmargin.command.command_parser import CommandParser
from maxmargin.command.options import descriptions
from maxmargin.command.parser import words_after


def parser():
    made = CommandParser(prog="tool")
    made.add_argument("--all", "-a", action="store_true")
    made.listed(made.add_argument_group("more").add_argument("--most", type=int))
    made.expect_command(dest="command", metavar="COMMAND")
    made.add_command("run", help="run it").add_argument("data")
    return made


def test_commands_and_options_are_listed():
    made = parser()
    assert made.options == ["-h", "--help", "--all", "-a", "--most"]
    assert list(made.commands) == ["run"]
    assert made.commands["run"].options == ["-h", "--help"]
    settings = made.parse_args(["--most", "3", "run", "file"])
    assert (settings.most, settings.command, settings.data) == (3, "run", "file")


@pytest.mark.parametrize("arguments", [["walk"], ["--al", "run", "file"], ["run"]])
def test_errors_are_one_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("tool")
    assert said.count("\n") == 1
    assert "--help" in said


def test_words_that_may_come_next():
    assert {"fit", "predict", "completion", "--version"} <= set(words_after([]))
    assert {"sequences", "classes"} <= set(words_after(["fit"]))
    options = words_after(["fit", "sequences"])
    assert {"--output", "--forbidden", "--min-count"} <= set(options)  # its own, and those of the estimator
    assert "--min_count" not in options  # the same again, as Python spells it


class Described:
    """An estimator.

    Parameters
    ----------
    C : float
        The weight of the losses,
        as ever.
    min_count : int or None
        Another one.

    Attributes
    ----------
    w_ : array
        None of these.
    """


def test_parameters_are_read_from_docstrings():
    found = descriptions(Described)
    assert found["C"] == ("float", "The weight of the losses, as ever.")
    assert found["min_count"] == ("int or None", "Another one.")
    assert list(found) == ["C", "min_count"]


def test_every_option_of_an_estimator_is_described():
    found = descriptions(SequenceLabeler)
    assert {"forbidden", "rescaling", "memory_mb"} <= set(found)
    assert all(kind and text for kind, text in found.values())
