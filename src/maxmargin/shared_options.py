"""Parameters that several estimators share are declared once, in the constructor of a common base class."""

from __future__ import annotations

import inspect
from typing import Any


class SharedOptions:
    """An estimator's constructor lists its own parameters and passes `**options` on to its base class.

    Its signature, which is what scikit-learn's get_params, clone and GridSearchCV read, is then made to name both.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
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

    def _refuse(self, unknown: dict[str, Any]) -> None:
        """Of what the base class was passed, what it does not know; the message names the estimator, not the base."""
        if unknown:
            known = ", ".join(inspect.signature(type(self)).parameters)
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(unknown))!r}; it has {known}")
