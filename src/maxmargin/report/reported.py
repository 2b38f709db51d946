"""Reported: what estimators have that can tell people what they have learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.errors import hearing
from maxmargin.inputs.packed.packed_data import PackedData

if TYPE_CHECKING:
    from maxmargin.report.findings import Findings, Section
    from maxmargin.report.page import ModelReport


class Reported:
    """An estimator with `report`, and with a card in notebooks: all that it writes is `_findings`, and `_learnt`."""

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
        """A page about this fitted model and its predictions for inputs X whose outputs Y are known.

        The page is one file of HTML that loads nothing: certificate, scores with bootstrap intervals, what was learnt,
        the worst mistakes, and settings. `save(path)` writes it, `html` is its text, and a notebook shows it. The same
        arguments give the same bytes.

        title : of the page.   facts : more lines for its first section, such as where the data come from.
        date : shown as it is given; None shows none.   seed : of the intervals.
        n_worst : how many of the worst mistakes are shown.   sections : more of them, after the scores.
        others : what `predict` or `score` takes beside X and Y, such as qid.
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
        said = list(dict.fromkeys(message for _, message in heard))  # the page says it, in the place of warnings
        return report_of(self, findings, sections=sections, said=said, **options)

    def _findings(self, X: Any, Y: Any) -> Findings:
        """What predictions for these data show."""
        raise NotImplementedError

    def _learnt(self) -> list[Section]:
        """What was learnt, as more than a list of weights."""
        return []

    def _proved(self) -> list[str]:
        """What is known of training, in sentences."""
        certificate: Any = getattr(self, "certificate_", None)
        return ["This model was made without training."] if certificate is None else list(certificate.explained())

    def _html_repr(self) -> str:
        """What notebooks show: a card before scikit-learn's table of parameters, once there is a model."""
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
