"""Print pip's constraints for the lowest version that pyproject.toml allows of every package that the tests use."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BOUND = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")


def main() -> None:
    """Read the requirements and print one constraint per package."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lowest: dict[str, str] = {}
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        found = BOUND.fullmatch(requirement)
        if found is None:
            raise SystemExit(f"{PROJECT}: expected a requirement like name>=1.2, got {requirement!r}")
        name, version = found.groups()
        if lowest.setdefault(name, version) != version:
            raise SystemExit(f"{PROJECT}: {name} has two lower bounds, {lowest[name]} and {version}")
    for name, version in sorted(lowest.items()):
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
