"""Plots of trained models, as Display objects like those of scikit-learn; they need `pip install maxmargin[plot]`.

A display is created by `from_estimator`, or from plain arrays by its constructor. It keeps the numbers that it shows as
attributes and draws them with `plot(ax=None)`. Drawing the same display again repeats no computation.

Figures that a display makes are in the house style; axes that you give keep the style in which you made them.
`plt.style.use(maxmargin.plotting.STYLE)` gives your own figures the house style, too.
"""

from maxmargin.counting.route_display import RouteDisplay
from maxmargin.report.figures.canvas import STYLE
from maxmargin.report.figures.gap import GapDisplay
from maxmargin.report.figures.reliability import ReliabilityDisplay
from maxmargin.report.figures.rounds import RoundsDisplay
from maxmargin.report.figures.tuned import TunedDisplay
from maxmargin.structures.alignment.display import AlignmentDisplay
from maxmargin.structures.alignment.substitution_display import SubstitutionDisplay
from maxmargin.structures.clustering.display import ClusterDisplay
from maxmargin.structures.dependencies.display import DependencyDisplay
from maxmargin.structures.diversity.display import CoverageDisplay
from maxmargin.structures.graphs.display import SegmentationDisplay
from maxmargin.structures.motifs.display import LogoDisplay
from maxmargin.structures.parsing.display import TreeDisplay
from maxmargin.structures.sequences.image_display import ImageSequenceDisplay
from maxmargin.structures.sequences.transition_display import TransitionDisplay

__all__ = [
    "STYLE",
    "AlignmentDisplay",
    "ClusterDisplay",
    "CoverageDisplay",
    "DependencyDisplay",
    "GapDisplay",
    "ImageSequenceDisplay",
    "LogoDisplay",
    "ReliabilityDisplay",
    "RoundsDisplay",
    "RouteDisplay",
    "SegmentationDisplay",
    "SubstitutionDisplay",
    "TransitionDisplay",
    "TreeDisplay",
    "TunedDisplay",
]
