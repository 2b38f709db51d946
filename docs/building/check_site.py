"""Check a built site: links, anchors and images lead somewhere, and every public name is in the reference.

python docs/building/check_site.py build/docs
"""

from __future__ import annotations

import sys
import tomllib
import zlib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import generated_pages

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The targets of the links of a page, the places to which links may lead, and its title."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, names of anchors, and what the element refers to."""
        values = {name: value for name, value in attrs if value is not None}
        self.places |= {values[name] for name in ("id", "name") if name in values and (name == "id" or tag == "a")}
        if tag in LINKS and LINKS[tag] in values:
            self.targets.add(values[LINKS[tag]])
        for each in values.get("srcset", "").split(","):
            if each.strip():
                self.targets.add(each.split()[0])


@cache
def pages(site: Path) -> list[Path]:
    """Return the pages of a site; the theme's own files are not among them."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


@cache
def read(path: Path) -> Page:
    """Return a page; each is read once."""
    return Page(path)


def broken_links(site: Path) -> list[str]:
    """Return a sentence for every link, anchor or image within the site that leads nowhere."""
    problems = []
    for path in pages(site):
        for target in sorted(read(path).targets):
            address = urlsplit(target)
            if address.scheme or address.netloc:
                continue
            place = (path.parent / unquote(address.path)).resolve() if address.path else path
            if place.is_dir():
                place /= "index.html"
            here = path.relative_to(site)
            if not place.is_file():
                problems.append(f"{here}: there is no {target}")
            elif address.fragment and place.suffix == ".html" and unquote(address.fragment) not in read(place).places:
                problems.append(f"{here}: {target} has no such anchor")
    return problems


def described_names(site: Path) -> set[str]:
    """Return the full names of all Python objects that the site describes, from Sphinx's inventory."""
    data = (site / "objects.inv").read_bytes()
    for _ in range(4):  # a heading of four lines
        data = data[data.index(b"\n") + 1 :]
    lines = zlib.decompress(data).decode().splitlines()
    return {line.split()[0] for line in lines if line.split()[1].startswith("py:")}


def missing_names(site: Path) -> list[str]:
    """Return a sentence for every public name that the reference does not describe."""
    described = described_names(site)
    return [
        f"the reference does not describe {name}" for name in generated_pages.public_names() if name not in described
    ]


def foreign_addresses(site: Path) -> list[str]:
    """Return a sentence for every script, style or image that a page would load from another host."""
    problems = []
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        for begin in ('src="http', "src='http", 'src="//', '<link rel="stylesheet" href="http'):
            if begin in text:
                problems.append(f"{path.relative_to(site)}: loads from elsewhere: {text[text.index(begin) :][:80]}")
    return problems


def problems(site: Path) -> list[str]:
    """Return everything that is wrong with a built site, one sentence each."""
    if not (site / "index.html").is_file():
        return [f"{site} has no index.html: build the site first, with make docs"]
    root = Path(__file__).resolve().parents[2]
    name = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    found = broken_links(site) + missing_names(site) + foreign_addresses(site)
    for file in ("llms.txt", "searchindex.js"):
        if not (site / file).is_file() or name not in (site / file).read_text(encoding="utf-8"):
            found.append(f"there is no {file}, or it does not name {name}")
    return found


def main() -> None:
    """Print what is wrong and fail, or say how much was checked."""
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    if found:
        raise SystemExit("\n".join(found))
    links = sum(len(read(page).targets) for page in pages(site))
    names = len(generated_pages.public_names())
    print(f"{len(pages(site))} pages, {links} links and images, {names} public names: nothing is missing.")


if __name__ == "__main__":
    main()
