"""What is published: README.md, the version, the changelog, the built archives, the recipe, and the paper."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import numpy as np
import pytest
import yaml

import maxmargin

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "release"))

import build_release  # noqa: E402 - it is in the folder above
from release_notes import notes, sections  # noqa: E402 - so is this

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("only in a clone is it known which files belong to the project")
    return build_release.tracked_files(ROOT)


@pytest.fixture(scope="module")
def archives(tracked, tmp_path_factory):
    """The source distribution and the wheel, built from the files that git tracks and nothing else."""
    folder = tmp_path_factory.mktemp("release")
    for name in tracked:
        copy = folder / "project" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder / "dist")]
    subprocess.run(command, cwd=folder / "project", check=True, capture_output=True)
    (source,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def metadata(archives):
    with zipfile.ZipFile(archives[1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(wheel.read(name))


def test_readme_is_short_and_its_first_screen_says_what_matters():
    assert len(README.encode()) <= 8000
    sentence, picture = README.split("\n\n")[1:3]
    assert "structured prediction" in sentence
    (path,) = LINK.findall(picture)
    assert (ROOT / path).stat().st_size < 60_000
    order = ["pip install maxmargin", "```python", "**Use it if**", "**Use something else if**", "## Command line"]
    places = [README.index(part) for part in order]
    assert places == sorted(places)
    assert len(README[places[1] : places[2]].split("```\n")[0].splitlines()) <= 12


def headings(page: Path) -> set[str]:
    """The anchors of a page, as the sites that show Markdown make them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_of_readme_lead_to_files_and_headings_of_the_project():
    for link in LINK.findall(README):
        assert "://" not in link, f"README.md has an address, {link}: [project.urls] is the place for addresses"
        path, _, heading = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not heading or heading in headings(ROOT / path), link


def test_the_version_and_the_addresses_stand_once(tracked):
    version = re.compile(rf"(?<![\d.]){re.escape(maxmargin.__version__)}(?![\d.]*\d)")
    address = PROJECT["urls"]["Source"].split("://")[1]
    versions, addresses = set(), set()
    for name in tracked:
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if version.search(text):
            versions.add(name)
        if address in text:
            addresses.add(name)
    assert versions == {"src/maxmargin/__init__.py", "CHANGELOG.md"}
    assert addresses == {"pyproject.toml"}


def test_the_changelog_has_one_line_per_change_and_begins_with_this_version():
    found = sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert next(iter(found)) == maxmargin.__version__
    for version, body in found.items():
        assert notes(version) == body
        entries = [line for line in body.splitlines() if line.startswith("- ")]
        others = [line for line in body.splitlines() if line and not line.startswith(("- ", "#"))]
        assert entries
        assert all(len(line) <= 165 for line in entries), [line for line in entries if len(line) > 165]
        assert all(not line[0].isspace() for line in others), f"{version}: an entry of two lines, {others}"
    assert notes() == found[maxmargin.__version__]
    with pytest.raises(SystemExit, match=r"no section for 9.9, only for .*add '## \[9.9\] - date'"):
        notes("9.9")


def test_the_archives_hold_the_project_and_nothing_else(archives, tracked):
    source, wheel = archives
    assert source.name == f"maxmargin-{maxmargin.__version__}.tar.gz"
    assert build_release.names_in_source(source) == tracked | {"PKG-INFO"}
    assert build_release.names_in_wheel(wheel) == build_release.package_files(tracked)
    assert {"maxmargin/py.typed", "maxmargin/__init__.pyi"} <= build_release.names_in_wheel(wheel)
    with tarfile.open(source) as archive:
        assert not [member.name for member in archive if not (member.isfile() or member.isdir())]


def test_files_that_git_does_not_track_are_named():
    with pytest.raises(SystemExit, match=r"the wheel .* Too many: \['stray'\]; missing: \['lost'\]"):
        build_release.compare("the wheel", {"stray", "both"}, {"both", "lost"})


def test_the_metadata_link_to_the_files_of_the_release(metadata):
    assert metadata["Version"] == maxmargin.__version__
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert urls == PROJECT["urls"]
    assert set(urls) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    page = metadata.get_payload(decode=True).decode()
    links = LINK.findall(page)
    assert len(links) == len(LINK.findall(README))
    for link in links:
        kind, tag, path = link.removeprefix(f"{urls['Source']}/").partition("#")[0].split("/", 2)
        assert tag == f"v{maxmargin.__version__}", link
        target = ROOT / path
        assert target.is_dir() if kind == "tree" else target.is_file(), link
        assert kind == ("raw" if target.suffix == ".png" else "tree" if target.is_dir() else "blob")


def test_links_that_are_made_absolute(tmp_path):
    from hatch_build import absolute

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").touch()
    (tmp_path / "docs" / "one.png").touch()
    page = "![a](docs/one.png) [b](docs/page.md#c-d) [e](docs) [f](#here) [g](https://h.i/j) [`k`, `l`](docs/page.md)"
    made = absolute(page, tmp_path, "https://s", "1.2")
    assert made == (
        "![a](https://s/raw/v1.2/docs/one.png) [b](https://s/blob/v1.2/docs/page.md#c-d) [e](https://s/tree/v1.2/docs) "
        "[f](#here) [g](https://h.i/j) [`k`, `l`](https://s/blob/v1.2/docs/page.md)"
    )


def test_the_recipe_has_what_pyproject_has():
    text = build_release.recipe("1.2.3", b"archive")
    assert "@" not in text
    recipe = yaml.safe_load(text)
    assert recipe["context"] == {"name": "maxmargin", "version": "1.2.3", "python_min": "3.11"}
    assert recipe["source"]["sha256"] == hashlib.sha256(b"archive").hexdigest()
    assert [each.replace(" ", "") for each in recipe["requirements"]["run"][1:]] == PROJECT["dependencies"]
    assert recipe["build"]["python"]["entry_points"] == ["maxmargin = maxmargin.command.main:main"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["homepage"] == PROJECT["urls"]["Homepage"]


def test_the_paper_cites_what_its_bibliography_has():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    _, header, body = paper.split("---\n", 2)
    assert yaml.safe_load(header)["bibliography"] == "paper.bib"
    assert 750 <= len(body.split()) <= 1500
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]*)", body))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper" / "paper.bib").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", ["CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "paper/pyopensci.md"])
def test_pages_beside_readme_link_to_files(page):
    folder = (ROOT / page).parent
    for link in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        assert (folder / link.partition("#")[0]).exists(), f"{page} links to {link}"


def test_templates_and_hooks_can_be_read():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    for form in forms:
        if form.name != "config.yml":
            content = yaml.safe_load(form.read_text(encoding="utf-8"))
            names = [part["id"] for part in content["body"]]
            assert {"name", "description", "body"} <= set(content)
            assert len(names) == len(set(names))
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n")[0]
    for hook in hooks["repos"][0]["hooks"]:
        tool = hook["entry"].split(" -m ")[1].split()[0]
        assert tool in lint, f"{hook['id']} is no part of make lint"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["license"] == PROJECT["license"]


@pytest.mark.slow
def test_the_picture_of_readme_is_what_its_script_draws(monkeypatch, tmp_path):
    image = pytest.importorskip("PIL.Image")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import draw_readme

    committed = draw_readme.PICTURE
    monkeypatch.setattr(draw_readme, "PICTURE", tmp_path / committed.name)
    draw_readme.main()
    with image.open(committed) as old, image.open(draw_readme.PICTURE) as new:
        assert old.size == new.size
        difference = np.abs(np.asarray(old.convert("RGBA"), dtype=float) - np.asarray(new.convert("RGBA"), dtype=float))
    assert difference.mean() < 4, "the models of make demo read other digits now, or the fonts are very different"
