"""Property tests that draw fewer examples in make test than in make proofs, which runs them again."""

import os

from hypothesis import settings

THOROUGH = "MAXMARGIN_THOROUGH" in os.environ
FEW = 10  # examples of any property in make test, at most


def examples(few, many):
    """Draw `few` examples of a property in make test, where FEW are the most, and `many` in make proofs."""

    def decorated(test):
        return settings(max_examples=many if THOROUGH else min(few, FEW))(test)

    return decorated
