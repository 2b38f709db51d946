"""Docstrings are written to be read as text; this makes reStructuredText of them, before numpydoc reads their sections.

Indented lines are formulas and stay as they are. Lines such as "name : what it is" outside of the section Parameters
become a list. Signs that reStructuredText would take for markup, as in `|Y|`, `classes_` or `*args`, mean themselves.
"""

from __future__ import annotations

import re

UNDERLINE = re.compile(r"-{3,}$")
ITEM = re.compile(r"""([\w"'][^:`.;()]{0,60}?) : (.*)""")
BULLET = re.compile(r"(- |\d+\. )")
EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])[^*\n]*[^\s*]\*(?![\w*])")
VERBATIM = ("Examples", "See Also")  # sections with markup of their own


def process(app: object, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Rewrite the lines of a docstring; a handler of Sphinx's event autodoc-process-docstring."""
    if what == "module":
        return
    headings = [k for k in range(len(lines) - 1) if lines[k].strip() and UNDERLINE.match(lines[k + 1])]
    begin = headings[0] if headings else len(lines)
    made = escaped(with_blocks(lines[:begin]))
    for first, end in zip(headings, [*headings, len(lines)][1:], strict=True):
        section = lines[first:end]
        if section[0].strip() in VERBATIM:
            made += section
        elif section[0].strip() in ("Parameters", "Attributes"):
            names = [line.partition(" : ")[0] if not line.startswith(" ") else "" for line in section[2:]]
            rest = escaped([line[len(each) :] for line, each in zip(section[2:], names, strict=True)])
            made += [*section[:2], *(_names(each) + line for each, line in zip(names, rest, strict=True))]
        else:
            made += [*section[:2], *escaped(with_blocks(section[2:]) if section[0].strip() == "Notes" else section[2:])]
    lines[:] = made


def with_blocks(lines: list[str]) -> list[str]:
    """Return prose with its indented lines as literal blocks and its descriptions of names as lists."""
    made: list[str] = []
    inside = ""  # what indented lines continue: "item", "bullet", "block", or nothing
    for line in lines:
        depth = len(line) - len(line.lstrip())
        found = ITEM.match(line)
        if not line.strip():
            made.append("")
        elif depth == 0 and found:
            if inside not in ("item", "") or (made and made[-1] and inside != "item"):
                made.append("")
            made.append(f"- `{found[1]}`: {found[2]}" if '"' not in found[1] else f"- {found[1]}: {found[2]}")
            inside = "item"
        elif depth == 0 and BULLET.match(line):
            made.append(line)
            inside = "bullet"
        elif depth == 0:
            if made and made[-1] and inside in ("item", "block"):
                made.append("")
            made.append(line)
            inside = ""
        elif inside == "bullet":
            made.append(line)
        elif inside.startswith("item"):
            if depth > 4 and inside == "item":
                made += ["", "  ::", ""]
            inside = "item of formulas" if depth > 4 else "item"
            made.append("  " + line[4:] if depth <= 4 else "  " + line)
        else:
            if inside != "block":
                made += ["", "::", ""]
            made.append(line)
            inside = "block"
        if depth == 4 and inside == "item of formulas":
            inside = "item"
    return made


def escaped(lines: list[str]) -> list[str]:
    """Return lines in which only backquotes and emphasis are markup; literal blocks are left alone."""
    made, literal = [], -1  # the depth of the line that opened a literal block
    quoted = False  # whether a backquote of an earlier line is still open
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if literal >= 0 and line.strip() and depth <= literal:
            literal = -1
        if literal >= 0:
            made.append(line)
            continue
        if line.strip() == "::":
            literal = depth
            made.append(line)
            continue
        parts = line.split("`")
        for k, part in enumerate(parts):
            if (k % 2 == 0) != quoted:
                parts[k] = _escape(part)
        if len(parts) % 2 == 0:
            quoted = not quoted
        if not line.strip():
            quoted = False
        made.append("`".join(parts))
    return made


def _names(names: str) -> str:
    """Return the names of an entry; numpydoc itself escapes the underscore at the end of the last one."""
    return names.replace("_,", "\\_,")


def _escape(text: str) -> str:
    spans = [match.span() for match in EMPHASIS.finditer(text)]
    kept = {place for begin, end in spans for place in (begin, end - 1)}
    signs = []
    for place, sign in enumerate(text):
        after = text[place + 1 : place + 2]
        word_ends = sign == "_" and place and not (after.isalnum() or after == "_")
        plain = sign in "|\\" or word_ends or (sign == "*" and place not in kept)
        signs.append(f"\\{sign}" if plain else sign)
    return "".join(signs)
