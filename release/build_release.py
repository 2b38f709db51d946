"""Build the release and try it: ``make dist``.

The source distribution and the wheel are built into `dist`, checked by twine, and compared with the files that git
tracks. The wheel is installed into an empty virtual environment, in which all code of README.md runs and must print
what the page says. The notes of the release and the recipe for conda-forge are written to `build/release`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from release_notes import notes

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from code_blocks import blocks, same_words  # noqa: E402 - it is beside the tests

DIST, RELEASE = ROOT / "dist", ROOT / "build" / "release"


def main() -> None:
    """Build, check, install and try, in this order, and end at the first thing that is wrong."""
    for folder in (DIST, RELEASE):
        shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (source,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", source, wheel)
    tracked = tracked_files(ROOT)
    compare("the source distribution", names_in_source(source), tracked | {"PKG-INFO"})
    compare("the wheel", names_in_wheel(wheel), package_files(tracked))

    version = source.name.removeprefix("maxmargin-").removesuffix(".tar.gz")
    RELEASE.mkdir(parents=True)
    (RELEASE / "notes.md").write_text(notes(version), encoding="utf-8")
    (RELEASE / "recipe.yaml").write_text(recipe(version, source.read_bytes()), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        try_wheel(wheel, version, Path(folder))

    print(f"maxmargin {version} is ready:")
    for file in (source, wheel, RELEASE / "notes.md", RELEASE / "recipe.yaml"):
        print(f"  {file.relative_to(ROOT)}  {file.stat().st_size / 1000:,.0f} kB")
    if changed := run("git", "status", "--porcelain", quiet=True):
        print(f"Not committed, and in the files above:\n{changed}")
    if any("example.org" in address for address in project()["urls"].values()):
        print("Before it is published, [project.urls] in pyproject.toml needs real addresses instead of example.org.")


def project() -> dict:
    """Return the table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*command: str | Path, quiet: bool = False, **options) -> str:
    """Run a command in the project's folder; return what it prints if `quiet`, and end if it fails."""
    if not quiet:
        print("$", *command, flush=True)
    done = subprocess.run(
        [str(part) for part in command],
        **{"cwd": ROOT, "text": True, **options},
        stdout=subprocess.PIPE if quiet else None,
    )
    if done.returncode:
        raise SystemExit(f"{command[0]} {command[1]} ... failed with {done.returncode}: see above")
    return done.stdout or ""


def tracked_files(root: Path) -> set[str]:
    """Return the files that git tracks, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (root / name).exists()}


def package_files(tracked: set[str]) -> set[str]:
    """Return what a wheel holds of these files: the package, without the files that only hatchling writes."""
    return {name.removeprefix("src/") for name in tracked if name.startswith("src/maxmargin/")}


def names_in_source(source: Path) -> set[str]:
    """Return the files of a source distribution, without its outer folder."""
    with tarfile.open(source) as archive:
        return {member.name.split("/", 1)[1] for member in archive if member.isfile()}


def names_in_wheel(wheel: Path) -> set[str]:
    """Return the files of a wheel, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def compare(what: str, found: set[str], expected: set[str]) -> None:
    """End with the differences, if there are any."""
    if found != expected:
        raise SystemExit(
            f"{what} does not hold the files that git tracks. Too many: {sorted(found - expected) or 'none'}; "
            f"missing: {sorted(expected - found) or 'none'}. Add them to git or to .gitignore, or remove them."
        )


def recipe(version: str, source: bytes) -> str:
    """Return the recipe for conda-forge, filled in."""
    described = project()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    values = {
        "version": version,
        "python": described["requires-python"].removeprefix(">="),
        "sha256": hashlib.sha256(source).hexdigest(),
        "script": "".join(f"{name} = {place}" for name, place in described["scripts"].items()),
        "backend": "\n    - ".join(each.replace(">=", " >=") for each in build),
        "dependencies": "\n    - ".join(each.replace(">=", " >=") for each in described["dependencies"]),
        "summary": described["description"],
        "license": described["license"],
        **{key.lower(): url for key, url in described["urls"].items()},
    }
    text = (ROOT / "release" / "recipe.yaml").read_text(encoding="utf-8")
    text = text[text.index("context:") :]  # the comment is about the template
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def try_wheel(wheel: Path, version: str, folder: Path) -> None:
    """Install the wheel into an empty environment and run the code of README.md there."""
    environment, desk = folder / "venv", folder / "desk"
    desk.mkdir()
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    # Without the variables and folders of this checkout, so that only the installed package can be found.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    clean["PATH"] = f"{environment / 'bin'}{os.pathsep}{clean['PATH']}"
    installed = run(
        python, "-I", "-c", "import maxmargin; print(maxmargin.__version__, maxmargin.__file__)", quiet=True
    )
    if not installed.startswith(f"{version} {environment}"):
        raise SystemExit(f"expected maxmargin {version} in {environment}, found {installed}")

    found = blocks(ROOT / "README.md")
    code = "\n".join(text for kind, text, _ in found if kind == "python")
    (desk / "readme.py").write_text(code, encoding="utf-8")
    follows = [
        (kind, text, found[k + 1][1]) for k, (kind, text, _) in enumerate(found[:-1]) if found[k + 1][0] == "text"
    ]
    printed = run(python, "-I", "readme.py", cwd=desk, env=clean, quiet=True)
    check_words("The Python code", printed, "".join(shown for kind, _, shown in follows if kind == "python"))
    for kind, script, shown in follows:
        if kind == "sh":
            check_words("The command line", run("sh", "-e", "-c", script, cwd=desk, env=clean, quiet=True), shown)


def check_words(what: str, printed: str, page: str) -> None:
    """Show what was printed, and end if the page says something else."""
    print(printed, end="")
    if not same_words(printed, page):
        raise SystemExit(f"{what} of README.md prints something else than the page says, which is:\n{page}")
    print(f"-- {what} of README.md prints what the page says.", flush=True)


if __name__ == "__main__":
    main()
