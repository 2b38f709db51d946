"""Labels of items as numbers of clusters; errors are in test_pair_task.py and test_measures.py."""

import numpy as np

from maxmargin.structures.clustering.labels import cluster_numbers


def test_numbers_follow_the_order_of_appearance():
    assert cluster_numbers(["b", ("a", 1), "b", 3.0, 3], 5, "y").tolist() == [0, 1, 0, 2, 2]
    assert cluster_numbers(np.array([9, 2, 9]), 3, "y").tolist() == [0, 1, 0]
