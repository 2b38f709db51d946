"""The descriptions of capabilities in messages, and the error for a batch that lacks one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.contract.capabilities.narrowed_search import NarrowedSearch
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.capabilities.portable import Portable
from maxmargin.problem.contract.capabilities.prediction_form import PredictionForm
from maxmargin.problem.contract.capabilities.relaxation_report import RelaxationReport
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.resumable_searches import ResumableSearches
from maxmargin.problem.contract.capabilities.signed_losses import SignedLosses
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.capabilities.summing_shards import SummingShards

Offered = TypeVar("Offered")

# A description of a batch with each capability, to follow "needs".
DESCRIPTIONS: Mapping[type, str] = MappingProxyType(
    {
        DistributionDual: "a distribution of outputs for every example",
        KernelSpace: "a kernel",
        Latent: "labels with hidden parts",
        MissingLabels: "examples that may lack labels",
        NarrowedSearch: "a search that can be narrowed to some outputs",
        OwnDual: "a dual in the structure's own form",
        Portable: "data that can be cut into shards",
        PredictionForm: "a form of its own for prediction",
        RelaxationReport: "a relaxation that reports fractional answers",
        RescaledSearch: "an exact search for rescaled and squared slacks",
        ResumableSearches: "searches that can be resumed",
        SignedLosses: "losses that may be negative",
        Smooth: "sums over all outputs",
        SummingShards: "shards that are summed up where they are",
    }
)


def required(batch: Batch, capability: type[Offered], who: str, instead: str = "") -> Offered:
    """Return the object that the batch offers for this capability, or raise a ValueError that says what is missing.

    Parameters
    ----------
    batch : Batch
        The training data.
    capability : type
        A protocol of this folder.
    who : str
        The object that needs it, as the beginning of the message, such as "solver='exponentiated_gradient'".
    instead : str
        The remedy, as a clause without a capital or a full stop.
    """
    offered = batch.offers(capability)
    if offered is None:
        remedy = f"; {instead}" if instead else ""
        raise ValueError(f"{who} needs {DESCRIPTIONS[capability]}, which {batch.name} does not have here{remedy}")
    return offered
