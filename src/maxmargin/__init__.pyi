"""The public names, and where they live."""

from . import baselines as baselines
from . import counting as counting
from . import datasets as datasets
from . import errors as errors
from . import executors as executors
from . import formats as formats
from . import inference as inference
from . import kernels as kernels
from . import metrics as metrics
from . import optimisers as optimisers
from . import plotting as plotting
from . import solvers as solvers
from . import tasks as tasks
from . import testing as testing
from .batch import Batch as Batch
from .counting.classifier import CountingClassifier as CountingClassifier
from .counting.multilabel import CountingMultilabel as CountingMultilabel
from .counting.predictor import CountingPredictor as CountingPredictor
from .counting.route_predictor import RoutePredictor as RoutePredictor
from .objective import Certificate as Certificate
from .planes import Planes as Planes
from .search import Search as Search
from .structured import StructuredSVM as StructuredSVM
from .structures.alignment.alignments import PairwiseAlignment as PairwiseAlignment
from .structures.alignment.estimator import Aligner as Aligner
from .structures.alignment.homolog_ranker import HomologRanker as HomologRanker
from .structures.assignment.estimator import Assigner as Assigner
from .structures.classes.multiclass_svc import MulticlassSVC as MulticlassSVC
from .structures.classes.ordinal_svc import OrdinalSVC as OrdinalSVC
from .structures.classes.taxonomy_svc import TaxonomySVC as TaxonomySVC
from .structures.clustering.estimator import Clusterer as Clusterer
from .structures.decisions.estimator import CostLearner as CostLearner
from .structures.dependencies.estimator import DependencyParser as DependencyParser
from .structures.diversity.estimator import Diversifier as Diversifier
from .structures.graphs.estimator import GraphLabeler as GraphLabeler
from .structures.motifs.estimator import MotifFinder as MotifFinder
from .structures.parsing.estimator import Parser as Parser
from .structures.parsing.pcfg import PCFG as PCFG
from .structures.parsing.trees import Tree as Tree
from .structures.ranking.measure_svc import MeasureSVC as MeasureSVC
from .structures.ranking.ranker import Ranker as Ranker
from .structures.sequences.estimator import SequenceLabeler as SequenceLabeler
from .task import Task as Task
from .tuning.tuned import Tuned as Tuned

__version__: str
