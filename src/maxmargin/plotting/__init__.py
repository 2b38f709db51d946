"""Pictures of trained models, as Display objects in scikit-learn's sense; they need `pip install maxmargin[plot]`.

A display is made by `from_estimator` (or from plain arrays, by its constructor), keeps the numbers it shows as
attributes, and draws them with `plot(ax=None)`. Drawing again or elsewhere computes nothing anew.
"""

from maxmargin.plotting.alignment import AlignmentDisplay
from maxmargin.plotting.cluster import ClusterDisplay
from maxmargin.plotting.coverage import CoverageDisplay
from maxmargin.plotting.gap import GapDisplay
from maxmargin.plotting.image_sequence import ImageSequenceDisplay
from maxmargin.plotting.logo import LogoDisplay
from maxmargin.plotting.rounds import RoundsDisplay
from maxmargin.plotting.route import RouteDisplay
from maxmargin.plotting.segmentation import SegmentationDisplay
from maxmargin.plotting.substitution import SubstitutionDisplay
from maxmargin.plotting.transition import TransitionDisplay
from maxmargin.plotting.tree import TreeDisplay

__all__ = [
    "AlignmentDisplay",
    "ClusterDisplay",
    "CoverageDisplay",
    "GapDisplay",
    "ImageSequenceDisplay",
    "LogoDisplay",
    "RoundsDisplay",
    "RouteDisplay",
    "SegmentationDisplay",
    "SubstitutionDisplay",
    "TransitionDisplay",
    "TreeDisplay",
]
