"""The code in README.md and docs runs, and prints what the pages say it prints.

README's code is among the fast tests, that of the other pages among the slow ones. Blocks of sh are run by a shell (see
shell.py), in the same folder as the Python of their page.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from shell import run_script

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXTRA = re.compile(r"^import (torch|jax)\b", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def blocks(page: Path) -> list[tuple[str, str, int]]:
    text = page.read_text(encoding="utf-8")
    return [(match[1], match[2], text.count("\n", 0, match.start()) + 1) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize(
    "page", [PAGES[0], *(pytest.param(page, marks=pytest.mark.slow) for page in PAGES[1:])], ids=lambda page: page.name
)
def test_code_runs_and_prints_what_the_page_says(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # pages write files
    # As a script, because classes that a page defines are pickled: by the checks in maxmargin.testing, which look them
    # up in this module, and for other processes, which cannot import it.
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = ""
    for kind, body, line in blocks(page):
        if kind == "text":
            # Numbers may move a little with every improvement of a solver; the words may not.
            assert NUMBER.sub("#", printed) == NUMBER.sub("#", body), f"{page.name}, line {line}"
            continue
        if kind == "sh":
            done = run_script(body, tmp_path)
            assert done.returncode == 0, f"{page.name}, line {line}: {done.stderr}"
            printed = done.stdout  # progress is on standard error
            continue
        needed = EXTRA.search(body)
        if needed and find_spec(needed[1]) is None:
            pytest.skip(f"{page.name} from line {line} on needs the extra `{needed[1]}`")
        code = compile("\n" * line + body, str(page), "exec")  # so that errors name the page's own line
        exec(code, module.__dict__)
        printed = capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
