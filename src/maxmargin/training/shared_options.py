"""SharedOptions: parameters that several classes share are described once, and appear in every signature.

The constructor of an estimator lists its own parameters and passes `**options` on to its base class. Parameters that it
shares with its task are listed in its own signature, too, because editors and type checkers read signatures from the
source; a test compares the two. Descriptions, however, are not repeated: a docstring quotes the description of a shared
parameter by a line with its name in braces. `{options}` quotes all remaining parameters.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from string import Template
from typing import Any, ClassVar

_QUOTE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+) : .+$")
_WIDTH = 120
OPTIONS = "options"


class SharedOptions:
    """A mixin that completes the signature and the docstring of an estimator's subclasses."""

    _units: ClassVar[str] = "rows"  # the word for units with features in descriptions
    _descriptions: ClassVar[Mapping[str, str]] = {}  # descriptions of parameters that subclasses share
    _described_by: ClassVar[tuple[type, ...]] = ()  # tasks whose docstrings describe parameters of the estimator

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__init__" in vars(cls):
            _complete_signature(cls)
        if vars(cls).get("__doc__"):  # there is none with python -OO
            cls.__doc__ = _QUOTE.sub(cls._quoted, str(cls.__doc__))

    @classmethod
    def _quoted(cls, quote: re.Match[str]) -> str:
        """Return the text that replaces a quote, with the same indentation."""
        indent, name = quote.groups()
        if name != OPTIONS:
            return cls._description(name, indent)
        lines = inspect.cleandoc(str(cls.__doc__)).splitlines()
        there = {match[1] for line in lines if (match := _ENTRY.match(line))} | set(_quotes(str(cls.__doc__)))
        missing = [each for each in inspect.signature(cls).parameters if each not in there]
        return "\n".join(cls._description(each, indent) for each in missing)

    @classmethod
    def _description(cls, name: str, indent: str) -> str:
        """Return the description of a parameter in the form of docstrings."""
        below = indent + 4 * " "
        if name not in cls._descriptions:
            for kind in cls._described_by:
                lines = described_parameters(kind.__doc__).get(name)
                if lines is not None:
                    return "\n".join((indent + line).rstrip() for line in lines)
            raise ValueError(f"the docstring of {cls.__name__} quotes {name!r}, which is described nowhere")
        head, _, text = textwrap.dedent(cls._descriptions[name]).strip().partition("\n")
        gap = getattr(cls, "_default_tol", None)
        default = "the default of the solver" if gap is None else f"{gap:g}, or the tol of a solver object"
        text = Template(text).substitute(units=cls._units, default_tol=default)
        return f"{indent}{head}\n" + textwrap.fill(
            text, _WIDTH, initial_indent=below, subsequent_indent=below, break_on_hyphens=False
        )

    def _refuse(self, unknown: dict[str, Any]) -> None:
        """Raise a TypeError that names the estimator if its base class was passed unknown parameters."""
        if unknown:
            known = ", ".join(inspect.signature(type(self)).parameters)
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(unknown))!r}; it has {known}")


def described_parameters(docstring: str | None) -> dict[str, list[str]]:
    """Return the lines that describe each parameter in the Parameters section of a docstring."""
    _, _, section = inspect.cleandoc(docstring or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\w[\w ]*\n-+\n", section)[0]  # up to the next heading
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in section.splitlines():
        match = _ENTRY.match(line)
        if match:
            current = found[match[1]] = [line]
        elif current is not None and line.startswith("    "):
            current.append(line)
        else:
            current = None
    return found


def _quotes(docstring: str) -> list[str]:
    return [name for _, name in _QUOTE.findall(docstring) if name != OPTIONS]


def _complete_signature(cls: Any) -> None:
    """Add the parameters of the base class, which `**options` stands for, to the signature of the constructor."""
    own = inspect.signature(cls.__init__)
    named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    if len(named) == len(own.parameters):
        return
    above = next(base for base in cls.__mro__[1:] if "__init__" in vars(base))
    named += [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in inspect.signature(above.__init__).parameters.values()
        if p.name not in own.parameters and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    cls.__init__.__signature__ = own.replace(parameters=named)
