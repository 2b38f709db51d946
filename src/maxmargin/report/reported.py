"""Reported: the mixin of estimators that can write a report about the fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.errors import hearing
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Fields, Sometimes
from maxmargin.base.training_sketch import TrainingSketch
from maxmargin.inputs.packed.packed_data import PackedData

if TYPE_CHECKING:
    from maxmargin.report.explanation import Explanation
    from maxmargin.report.findings import Findings, Section
    from maxmargin.report.page import ModelReport


_IN_TRAINING: WeakSet[Any] = WeakSet()  # estimators inside of `fit` or a path


def remembering(train: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method `fit`, `path` or `fit_path` that also keeps a sketch of its training data, as the user gave them.

    The models in a list that `fit_path` returns have the sketch, too.
    """

    @wraps(train)
    def trained(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if self in _IN_TRAINING:  # this call is one of super(), with converted data
            return train(self, X, *others, **named)
        given = others[0] if others else next((named[name] for name in ("Y", "y", "routes") if name in named), None)
        self.__dict__.pop("training_sketch_", None)
        _IN_TRAINING.add(self)
        try:
            found = train(self, X, *others, **named)
        finally:
            _IN_TRAINING.discard(self)
        sketch = TrainingSketch.of(X, given)
        if sketch is not None:
            for model in (self, *(found if isinstance(found, list) else ())):
                model.training_sketch_ = sketch
        return found

    return trained


class Reported:
    """A mixin with `report`, and a card in notebooks; an estimator implements `_findings`, and optionally `_learnt`.

    The methods `fit`, `path` and `fit_path` of estimators keep a sketch of the training data, so that a report can say
    whether it is about these.
    """

    saved: ClassVar[Fields] = {"training_sketch_": Sometimes(Part(TrainingSketch))}
    training_sketch_: TrainingSketch

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        for name in ("fit", "path", "fit_path"):
            if name in vars(cls):
                setattr(cls, name, remembering(vars(cls)[name]))

    def report(
        self,
        X: Any,
        Y: Any,
        *,
        title: str | None = None,
        facts: Mapping[str, str] | None = None,
        date: str | None = None,
        seed: int = 0,
        n_worst: int = 10,
        sections: Sequence[Section] = (),
        **others: Any,
    ) -> ModelReport:
        """Return a page about this fitted model and its predictions for inputs X whose true outputs are Y.

        The page is a single HTML file that loads nothing: certificate, scores with intervals, what was learnt, the
        worst mistakes, and settings. It says so if X and Y are training data. `save(path)` writes it, `html` is its
        text, and a notebook shows it. The same arguments give the same bytes.

        Parameters
        ----------
        X, Y : array-like
            Inputs and their true outputs.
        title : str or None
            The title of the page.
        facts : mapping or None
            Further lines for its first section, such as the source of the data.
        date : str or None
            A date to show; None shows none.
        seed : int
            The seed of the intervals.
        n_worst : int
            The number of the worst mistakes that are shown.
        sections : sequence of Section
            Further sections, after the scores.
        **others
            Further arguments of `predict` or `score`, such as qid.

        Returns
        -------
        ModelReport.
        """
        from maxmargin.report.page import report_of

        check_is_fitted(self)
        if isinstance(X, PackedData):
            raise ValueError(
                f"a report shows single examples, which packed {X.kind} do not offer: give X and Y as lists"
            )
        options: dict[str, Any] = {"title": title, "facts": facts, "date": date, "seed": seed, "n_worst": n_worst}
        with hearing() as heard:
            findings = self._findings(X, Y, **others)
        said = list(dict.fromkeys(message for _, message in heard))  # shown on the page instead of warnings
        sketch = getattr(self, "training_sketch_", None)
        return report_of(
            self,
            findings,
            sections=sections,
            said=said,
            notice="" if sketch is None else sketch.notice(X, Y),
            explained=lambda i: self._explained_mistake(X, Y, i),
            **options,
        )

    def _findings(self, X: Any, Y: Any) -> Findings:
        """Return the findings about predictions for these data."""
        raise NotImplementedError

    def _explained_mistake(self, X: Any, Y: Any, i: int) -> Explanation | None:
        """Return why example i is predicted as it is and not as the truth says, or None if that cannot be said."""
        return None

    def _learnt(self) -> list[Section]:
        """Return sections about the learnt model, besides the list of weights."""
        return []

    def _proved(self) -> list[str]:
        """Return sentences that state what is proved about training."""
        certificate: Any = getattr(self, "certificate_", None)
        return ["This model was made without training."] if certificate is None else list(certificate.explained())

    def _html_repr(self) -> str:
        """Return the HTML that notebooks show: for a fitted model, a card before scikit-learn's table of parameters."""
        from maxmargin.report.card import card

        parameters: str = super()._html_repr()  # type: ignore[misc]
        return card(self) + parameters if self._has_model() else parameters

    def _has_model(self) -> bool:
        from sklearn.exceptions import NotFittedError

        try:
            check_is_fitted(self)
        except NotFittedError:
            return False
        return True
