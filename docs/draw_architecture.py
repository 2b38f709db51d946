"""Draw docs/architecture.svg from the tree: the two ways of a fit, and the folders in the order of their imports.

    python docs/draw_architecture.py

The sentence beside a folder is the docstring of its `__init__.py`. `tests/test_architecture.py` compares the drawing
with what this script writes, and the two ways with the files that a fit really runs through.
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
PACKAGE = DOCS.parent / "src" / "maxmargin"


class Stage(NamedTuple):
    """A file on the way of a fit, and what happens there."""

    file: str
    what: str


# (1) A task in plain Python, and every structure without a dual of its own: graphs, trees, alignments, rankings …
PLANES = [
    Stage("training/structured.py", "the estimator names the task"),
    Stage("training/trainer.py", "sets the task up, packs the data into a batch, opens the oracle"),
    Stage("solvers/run.py", "the loop: measures, records, stops, certifies"),
    Stage("solvers/bcfw.py", "the algorithm: which examples to visit next"),
    Stage("problem/dual/plane_dual.py", "the dual point: weights of the planes found so far"),
    Stage("problem/oracle/oracle.py", "asks for the most violated plane of each example, counts, checks"),
    Stage("problem/contract/examples.py", "the batch: calls the decoder of the task for every example"),
]

# (2) Classes and chains, which improve a dual of their own.
OWN_DUAL = [
    Stage("structures/sequences/estimator.py", "the estimator names the task"),
    Stage("training/trainer.py", "sets the task up, packs the data into a batch, opens the oracle"),
    Stage("solvers/run.py", "the loop: measures, records, stops, certifies"),
    Stage("solvers/bcfw.py", "the algorithm: which examples to visit next"),
    Stage("problem/oracle/oracle.py", "opens the dual that the batch offers; later it only measures the risk"),
    Stage("structures/sequences/chain_flows.py", "the structure's own dual point: flows over links"),
    Stage("structures/sequences/compiled/flows.py", "the inner loop, over flat arrays"),
]

# From the lowest folder to the highest: a module imports from its own folder and from lower ones.
FOLDERS = [
    *("base", "executors", "problem/planes", "problem/dual", "problem/contract", "problem/oracle", "inputs", "report"),
    *("kernels", "solvers", "training", "structures/parts", "structures", "neural", "torch", "jax", "compat", "active"),
    *("counting", "datasets", "testing", "command"),
]
ENGINE = ("problem/", "solvers", "training")

WIDTH, LEFT, RIGHT = 1180, 20, 640
STYLE = """
    .h { font-size: 16px; font-weight: bold; fill: #222222; }
    .t { font-size: 13px; font-weight: bold; fill: #222222; font-family: DejaVu Sans Mono, Menlo, monospace; }
    .s { font-size: 12px; fill: #333333; }
    .a { stroke: #555555; stroke-width: 1.5; marker-end: url(#head); }"""
HEAD = """
  <defs>
    <marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
      <path d="M 0 0 L 10 5 L 0 10 z" fill="#555555"/>
    </marker>
  </defs>"""


def text(x: int, y: int, kind: str, words: str) -> str:
    """Return a line of text."""
    return f'  <text x="{x}" y="{y}" class="{kind}">{escape(words)}</text>'


def box(x: int, y: int, width: int, height: int, fill: str) -> str:
    """Return a rectangle with round corners."""
    return f'  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}" stroke="#555555"/>'


def way(x: int, title: str, stages: list[Stage]) -> list[str]:
    """Return the boxes of one way of a fit, from top to bottom."""
    width, height, step = 295, 72, 94
    lines = [text(x, 56, "s", title)]
    for k, stage in enumerate(stages):
        y = 70 + k * step
        colour = "#dff2ea" if stage.file.startswith("structures") else "#fbefd5"
        lines += [box(x, y, width, height, colour), text(x + 9, y + 20, "t", stage.file.removeprefix("structures/"))]
        lines += [text(x + 9, y + 40 + 16 * j, "s", line) for j, line in enumerate(textwrap.wrap(stage.what, 44))]
        if k + 1 < len(stages):
            lines.append(f'  <line x1="{x + 40}" y1="{y + height}" x2="{x + 40}" y2="{y + step - 2}" class="a"/>')
    return lines


def described(folder: str) -> str:
    """Return the docstring of a folder's `__init__.py`, its first paragraph in one line."""
    docstring = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text())) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def tree() -> list[str]:
    """Return the boxes of the folders, the highest first."""
    lines, y = [], 70
    for folder in reversed(FOLDERS):
        sentences = textwrap.wrap(described(folder), 54)
        height = 14 + 15 * max(len(sentences), 1)
        lines.append(box(RIGHT, y, 520, height, "#fbefd5" if folder.startswith(ENGINE) else "#f1f1f1"))
        lines.append(text(RIGHT + 9, y + 19, "t", folder))
        lines += [text(RIGHT + 150, y + 19 + 15 * j, "s", line) for j, line in enumerate(sentences)]
        y += height + 5
    return lines


def drawing() -> str:
    """Return the whole picture as SVG."""
    body = [
        text(LEFT, 30, "h", "The two ways of a fit"),
        *way(LEFT, "1. Planes through the oracle: any task", PLANES),
        *way(LEFT + 305, "2. The structure’s own dual: classes, chains", OWN_DUAL),
        text(RIGHT, 30, "h", "The folders: imports point down, or stay"),
        text(RIGHT, 56, "s", "Above all of them: the facades at the root. Coloured: the engine."),
        *tree(),
    ]
    height = 70 + max(94 * len(PLANES), sum(19 + 15 * len(textwrap.wrap(described(each), 54)) for each in FOLDERS))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">'
    )
    title = "  <title>maxmargin: the two ways of a fit, and the folders of the package</title>"
    background = f'  <rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([opening, title, f"  <style>{STYLE}\n  </style>{HEAD}", background, *body, "</svg>", ""])


if __name__ == "__main__":
    (DOCS / "architecture.svg").write_text(drawing(), encoding="utf-8")
