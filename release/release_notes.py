"""Print the notes of a release, which are its section of CHANGELOG.md: ``python release/release_notes.py [version]``.

Without a version, the newest section is printed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"
SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\] - (?P<date>.+)\n(?P<body>(?:(?!## ).*\n?)*)", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Return the text below the heading of every release, newest first."""
    return {found["version"]: found["body"].strip() + "\n" for found in SECTION.finditer(text)}


def notes(version: str | None = None) -> str:
    """Return the notes of a release, or of the newest one."""
    found = sections(CHANGELOG.read_text(encoding="utf-8"))
    version = version or next(iter(found))
    if version not in found:
        raise SystemExit(
            f"CHANGELOG.md has no section for {version}, only for {', '.join(found)}: add '## [{version}] - date'"
        )
    return found[version]


if __name__ == "__main__":
    print(notes(*sys.argv[1:2]), end="")
