"""Which members of a public class the reference describes: its own and those of its bases in this package."""

from __future__ import annotations

import inspect


def skip_foreign_members(app: object, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn, PyTorch and the standard library define, and fields of named tuples.

    A handler of Sphinx's event autodoc-skip-member. Fields are described in the section Attributes of their class.

    Returns
    -------
    True to leave a member out, None to leave the decision to Sphinx.
    """
    if name.startswith("_"):
        return True
    function = member.fget if isinstance(member, property) else inspect.unwrap(member) if callable(member) else member
    function = getattr(function, "__func__", getattr(function, "func", function))
    home = getattr(function, "__module__", None)
    if not isinstance(home, str) or not home.startswith("maxmargin"):
        return True
    return None if inspect.getdoc(function) else True
