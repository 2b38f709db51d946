"""Benchmarks write their own tables into pages."""

import pytest

pytest.importorskip("rich")

from rich.table import Table

from benchmarks.page import END, markdown, write


def table():
    made = Table(title="a [bold]title[/bold]", caption="of one\nrun")
    made.add_column("data")
    made.add_column("CPU s\nmin", justify="right")
    made.add_row("a|b", "1.5")
    return made


def test_a_table_in_markdown():
    assert markdown(table()) == ("**a title**\n\n| data | CPU s min |\n| --- | ---: |\n| a\\|b | 1.5 |\n\nof one run")


def test_a_table_takes_its_place_in_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- benchmark: one -->\nold\n{END}\nafter\n")
    for _ in range(2):
        write(page, "one", table(), "command")
        text = page.read_text()
        assert text == f"before\n<!-- benchmark: one -->\n`command`\n\n{markdown(table())}\n\n{END}\nafter\n"
    with pytest.raises(ValueError, match=r"has no place for this table.*benchmark: two"):
        write(page, "two", table(), "command")
