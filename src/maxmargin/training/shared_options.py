"""Parameters that several estimators share are declared once, and described once.

Declared: in the constructor of a common base class. Described: in DESCRIPTIONS below, which a docstring quotes by a
line of its own with the parameter's name in braces, where its description would stand.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from string import Template
from typing import Any, ClassVar

# The first line of a description names the types, the rest is one paragraph. $units and $default_tol are the
# estimator's own.
DESCRIPTIONS = {
    "classes": """
        classes : sequence or None
        The label set; None takes what the training data show.
        """,
    "costs": """
        costs : None, dict or array
        What a mistake costs: 1 (None), {label: cost of missing it}, or a matrix cost[true, predicted] in the order of
        classes_.
        """,
    "fit_intercept": """
        fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
        """,
    "kernel": """
        kernel : None, str, callable or Kernel
        None: scores are linear in the features of $units. "rbf", "poly", …, an object of maxmargin.kernels or a
        function f(A, B) that returns a matrix of kernel values replaces the inner products of $units; "precomputed"
        means that the features are such values, a column for each of the $units of the training data. Models then have
        support_, the numbers of those $units that they are made of, instead of weights of features. "auto" (an RBF) or
        kernels.Auto(kernel) chooses by size between this and an explicit map; a kernels.KernelMap is one. Models then
        have kernel_map_ instead of support_.
        """,
    "tol": """
        tol : float or None
        Relative duality gap to stop at; None: $default_tol, or what a solver object says itself.
        """,
}

_QUOTE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
_WIDTH = 120


class SharedOptions:
    """An estimator's constructor lists its own parameters and passes `**options` on to its base class.

    Its signature, which is what scikit-learn's get_params, clone and GridSearchCV read, is then made to name both. Its
    docstring gets the descriptions that it quotes.
    """

    _units: ClassVar[str] = "rows"  # what has features: how descriptions speak of the inputs

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if vars(cls).get("__doc__"):  # there is none with python -OO
            cls.__doc__ = _QUOTE.sub(cls._description, str(cls.__doc__))
        if "__init__" not in vars(cls):
            return
        own = inspect.signature(cls.__init__)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        if len(named) < len(own.parameters):
            above = next(base for base in cls.__mro__[1:] if "__init__" in vars(base))
            named += [
                p.replace(kind=p.KEYWORD_ONLY)
                for p in inspect.signature(above.__init__).parameters.values()  # type: ignore[misc]
                if p.name not in own.parameters and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            ]
            cls.__init__.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]

    @classmethod
    def _description(cls, quote: re.Match[str]) -> str:
        """What stands in the place of a quote, as far indented."""
        indent, name = quote.groups()
        if name not in DESCRIPTIONS:
            raise ValueError(
                f"the docstring of {cls.__name__} quotes {name!r}; expected one of {', '.join(DESCRIPTIONS)}"
            )
        head, _, text = textwrap.dedent(DESCRIPTIONS[name]).strip().partition("\n")
        text = Template(text).substitute(units=cls._units, default_tol=getattr(cls, "_default_tol", None))
        below = indent + 4 * " "
        return f"{indent}{head}\n" + textwrap.fill(
            text, _WIDTH, initial_indent=below, subsequent_indent=below, break_on_hyphens=False
        )

    def _refuse(self, unknown: dict[str, Any]) -> None:
        """Of what the base class was passed, what it does not know; the message names the estimator, not the base."""
        if unknown:
            known = ", ".join(inspect.signature(type(self)).parameters)
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(unknown))!r}; it has {known}")
