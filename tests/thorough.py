"""Property tests that draw fewer examples in make test than in make proofs, which runs them again."""

import os

from hypothesis import settings

THOROUGH = "MAXMARGIN_THOROUGH" in os.environ


def examples(few, many):
    """As many examples of a property as there is time for."""

    def decorated(test):
        return settings(max_examples=many if THOROUGH else few)(test)

    return decorated
