"""Descriptions in llms.txt: every page that is written in Markdown is listed with the sentence that begins it."""

from __future__ import annotations

import re
from pathlib import Path

ENTRY = re.compile(r"^- \[(.*)\]\((.*/)?_sources/(.*\.md)\.txt\)$", re.MULTILINE)
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]")


def describe(app: object, exception: Exception | None) -> None:
    """Add a description to every entry of llms.txt that has a page; a handler of Sphinx's event build-finished."""
    listing = Path(app.outdir) / "llms.txt"
    if exception is None and listing.is_file():
        text = listing.read_text(encoding="utf-8")
        listing.write_text(ENTRY.sub(lambda found: _entry(found, Path(app.srcdir)), text), encoding="utf-8")


def first_sentence(page: str) -> str:
    """Return the first sentence below the title of a Markdown page, without markup; "" if there is none."""
    below = re.split(r"^# .*$", page, maxsplit=1, flags=re.MULTILINE)[-1].strip()
    paragraph = " ".join(below.split("\n\n")[0].split())
    plain = MARKUP.sub(lambda found: found[1] or "", paragraph)
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", plain)[0] if not plain.startswith((":", "|", "#", "{")) else ""


def _entry(found: re.Match, pages: Path) -> str:
    page = pages / found[3]
    sentence = first_sentence(page.read_text(encoding="utf-8")) if page.is_file() else ""
    return f"{found[0]}: {sentence}" if sentence else found[0]
