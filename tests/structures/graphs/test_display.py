"""SegmentationDisplay: what is drawn of a labelled image."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from maxmargin.plotting import SegmentationDisplay
from maxmargin.tasks import Nodes


class Half:
    """A model that calls the first half of the nodes "sky"."""

    classes_ = ("grass", "sky")

    def predict(self, X):
        found = []
        for x in X:
            labels = np.where(np.arange(len(x)) < len(x) / 2, "sky", "grass")
            found.append(labels.reshape(x.label_shape))
        return found


TRUTH = np.array([["sky", "sky", "sky"], ["sky", "sky", "sky"], ["grass", "grass", None], ["sky", "grass", "grass"]])
IMAGE = np.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def painted(display):
    return [image.get_array() for image in display.ax_.images]


def test_image_truth_and_prediction_side_by_side():
    display = SegmentationDisplay.from_estimator(Half(), Nodes.grid(IMAGE), TRUTH).plot()
    assert display.classes == ["grass", "sky"]
    assert display.prediction.tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert display.truth.tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, -1], [1, 0, 0]]
    assert display.right == 10 / 11
    assert [text.get_text() for text in display.ax_.texts] == ["image", "true labels", "prediction, 90.9% right"]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["grass", "sky"]
    image, under_truth, truth, under_prediction, prediction = painted(display)
    for each in (image, under_truth, under_prediction):
        np.testing.assert_array_equal(each, IMAGE)
    assert truth[2, 2, 3] == 0  # not known, not coloured
    assert (prediction[:, :, 3] == 0.55).all()
    assert (truth[0, 0] == prediction[0, 0]).all()
    assert (prediction[0, 0, :3] != prediction[3, 0, :3]).any()
    lefts = [each.get_extent()[0] for each in display.ax_.images]
    assert lefts[0] < lefts[1] == lefts[2] < lefts[3] == lefts[4]


def test_prediction_alone():
    ax = plt.figure().subplots()
    display = SegmentationDisplay(np.array([[1, 2], [2, 2]])).plot(ax)
    assert display.ax_ is ax
    assert (display.truth, display.image, display.right) == (None, None, None)
    (prediction,) = painted(display)
    assert (prediction[:, :, 3] == 1).all()
    assert [text.get_text() for text in ax.texts] == ["prediction"]


def test_colours_that_are_given():
    display = SegmentationDisplay(np.array([["sky", "grass"]])).plot(colours={"sky": "#ff0000"})
    (prediction,) = painted(display)
    assert prediction[0, 0].tolist() == [1, 0, 0, 1]
    assert display.ax_.get_legend().get_patches()[1].get_facecolor() == (1, 0, 0, 1)
    with pytest.raises(ValueError, match="colours names the label 'sea', which is not one of the classes"):
        display.plot(colours={"sea": "blue"})


def test_regions():
    regions = np.array([[0, 0, 1], [2, 2, 1]])
    x = Nodes(np.zeros((3, 5)), [(0, 1), (1, 2)])
    image = np.zeros((2, 3, 3), dtype=np.uint8)
    display = SegmentationDisplay.from_estimator(Half(), x, ["sky", "tree", None], regions=regions, image=image).plot()
    assert display.classes == ["grass", "sky", "tree"]  # the model does not know the last one
    assert display.prediction.tolist() == [[1, 1, 1], [0, 0, 1]]
    assert display.truth.tolist() == [[1, 1, 2], [-1, -1, 2]]
    assert display.right == 0.5


def test_colours_of_any_range_are_drawn():
    display = SegmentationDisplay(np.zeros((2, 2), dtype=int), image=np.arange(12.0).reshape(2, 2, 3) - 5).plot()
    assert display.image.min() == 0
    assert display.image.max() == 1


@pytest.mark.parametrize("n", [2, 15, 40])
def test_as_many_colours_as_classes(n):
    display = SegmentationDisplay(np.arange(n).reshape(1, n)).plot()
    (prediction,) = painted(display)
    assert len(np.unique(prediction[0], axis=0)) == n


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2, 3],), r"prediction has shape \(3,\); expected \(H, W\), or regions"),
        ((np.eye(2), np.eye(3)), r"truth has shape \(3, 3\); expected \(2, 2\)"),
        ((np.eye(2), None, np.zeros((3, 2))), r"image has shape \(3, 2\); expected \(2, 2\)"),
        ((np.eye(2), None, np.zeros((2, 2, 2))), r"the image has shape \(2, 2, 2\)"),
        (([1, 2], None, None, [[0, 2]]), "regions are numbered 0 to 2, but prediction has 2 labels"),
        (([1, 2], None, None, [0, 1]), r"regions have shape \(2,\)"),
        ((np.eye(2), None, None, None, [1, 2]), "prediction has the label 0.0, which is not one of the classes"),
    ],
    ids=["flat", "truth", "image", "channels", "far", "line", "classes"],
)
def test_faults_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        SegmentationDisplay(*arguments)


def test_graphs_without_places_are_refused():
    with pytest.raises(ValueError, match="the graph is not a grid, so the positions of its nodes are unknown"):
        SegmentationDisplay.from_estimator(Half(), Nodes(np.eye(3), []))
