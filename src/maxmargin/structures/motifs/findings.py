"""The findings of a report on a motif: its logo, its sites, and strings that are classified wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.inputs.labels.labels import plain
from maxmargin.report.drawings import picture
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of
from maxmargin.report.sections import confusion_section, table
from maxmargin.structures.motifs.display import LogoDisplay
from maxmargin.structures.motifs.examples import strings_of
from maxmargin.structures.motifs.sites import Site

AROUND = 60  # letters shown on either side of a site
MOST_SITES = 100
COLUMN, HEIGHT, LEFT = 24, 110, 56  # pixels of a logo
KINDS = {"A": 2, "C": 0, "G": 1, "T": 6, "U": 6}  # colours of nucleotides; other letters cycle through all colours


def motif_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Measure the share of right classes, and rank wrong strings by the size of their scores."""
    strings = strings_of(X)
    truth, found = [plain(each) for each in Y], [plain(each) for each in model.predict(X)]
    if len(truth) != len(found):
        raise ValueError(f"X has {len(found)} strings but y has {len(truth)} labels; expected one label per string")
    wrong = np.array([a != b for a, b in zip(truth, found, strict=True)], dtype=bool)
    sites = model.find_sites(X)
    gains = np.array([site.score for site in sites])
    confusion = LabelConfusion.of(zip(truth, found, strict=True))
    return Findings(
        unit="string",
        measures=[mean_of("right classes", ~wrong)],
        wrongness=np.where(wrong, np.abs(gains) + 1e-300, 0.0),
        said=lambda i: f"{truth[i]} taken for {found[i]}; the best site has the score {gains[i]:.4g}",
        drawn=lambda i: _site(str(strings[i]), sites[i], model.length_),
        legend=note("The best site of the motif is marked; positions are counted from 0."),
        sections=(confusion_section(confusion, "string"),),
    )


def learnt_motif(model: Any) -> list[Section]:
    """Show the logos of the sites and of the weights, and the sites in the training strings."""
    logos = [LogoDisplay.from_estimator(model, kind) for kind in ("information", "weights")]
    content: list[Any] = [
        Element("p", "Consensus: ", Element("code", model.consensus_), f", from {len(model.sites_)} sites."),
        [[Element("h3", title), logo(each)] for title, each in zip(("Information", "Weights"), logos, strict=True)],
    ]
    sites = sorted(model.sites_, key=lambda site: -site.score)[:MOST_SITES]
    rows = [[site.sequence, site.start, site.strand, Element("code", site.text), f"{site.score:.4g}"] for site in sites]
    cut = f" The {MOST_SITES} best of {len(model.sites_):,} are shown." if len(model.sites_) > MOST_SITES else ""
    head = ["string", "start", "strand", "site", "gain"]
    listed = [note(f"Sites found in training, the best ones first.{cut}"), table(head, rows, numbers=[0, 1, 4])]
    return [Section("Motif", content), Section("Sites in the training strings", listed)]


def logo(shown: LogoDisplay) -> Element:
    """Draw letters stretched to their heights, the tallest of each position farthest from the axis."""
    heights = shown.heights
    top = float(np.where(heights > 0, heights, 0).sum(axis=1).max(initial=0))
    low = float(np.where(heights < 0, heights, 0).sum(axis=1).min(initial=0))
    top = max(top, float(np.log2(len(shown.alphabet)))) if shown.ylabel == "bits" else top
    unit = HEIGHT / ((top - low) or 1.0)
    zero, drawn = top * unit, []
    for j, row in enumerate(heights):
        for sign in (1, -1):
            level = 0.0
            for k in np.argsort(np.abs(row), kind="stable"):
                if sign * row[k] > 0 and abs(row[k]) * unit >= 0.5:
                    base = zero - unit * (level if sign > 0 else level + row[k])
                    drawn.append(_letter(shown.alphabet[k], int(k), COLUMN * j, base, abs(row[k]) * unit))
                    level += float(row[k])
        number: dict[str, Any] = {
            "x": COLUMN * (j + 0.5) + LEFT,
            "y": HEIGHT + 18,
            "text_anchor": "middle",
            "class_": "axis",
        }
        drawn.append(Element("text", str(j + 1), **number))
    width = LEFT + COLUMN * len(heights)
    drawn.append(Element("line", x1=LEFT - 4, x2=width, y1=zero, y2=zero, class_="tick"))
    drawn.append(Element("text", f"{top:.2g}", x=LEFT - 8, y=12, text_anchor="end", class_="axis"))
    drawn.append(Element("text", shown.ylabel, x=0, y=HEIGHT + 18, class_="axis"))
    return picture(drawn, width + 4, HEIGHT + 24, f"sequence logo, {shown.ylabel}")


def _letter(letter: str, k: int, x: float, base: float, height: float) -> Element:
    """Draw one letter; a capital letter has about 0.72 of its font size as height, and is stretched from there."""
    size = 24.0
    moved = f"translate({LEFT + x:.1f} {base:.1f}) scale(1 {height / (0.72 * size):.3f})"
    kind = KINDS.get(letter, k)
    return Element(
        "text",
        letter,
        transform=moved,
        font_size=size,
        font_family="monospace",
        font_weight="bold",
        textLength=COLUMN - 2,
        lengthAdjust="spacingAndGlyphs",
        class_=f"letter fill label{kind % 8}",
    )


def _site(text: str, site: Site, length: int) -> Any:
    begin, end = max(0, site.start - AROUND), min(len(text), site.start + length + AROUND)
    return [
        Element(
            "pre",
            ["…" if begin else "", text[begin : site.start]],
            Element("mark", text[site.start : site.start + length]),
            [text[site.start + length : end], "…" if end < len(text) else ""],
            class_="wrapped",
        ),
        note(f"at {site.start} on strand {site.strand}, read as {short(site.text)}"),
    ]
