"""Reported: the mixin of estimators that can write a report about the fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.errors import hearing
from maxmargin.inputs.packed.packed_data import PackedData

if TYPE_CHECKING:
    from maxmargin.report.explanation import Explanation
    from maxmargin.report.findings import Findings, Section
    from maxmargin.report.page import ModelReport


class Reported:
    """A mixin with `report`, and a card in notebooks; an estimator implements `_findings`, and optionally `_learnt`."""

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

        The page is a single HTML file that loads nothing: certificate, scores with bootstrap intervals, what was
        learnt, the worst mistakes, and settings. `save(path)` writes it, `html` is its text, and a notebook shows it.
        The same arguments give the same bytes.

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
        return report_of(
            self,
            findings,
            sections=sections,
            said=said,
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
