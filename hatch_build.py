"""Make the links of README.md absolute in the metadata of the package, where relative ones lead nowhere.

README.md keeps relative links, so that they work in every clone, fork and branch. The long description in the metadata
of a release has no folder beside it: its links lead to the files of that release, below the address that
``[project.urls]`` in pyproject.toml calls Source.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# An image or a link of Markdown to something beside the page: no scheme (https:), no heading of the same page (#).
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:|#)(?P<path>[^)#]+)(?P<heading>#[^)]*)?\)")


def absolute(page: str, root: Path, source: str, version: str) -> str:
    """Return the page with absolute links to the files of a release.

    Parameters
    ----------
    page : str
        A page in Markdown, at the root of the project.
    root : Path
        The folder of the project.
    source : str
        The address of the repository.
    version : str
        The release, whose tag is its number after a "v".
    """

    def replace(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "tree" if (root / link["path"]).is_dir() else "blob"
        return f"{link['image']}{link['text']}({source}/{kind}/v{version}/{link['path']}{link['heading'] or ''})"

    return LINK.sub(replace, page)


class AbsoluteLinks(MetadataHookInterface):
    """Supply the field `readme`, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the page to the metadata of the project."""
        root = Path(self.root)
        page = (root / "README.md").read_text(encoding="utf-8")
        text = absolute(page, root, metadata["urls"]["Source"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
