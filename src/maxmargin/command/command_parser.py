"""CommandParser: a parser of the command line that knows its commands and options."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from maxmargin.base.suggestions import did_you_mean, listed
from maxmargin.command.errors import USAGE

# The message of argparse about a value that is none of the choices; versions of Python differ in the quotes.
INVALID = re.compile(r"invalid choice: '(?P<name>.*?)' \(choose from (?P<choices>.*)\)")
CHOICE = re.compile(r"[^\s,'\"\[\]]+")


def with_help(message: str, command: str) -> str:
    """Return a message that ends with the command whose help explains more."""
    return f"{message} See {command} --help" if message.endswith("?") else f"{message}; see {command} --help"


class CommandParser(argparse.ArgumentParser):
    """An argument parser that says in one sentence what is wrong, and lists its commands and options."""

    def __init__(self, **settings: Any):
        self.commands: dict[str, CommandParser] = {}
        self.options: list[str] = []
        super().__init__(allow_abbrev=False, **settings)

    def parse_args(self, arguments: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; an error about unknown ones comes from the command that they were given to."""
        words = list(sys.argv[1:] if arguments is None else arguments)
        settings, unknown = self.parse_known_args(words, namespace)
        if unknown:
            self._asked(words)._refuse(unknown)
        return settings

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print the error, with the choice that was probably meant, and end the program."""
        wrong = INVALID.search(message)
        if wrong:
            name, choices = wrong["name"], CHOICE.findall(wrong["choices"])
            what = message[: wrong.start()].removeprefix("argument ").rstrip(": ")
            said = f"there is no {what.lower()} {name!r}" if what in ("COMMAND", "KIND") else f"{what} is {name!r}"
            message = said + (did_you_mean(name, choices) or f"; expected one of {listed(choices)}")
        print(f"{self.prog}: {with_help(message, self.prog)}", file=sys.stderr)
        sys.exit(USAGE)

    def _asked(self, words: Sequence[str]) -> CommandParser:
        """Return the parser of the command that these words name."""
        for word in words:
            if not word.startswith("-"):
                return self.commands[word]._asked(words[words.index(word) + 1 :]) if word in self.commands else self
        return self

    def _refuse(self, unknown: Sequence[str]) -> None:
        """Report arguments that this command does not have."""
        option = next((each for each in unknown if each.startswith("-")), None)
        if option is None:
            self.error(f"there are more arguments than expected: {' '.join(unknown)}")
        else:
            name = option.partition("=")[0]
            self.error(f"there is no option {name}{did_you_mean(name, self.options)}")

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse itself would hide that standard output cannot be written."""
        print(self.format_help(), end="", file=file, flush=True)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument, and list it if it is an option."""
        return self.listed(super().add_argument(*names, **settings))

    def listed(self, action: argparse.Action) -> argparse.Action:
        """List the names of an option that was added to a group of arguments."""
        self.options += action.option_strings
        return action

    def expect_command(self, **settings: Any) -> None:
        """Declare that a command follows; `add_command` adds the possible commands."""
        self._expected = self.add_subparsers(parser_class=CommandParser, **settings)

    def add_command(self, name: str, **settings: Any) -> CommandParser:
        """Add a command with a parser of its own."""
        self.commands[name] = self._expected.add_parser(name, **settings)
        return self.commands[name]
