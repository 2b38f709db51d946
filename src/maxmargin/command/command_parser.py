"""CommandParser: a parser of the command line that knows its commands and options."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from maxmargin.command.errors import USAGE


class CommandParser(argparse.ArgumentParser):
    """An argument parser that says in one sentence what is wrong, and lists its commands and options."""

    def __init__(self, **settings: Any):
        self.commands: dict[str, CommandParser] = {}
        self.options: list[str] = []
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print the error and end the program."""
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(USAGE)

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
