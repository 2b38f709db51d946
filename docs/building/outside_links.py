"""Links to files outside of docs: an example becomes its page in the gallery, others their place in the repository.

On a page, such links are paths in the repository, so that they work where the Markdown itself is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)\s#]*)(#[^)\s]*)?\)")


def replace(docs: Path, root: Path, repository: str) -> Callable:
    """Return a handler of Sphinx's event source-read.

    Parameters
    ----------
    docs, root : Path
        The folder of pages, and that of the repository.
    repository : str
        The address of the repository, or "": then the text of such links remains without a link.

    Returns
    -------
    A function of the application, the name of a page and a list with its text, which it changes.
    """

    def handler(app: object, page: str, source: list[str]) -> None:
        folder = (docs / page).parent

        def link(found: re.Match) -> str:
            target = Path(os.path.normpath(folder / found[3]))
            if found[1] or target.is_relative_to(docs):
                return found[0]
            path = target.relative_to(root)
            if path.parts[0] == "examples" and path.suffix == ".py":
                place = os.path.relpath(docs / "gallery" / f"{path.stem}.rst", folder)
                return f"[{found[2]}]({Path(place).as_posix()})"
            return f"[{found[2]}]({repository}/blob/HEAD/{path.as_posix()}{found[4] or ''})" if repository else found[2]

        source[0] = LINK.sub(link, source[0])

    return handler
