"""Every example and the demo run from beginning to end."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from maxmargin import demo

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("plot_*.py"))


@pytest.fixture(autouse=True)
def no_windows(monkeypatch):
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 105
    runpy.run_path(str(path))
    assert plt.get_fignums()


def test_demo_runs_twice_in_the_same_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    monkeypatch.setattr(demo, "N_TRAIN", 20)
    monkeypatch.setattr(demo, "N_TEST", 20)
    for _ in range(2):
        demo.main()
        drawn = {path.name for path in (tmp_path / "plots").iterdir()}
        assert drawn == {"gap.png", "strings.png", "transitions.png"}
    printed = capsys.readouterr().out
    assert printed.count("wrong digits") == 2
    assert "lower bound" in printed
