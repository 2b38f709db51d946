"""ClusterDisplay: what is drawn of a clustering."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from maxmargin import Clusterer
from maxmargin.plotting import ClusterDisplay
from maxmargin.report.figures.canvas import GREY
from maxmargin.structures.clustering.display import BLACK
from maxmargin.tasks import Pairs


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def lines(display):
    """The right links and the wrong ones."""
    return display.ax_.collections[:2]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_links_between_true_clusters_are_black():
    display = ClusterDisplay(["a", "a", "a", "b"], [(0, 1, 2.0), (1, 2, 0.5)], truth=[5, 5, 6, 6]).plot()
    assert display.labels.tolist() == [0, 0, 0, 1]
    assert display.truth.tolist() == [0, 0, 1, 1]
    assert display.wrong.tolist() == [False, True]
    right, wrong = lines(display)
    assert [to_hex(each.get_colors()[0]) for each in (right, wrong)] == [GREY, BLACK]
    assert right.get_linewidths()[0] > wrong.get_linewidths()[0]
    assert legend(display) == ["colour: true cluster", "link", "wrong link"]
    assert display.ax_.get_title() == "2 clusters, 2 true; 1 of 2 links wrong"
    points = display.ax_.collections[2:]
    assert right.get_zorder() < points[0].get_zorder() < wrong.get_zorder()  # short links are not hidden
    assert [len(each.get_offsets()) for each in points] == [2, 2]  # coloured by the truth
    assert to_hex(points[0].get_facecolors()[0]) != to_hex(points[1].get_facecolors()[0])


def test_without_truth_and_scores():
    ax = plt.figure().subplots()
    display = ClusterDisplay([1, 2, 1], [(0, 2)], points=[[0, 0], [1, 1], [2, 0]]).plot(ax)
    assert display.ax_ is ax
    assert (display.truth, display.wrong, display.scores) == (None, None, None)
    right, wrong = lines(display)
    assert right.get_segments()[0].tolist() == [[0, 0], [2, 0]]
    assert wrong.get_segments() == []
    assert [len(each.get_offsets()) for each in ax.collections[2:]] == [2, 1]
    assert ax.get_title() == "2 clusters"
    assert legend(display) == ["colour: predicted cluster", "link"]


def test_points_round_a_circle_keep_clusters_together():
    display = ClusterDisplay([0, 1, 0, 1, 0])
    assert np.allclose(np.linalg.norm(display.points, axis=1), 1)
    angles = np.arctan2(display.points[:, 1], display.points[:, 0]) % (2 * np.pi)
    assert np.argsort(angles).tolist() == [0, 2, 4, 1, 3]
    gaps = np.diff(np.sort(angles))
    assert gaps[2] == pytest.approx(2 * gaps[0])


def test_more_clusters_than_colours_have_other_shapes():
    display = ClusterDisplay(range(25)).plot()
    points = display.ax_.collections[2:]
    looks = {(to_hex(each.get_facecolors()[0]), each.get_paths()[0].vertices.tobytes()) for each in points}
    assert len(points) == len(looks) == 25


def test_from_estimator():
    x, y = Pairs.of([1.0, 1.1, 5.0, 5.1], lambda a, b: [abs(a - b)]), [0, 0, 1, 1]
    model = Clusterer(C=10.0).fit([x], [y])
    display = ClusterDisplay.from_estimator(model, x, y, points=[[1, 0], [1.1, 0], [5, 0], [5.1, 0]]).plot()
    assert display.labels.tolist() == y
    assert sorted(map(tuple, display.links.tolist())) == [(0, 1), (2, 3)]
    assert not display.wrong.any()
    np.testing.assert_array_equal(display.scores, [link.score for link in model.links([x])[0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [(0, 2)]), "links join items 0 to 2; expected 0 to 1"),
        (([0, 1], [], [0]), "truth has 2 items but 1 cluster labels"),
        (
            ([0, 1], [], None, [[0, 0]]),
            r"points have shape \(1, 2\); expected \(2, 2\), two coordinates for every item",
        ),
        (([0, None],), "labels: the label of item 1 is None"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ClusterDisplay(*arguments)
