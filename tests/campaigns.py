"""The campaigns of docs/explanation/reliability.md: files that make proofs runs as a whole, and their cases."""

import importlib
from math import prod


def cases(module, *names):
    """Return how many cases some tests of a module have, or all of its tests: products of their lists of parameters."""
    tests = [getattr(module, name) for name in names or vars(module) if name.startswith("test_")]
    return sum(
        prod(len(mark.args[1]) for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize")
        for test in tests
    )


def kills(module):
    from training.checkpoints import kills

    return module.KILLS, len(kills.problems())


# For each file, a function of its module that returns the numbers of cases in the order of the page.
COUNTS = {
    "training/checkpoints/test_processes.py": kills,
    "training/checkpoints/test_edited_code.py": lambda m: (len(m.EDITS), len(m.NO_EDITS)),
    "base/files/test_hostile_files.py": lambda m: (len(m.MAKERS) * m.SLOW, len(m.MAKERS)),
    "base/files/test_bounds_checked.py": lambda m: (len(m.MAKERS) * m.CHECKED, len(m.MAKERS)),
    "structures/test_certificates.py": lambda m: (
        4 * cases(m, "test_certificates_hold_without_rounding"),
        2 * cases(m, "test_certificates_of_smooth_objectives_hold"),
    ),
    "counting/test_certificates.py": lambda m: (
        len(m.SETS) * len(m.MANY),
        len({type(each) for each in m.SETS}),
    ),
    "structures/sequences/test_prediction_sets.py": lambda m: (
        2 * len(m.DISTRIBUTIONS) * len(m.SIZES),
        len(m.DISTRIBUTIONS),
        m.TRIALS,
    ),
    "structures/ranking/test_cv_scores.py": lambda m: (
        cases(m, "test_scores_of_noise_are_not_too_high_for_other_measures"),
        m.SAMPLES,
    ),
    "estimators/test_combinations.py": lambda m: (len(m.CASES), len(m.REFUSALS)),
    "inputs/test_duplicates.py": lambda m: (cases(m, "test_the_model_is_that_of_rows_without_duplicates"),),
    "command/test_faults.py": lambda m: (len(m.CASES),),
    "base/files/test_drafts.py": lambda m: (cases(m),),
    "executors/test_orphans.py": lambda m: (len(m.CASES),),
    "base/files/test_swelling.py": lambda m: (len(m.CRAFTED),),
    "test_kernel_modes.py": lambda m: (len(importlib.import_module("test_vocabulary").FITS),),
}
