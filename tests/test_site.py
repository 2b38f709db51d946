"""The documentation site builds without a warning, nothing in it leads nowhere, and its checks can fail."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILDING = ROOT / "docs" / "building"


@pytest.fixture
def checks(monkeypatch):
    """The module that walks a built site; it imports Sphinx."""
    pytest.importorskip("sphinx", reason="the site needs the extra `docs`")
    return imported("check_site", monkeypatch)


def imported(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BUILDING))
    spec = importlib.util.spec_from_file_location(name, BUILDING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_site_is_whole(tmp_path):
    """All pages and the reference; the examples of the gallery are shown, and run by test_examples.py."""
    pytest.importorskip("sphinx", reason="the site needs the extra `docs`")
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("gallery", "generated"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    site, environment = tmp_path / "site", {**os.environ, "MPLBACKEND": "agg"}
    for command in (
        ["-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "-b", "html", "docs", str(site)],
        ["docs/building/check_site.py", str(site)],
    ):
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "nothing is missing" in done.stdout


def test_what_leads_nowhere_is_found(checks, tmp_path):
    (tmp_path / "index.html").write_text(
        '<h1 id="top">T</h1><a href="#top">fine</a><a href="other.html#here">fine</a><a href="https://example.org">fine</a>'
        '<a href="other.html#gone">anchor</a><a href="missing.html">page</a><img src="picture.png">'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "other.html").write_text('<p id="here"><a href="index.html">fine</a></p>')
    broken = checks.broken_links(tmp_path)
    assert len(broken) == 3
    assert any("other.html#gone has no such anchor" in each for each in broken)
    assert any("there is no missing.html" in each for each in broken)
    assert any("there is no picture.png" in each for each in broken)
    assert len(checks.foreign_addresses(tmp_path)) == 1
    assert "index.html" in checks.problems(tmp_path / "nowhere")[0]


def test_docstrings_become_markup(monkeypatch):
    plain = imported("plain_docstrings", monkeypatch)
    lines = [
        "Return |Y| of classes_, with *every* option and *args.",
        "",
        "It minimises",
        "    ½‖w‖² + |C|_1",
        "over w.",
        "first, second : two of",
        "    `them_`.",
        "",
        "Parameters",
        "----------",
        "coef_ : array |K|",
        "    As in w_.",
        "",
        "Examples",
        "--------",
        ">>> 1 | 2",
    ]
    plain.process(None, "class", "name", None, None, lines)
    assert lines[0] == r"Return \|Y\| of classes\_, with *every* option and \*args."
    assert lines[2:9] == ["It minimises", "", "::", "", "    ½‖w‖² + |C|_1", "", "over w."]
    assert "- `first, second`: two of" in lines
    assert "  `them_`." in lines
    assert r"coef_ : array \|K\|" in lines
    assert r"    As in w\_." in lines
    assert lines[-1] == ">>> 1 | 2"
