"""load: models from files, whoever wrote them.

The classes that a file may name are those of the table below, and no others: a name is looked up in it, never imported
as it stands. Fields are checked before objects are made of them (files/objects.py).
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

from maxmargin.base.files.container import read
from maxmargin.base.files.plain_data import DataReader
from maxmargin.base.files.saving import FORMAT, SavedModel

CLASSES = {  # module: its classes
    "counting.certificate": "CountingCertificate",
    "counting.classifier": "CountingClassifier",
    "counting.multilabel": "CountingMultilabel",
    "counting.predictor": "CountingPredictor",
    "counting.route_predictor": "RoutePredictor",
    "counting.sets.arborescences": "Arborescences",
    "counting.sets.assignments": "Assignments",
    "counting.sets.classes": "Classes OrderedClasses",
    "counting.sets.cycles": "CyclicPermutations HamiltonianCycles",
    "counting.sets.dag_paths": "DagPaths",
    "counting.sets.graphs": "Cliques EdgeSets KCliques",
    "counting.sets.hierarchy": "HierarchyLabels HierarchyPaths",
    "counting.sets.matchings": "Matchings PerfectMatchings",
    "counting.sets.orders": "PartialTournaments Permutations",
    "counting.sets.paths": "Paths",
    "counting.sets.sequences": "LabelSequences",
    "counting.sets.spanning_trees": "SpanningTrees",
    "counting.sets.subsets": "AllSubsets Subsets",
    "inputs.tokens.hashed_names": "HashedNames",
    "inputs.packed.packed_classes": "PackedClasses",
    "inputs.tokens.token_templates": "TokenTemplates",
    "inputs.tokens.tokens": "SequencePacker",
    "inputs.tokens.vocabulary": "Vocabulary",
    "kernels.auto": "Auto MapWithConstant",
    "kernels.functions": "Cosine Linear Polynomial Precomputed RBF Sigmoid WithConstant",
    "kernels.inputs": "GraphRows SequenceRows",
    "kernels.map": "KernelMap",
    "kernels.projection": "Projection",
    "kernels.random_maps": "PolynomialCountSketch RBFSampler",
    "problem.dual.objective": "Certificate",
    "training.probabilistic": "Calibration",
    "solvers.base": "Solution",
    "solvers.bcfw": "BCFW",
    "solvers.bundle": "Bundle",
    "solvers.cccp": "CCCP",
    "solvers.descent": "Round",
    "solvers.exponentiated_gradient": "ExponentiatedGradient",
    "solvers.lbfgs": "LBFGS",
    "solvers.n_slack": "NSlack",
    "solvers.one_slack": "OneSlack",
    "solvers.perceptron": "Perceptron",
    "solvers.sampled_cuts": "SampledCuts",
    "solvers.subgradient": "Subgradient Walk",
    "training.structured": "StructuredSVM",
    "structures.alignment.columns": "Columns",
    "structures.alignment.estimator": "Aligner",
    "structures.alignment.gaps": "Gaps",
    "structures.alignment.homolog_ranker": "HomologRanker",
    "structures.alignment.homologs": "Homologs",
    "structures.alignment.substitution": "Match",
    "structures.alignment.task": "Alignment",
    "structures.alignment.views": "Average Column Product Window",
    "structures.assignment.estimator": "Assigner",
    "structures.assignment.task": "Links",
    "structures.classes.multiclass": "Multiclass",
    "structures.classes.multiclass_svc": "MulticlassSVC",
    "structures.classes.ordinal": "Ordinal",
    "structures.classes.ordinal_svc": "OrdinalSVC",
    "structures.classes.taxonomy": "Taxonomy",
    "structures.classes.taxonomy_svc": "TaxonomySVC",
    "structures.clustering.correlation": "Correlation",
    "structures.clustering.estimator": "Clusterer",
    "structures.clustering.forest": "Forest",
    "structures.decisions.estimator": "CostLearner",
    "structures.decisions.task": "Decisions",
    "structures.dependencies.estimator": "DependencyParser",
    "structures.dependencies.lexicon": "Lexicon",
    "structures.dependencies.task": "Dependencies",
    "structures.dependencies.word_arcs": "WordArcs",
    "structures.diversity.estimator": "Diversifier",
    "structures.diversity.task": "Diversity",
    "structures.diversity.word_coverage": "Level",
    "structures.graphs.estimator": "GraphLabeler",
    "structures.graphs.task": "Graph",
    "structures.motifs.estimator": "MotifFinder",
    "structures.motifs.sites": "Site",
    "structures.motifs.task": "Motif",
    "structures.parsing.estimator": "Parser",
    "structures.parsing.joint_features": "JointFeatures",
    "structures.parsing.pcfg": "PCFG",
    "structures.parsing.productions": "Productions Symbol",
    "structures.parsing.sentences": "FeatureReader TagReader WordReader",
    "structures.parsing.span_features": "SpanFeatures",
    "structures.parsing.task": "Grammar",
    "structures.parts.optimisers.arborescence": "Arborescence",
    "structures.parts.optimisers.assignment": "Assignment",
    "structures.parts.optimisers.dag_path": "DagPath",
    "structures.parts.optimisers.grid_path": "GridPath",
    "structures.parts.optimisers.knapsack": "Knapsack",
    "structures.parts.optimisers.linear_program": "LinearProgram",
    "structures.parts.optimisers.min_cost_flow": "MinCostFlow",
    "structures.parts.optimisers.shortest_path": "ShortestPath",
    "structures.parts.optimisers.spanning_tree": "SpanningTree",
    "structures.ranking.contingency": "Contingency",
    "structures.ranking.measure_svc": "MeasureSVC",
    "structures.ranking.packed_queries": "PackedQueries",
    "structures.ranking.ranker": "Ranker",
    "structures.ranking.ranking": "Ranking",
    "structures.ranking.soft_labels": "SoftLabels",
    "structures.ranking.topk": "TopK",
    "structures.segments.estimator": "SegmentLabeler",
    "structures.segments.segment_features": "SegmentFeatures",
    "structures.segments.segment_text": "SegmentText",
    "structures.segments.task": "SemiMarkov",
    "structures.sequences.estimator": "SequenceLabeler",
    "structures.sequences.packed_sequences": "PackedSequences",
    "structures.sequences.task": "Chain",
}
MODULES = {name: module for module, names in CLASSES.items() for name in names.split()}


def load(path: str | os.PathLike[str], task: type | None = None) -> Any:
    """The model that `save` has written to a file.

    task : of a StructuredSVM with a task of your own, its class. It is not called; its attributes are set.

    Raises a ValueError where the file is damaged, was not written by `save`, or describes a model that cannot be. It is
    safe to load files of people whom one does not trust: nothing is unpickled, and no code runs that the file names.
    """
    description, tensors = read(path)
    name = os.fspath(path)
    form = description.get("format")
    if type(form) is not int or not 1 <= form <= FORMAT:
        raise ValueError(f"{name} has format {form!r}; this version of maxmargin knows the formats 1 to {FORMAT}")
    parts, number = description.get("parts"), description.get("model")
    if not isinstance(parts, list) or type(number) is not int or not 0 <= number < len(parts):
        raise ValueError(f"{name} is damaged: it does not say which of its parts is the model")
    try:
        reader = DataReader(tensors, known_class, task)
        for entry in parts:
            reader.add_part(entry)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} cannot be loaded: {error}") from None
    model = reader.parts[number]
    if not isinstance(model, SavedModel):
        raise ValueError(f"{name} is damaged: it describes a {type(model).__name__}, which is no model")
    return model


@cache
def known_class(name: str) -> type | None:
    """The class of this name that files may have; None where there is none."""
    module = MODULES.get(name)
    return None if module is None else getattr(import_module(f"maxmargin.{module}"), name)
