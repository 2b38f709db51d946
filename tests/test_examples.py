"""Every example and the demo run from beginning to end."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
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
    if "\nimport torch\n" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="this example needs the extra `torch`")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    for number in plt.get_fignums():
        check_readable(plt.figure(number))


def check_readable(figure):
    """Legends are in the picture and cover no curve; no axes have two scales; no curve lies exactly under another."""
    figure.canvas.draw()
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend() is not None)]
    boxes = [legend.get_window_extent() for legend in legends]
    for legend, box in zip(legends, boxes, strict=True):
        names = [text.get_text() for text in legend.get_texts()]
        assert figure.bbox.padded(1).contains(*box.min), names
        assert figure.bbox.padded(1).contains(*box.max), names
    for ax in figure.axes:
        assert not is_twin(ax, figure.axes), "two scales in one place"
        curves = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
        for line in curves:
            points = ax.transData.transform(line.get_xydata())
            covered = [box for box in boxes if ((points > box.min) & (points < box.max)).all(axis=1).any()]
            assert not covered, f"a legend covers {line.get_label()!r}"
        labelled = [line for line in curves if not line.get_label().startswith("_")]
        paths = {line.get_xydata().tobytes() for line in labelled}
        assert len(paths) == len(labelled), "one curve hides another"


def is_twin(ax, others):
    return any(
        ax is not other and np.allclose(ax.get_position().bounds, other.get_position().bounds) for other in others
    )


@pytest.mark.slow
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
