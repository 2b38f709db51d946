"""The table of docs/explanation/reliability.md: every number of cases is the one that the tests of its file run."""

import importlib
import re
from pathlib import Path

import pytest
from campaigns import COUNTS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "reliability.md"


def rows():
    """Return {file: the cell with the number of cases} of the table."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {re.sub(r"^`tests/|`$", "", file): number for _, _, number, file in cells}


def test_every_campaign_is_counted():
    counted = {file for file, cell in rows().items() if re.search(r"\d", cell)}
    assert counted == set(COUNTS)


@pytest.mark.parametrize("file", COUNTS)
def test_numbers_are_those_of_the_tests(file):
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    told = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", rows()[file])]
    assert told == list(COUNTS[file](module))


@pytest.mark.parametrize("file", rows())
def test_files_exist(file):
    assert list((ROOT / "tests").glob(file))
