"""Elements of HTML and SVG, which escape all text automatically.

The content of a page comes from unchecked data: words, labels, names of columns. `Element` is the only way to make
markup here. Contents and attributes are escaped, invalid characters and those that reverse the text direction are
replaced by visible signs, and no attribute can load or run anything. Styles and scripts are constants of this package
(`Trusted`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

import numpy as np

# Elements without content and end tag. Elements of SVG have both.
VOID = frozenset({"br", "hr", "input", "meta"})
TAGS = VOID | frozenset(
    re.findall(
        r"\w+",
        """
        html head title body main header footer nav section h1 h2 h3 h4 p div span ul ol li dl dt dd table thead tbody
        tr th td figure figcaption pre code strong small mark a bdi details summary iframe
        svg g line path rect circle polyline polygon text style script
        """,
    )
)
# Attributes that can neither load nor run anything; `href` may only lead to an anchor of the same page.
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        """
        id class title lang dir type name content charset http-equiv role hidden placeholder scope open srcdoc sandbox
        width height aria-label aria-hidden href
        viewBox x y x1 y1 x2 y2 cx cy r rx d points transform text-anchor textLength lengthAdjust font-size font-weight
        font-family fill stroke xmlns
        """,
    )
)
# C0 and C1 controls except tab and newline, lone surrogates, noncharacters, and controls of the text direction.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\u2028\u2029]"
)
COLOUR = re.compile(r"[a-zA-Z]+|#[0-9a-fA-F]{6}|var\(--[a-z]+\)")


class Trusted(str):
    """Style or script that this package has written; it must never contain data."""

    __slots__ = ()


class Element:
    """An element of HTML or SVG: `Element("p", "a < b", class_="note")` is `<p class="note">a &lt; b</p>`.

    Children are elements, text, numbers, or lists of these; None is skipped. Attributes are named as in Python: a
    trailing underscore is dropped, other underscores become dashes. None and False leave an attribute out, True has no
    value. `shade` is a number from -1 to 1 which the style sheet turns into a colour.
    """

    def __init__(self, tag: str, *children: Any, shade: float | None = None, **attributes: Any):
        if tag not in TAGS:
            raise ValueError(f"reports do not use the element {tag!r}")
        self.tag, self.children = tag, children
        self.attributes = dict(_checked(attributes))
        if shade is not None:
            self.attributes["style"] = f"--shade:{float(np.clip(shade, -1, 1)):.3f}"

    def __str__(self) -> str:
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        names = "".join(f" {name}" if each is True else f' {name}="{each}"' for name, each in self.attributes.items())
        yield f"<{self.tag}{names}>"
        if self.tag in VOID:
            return
        for child in flat(self.children):
            if isinstance(child, Element):
                yield from child._pieces()
            elif isinstance(child, Trusted) and self.tag in ("style", "script"):
                yield str(child)
            elif self.tag in ("style", "script"):
                raise TypeError(f"{self.tag} accepts only content that this package has written")
            else:
                yield escape(plain(child))
        yield f"</{self.tag}>"

    def __repr__(self) -> str:
        return f"Element({self.tag!r}, …)"


def flat(children: Iterable[Any]) -> Iterator[Any]:
    """Yield the members of nested lists, without None."""
    for child in children:
        if isinstance(child, list | tuple):
            yield from flat(child)
        elif child is not None:
            yield child


def plain(value: Any) -> str:
    """Return text as a page can show it; invisible characters and those that reverse text are replaced by signs.

    The first 32 control characters have signs of their own (␀, ␁, …), others become �.
    """
    return UNSEEN.sub(lambda found: chr(0x2400 + ord(found.group())) if found.group() < " " else "\ufffd", str(value))


def short(value: Any, most: int = 120) -> str:
    """Return the text of a value, truncated if it is long."""
    text = str(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _checked(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in attributes.items():
        name = {"view_box": "viewBox"}.get(name, name.rstrip("_").replace("_", "-"))
        if name not in ATTRIBUTES:
            raise ValueError(f"reports do not use the attribute {name!r}")
        if name == "href" and not str(value).startswith("#"):
            raise ValueError(f"a report links only to itself, not to {value!r}")
        if name in ("fill", "stroke") and not COLOUR.fullmatch(str(value)):
            raise ValueError(f"{name} is {value!r}; expected a colour")
        if value is None or value is False:
            continue
        if isinstance(value, float):
            value = f"{value:.6g}" if name == "value" else f"{value:.2f}".rstrip("0").rstrip(".")
        yield name, True if value is True else escape(plain(value))
