"""Matrices that users give."""

import numpy as np
import pandas as pd
import pytest

import maxmargin as mm
from maxmargin.kernels import KernelMap

TABLE = pd.DataFrame(np.arange(16.0).reshape(4, 4) % 5, columns=["a", "b", "c", "a"])
OTHERS = {mm.Ranker: {"qid": [0, 0, 1, 1]}}


@pytest.mark.parametrize("kind", [mm.MulticlassSVC, mm.OrdinalSVC, mm.MeasureSVC, mm.Ranker, mm.CountingClassifier])
def test_a_table_with_two_columns_of_one_name_is_refused(kind):
    with pytest.raises(ValueError, match="X has the column 'a' more than once; expected columns with different names"):
        kind().fit(TABLE, [0, 1, 0, 1], **OTHERS.get(kind, {}))


def test_a_kernel_map_refuses_it_as_well():
    with pytest.raises(ValueError, match="X has the column 'a' more than once"):
        KernelMap("rbf").fit(TABLE)
