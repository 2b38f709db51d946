import io
import tarfile

import numpy as np
import pytest

from benchmarks.loaders import (
    MSRC21_CLASSES,
    SUPERPIXEL_EDGE_FEATURES,
    DataNotFound,
    load_horse_picture,
    load_horses,
    load_msrc21,
    load_msrc21_picture,
    load_snakes,
    snake_grids,
)

BLUE, RED, GREEN, YELLOW, CYAN = (0, 0, 255), (255, 0, 0), (0, 255, 0), (255, 255, 0), (0, 255, 255)


def write_superpixels(path, n_classes, labels, split):
    """Graphs of two nodes and of one, one after another, as many as there are entries of split."""
    path.parent.mkdir()
    sizes = np.array([2 if i % 2 == 0 else 1 for i in range(len(split))])
    counts = np.zeros((sizes.sum(), n_classes + 1), dtype=np.uint16)
    counts[np.arange(len(counts)), np.minimum(labels, n_classes)] = 100 + np.arange(len(counts))
    np.savez(
        path,
        node_features=np.arange(3 * sizes.sum(), dtype=np.uint8).reshape(-1, 3),
        node_offsets=np.append(0, np.cumsum(sizes)).astype(np.int32),
        edges=np.array([[1, 0]] * np.count_nonzero(sizes == 2), dtype=np.uint16),
        edge_features=np.array([[1, 0.5, 0.25, 0]] * np.count_nonzero(sizes == 2), dtype=np.float16),
        edge_offsets=np.append(0, np.cumsum(sizes == 2)).astype(np.int32),
        pixel_counts=counts,
        node_labels=np.array(labels, dtype=np.uint8),
        split=np.array(split, dtype=np.uint8),
        names=np.array([f"picture{i}" for i in range(len(split))]),
    )


def test_superpixels_are_cut_into_graphs(folder):
    labels = [0, 4, 5, 22, 7, 255]  # building, horse; sheep; boat, mountain; void
    write_superpixels(folder / "msrc21" / "msrc21_superpixels.npz", 23, labels, [0, 1, 0, 2])
    train = load_msrc21("train")
    assert train.names == ["picture0", "picture2"]
    assert train.classes == MSRC21_CLASSES
    assert train.Y == [["building", None], ["boat", None]]
    assert [x.edges.tolist() for x in train.X] == [[[1, 0]], [[1, 0]]]
    assert [x.edge_features.tolist() for x in train.X] == [[[1, 0.5, 0.25, 0]]] * 2
    assert np.array_equal(train.X[1].features, np.arange(9, 15).reshape(2, 3) / 255)
    assert [each.shape for each in train.pixels] == [(2, 21)] * 2
    assert train.pixels[0].sum(axis=1).tolist() == [100, 0]  # pixels of horses do not count
    assert train.pixels[1][0, MSRC21_CLASSES.index("boat")] == 103
    validation, test = load_msrc21("validation"), load_msrc21("test")
    assert (validation.names, validation.Y, test.names, test.Y) == (["picture1"], [["sheep"]], ["picture3"], [[None]])
    assert validation.X[0].edge_features.shape == (0, 4)


def test_horses_have_two_parts(folder):
    write_superpixels(folder / "weizmann_horses" / "horses_superpixels.npz", 2, [0, 1, 1, 0, 0, 1], [0, 2, 2, 0])
    train, test = load_horses("train"), load_horses("test")
    assert (train.Y, test.Y) == ([["background", "horse"], ["horse"]], [["horse"], ["background", "background"]])
    assert train.pixels[0].tolist() == [[100, 0], [0, 101]]


def write_picture(archive, name, pixels, form):
    image = pytest.importorskip("PIL.Image")
    packed = io.BytesIO()
    image.fromarray(pixels).save(packed, format=form)
    with tarfile.open(archive, "a") as file:
        entry = tarfile.TarInfo(name)
        entry.size = packed.tell()
        packed.seek(0)
        file.addfile(entry, packed)


def test_pictures_are_found_by_name(folder):
    for set_name in ("msrc21", "weizmann_horses"):
        (folder / set_name).mkdir()
    grey = np.full((8, 8, 3), 128, dtype=np.uint8)
    classes = np.full((8, 8), 255, dtype=np.uint8)
    classes[0, :4] = 0, 4, 5, 22
    write_picture(folder / "msrc21" / "images_jpeg85.tar", "images/3_1_s.jpg", grey, "JPEG")
    write_picture(folder / "msrc21" / "labels_png.tar", "labels/3_1_s.png", classes, "PNG")
    image, labels = load_msrc21_picture("3_1_s")
    assert np.array_equal(image, grey)
    assert labels[0, :5].tolist() == [0, -1, MSRC21_CLASSES.index("sheep"), 20, -1]
    with pytest.raises(ValueError, match=r"no picture 'images/3_2_s\.jpg'"):
        load_msrc21_picture("3_2_s")
    write_picture(folder / "weizmann_horses" / "rgb_resized_jpeg88.tar", "rgb/horse001.jpg", grey, "JPEG")
    write_picture(folder / "weizmann_horses" / "masks_png.tar", "mask/horse001.png", classes < 5, "PNG")
    image, labels = load_horse_picture("horse001")
    assert np.array_equal(image, grey)
    assert labels[0].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]


def test_snakes_are_cut_into_images(folder):
    (folder / "snakes").mkdir()
    colours = np.arange(60, dtype=np.uint8).reshape(20, 3)
    labels = np.arange(20, dtype=np.uint8) % 11
    shapes = np.array([[2, 3], [7, 2]], dtype=np.int32)
    arrays = {"X": colours, "Y": labels, "shape": shapes}
    np.savez(folder / "snakes" / "snakes.npz", **{f"{name}_test": each for name, each in arrays.items()})
    images, drawn = load_snakes("test")
    assert [image.shape for image in images] == [(2, 3, 3), (7, 2, 3)]
    assert drawn[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert images[1][6, 1].tolist() == [57, 58, 59]
    assert drawn[1][6, 1] == 19 % 11


def test_colours_around_a_pixel():
    image = np.array([[BLUE, RED], [GREEN, YELLOW], [CYAN, BLUE]])
    (grid,) = snake_grids([image])
    assert (grid.label_shape, grid.features.shape, grid.edge_features.shape) == ((3, 2), (6, 45), (7, 2))
    own = [BLUE, RED, GREEN, YELLOW, CYAN]
    for row in range(3):
        for column in range(2):
            found = grid.features[2 * row + column].reshape(3, 3, 5)
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    inside = 0 <= row + down < 3 and 0 <= column + right < 2
                    expected = [inside and own[k] == tuple(image[row + down, column + right]) for k in range(5)]
                    assert found[down + 1, right + 1].tolist() == expected


def test_colours_at_the_ends_of_an_edge():
    image = np.array([[BLUE, RED], [GREEN, YELLOW]])
    (plain,), (grid,) = snake_grids([image]), snake_grids([image], colours_at_edges=True)
    assert np.array_equal(grid.edge_features[:, :2], plain.edge_features)
    assert grid.edge_features.shape == (4, 2 + 2 * 10)
    for (i, j), way, row in zip(grid.edges, plain.edge_features, grid.edge_features, strict=True):
        ends = row[2:].reshape(2, 2, 5)
        assert np.array_equal(ends[int(way[1])], grid.features[[i, j]].reshape(2, 9, 5)[:, 4])
        assert not ends[int(way[0])].any()


def test_other_colours_are_refused():
    with pytest.raises(ValueError, match=r"image 1: the pixel \(0, 1\) is \[9, 0, 0\]"):
        snake_grids([np.array([[BLUE]]), np.array([[BLUE, (9, 0, 0)]])])


@pytest.mark.parametrize("load", [load_msrc21, load_horses, load_snakes])
def test_bad_requests(load, folder):
    with pytest.raises(ValueError, match="split must be 'train'"):
        load("all")
    with pytest.raises(DataNotFound):
        load("train")


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 276), ("validation", 59), ("test", 256)])
def test_msrc21_has_its_published_counts(split, n):
    part = load_msrc21(split)
    assert [len(each) for each in (part.X, part.Y, part.pixels, part.names)] == [n] * 4
    assert {x.n_features for x in part.X} == {204}
    assert {x.n_edge_features for x in part.X} == {len(SUPERPIXEL_EDGE_FEATURES)}
    assert {label for y in part.Y for label in y} == {*MSRC21_CLASSES, None}
    for x, y, pixels in zip(part.X, part.Y, part.pixels, strict=True):
        assert x.features.min() >= 0
        assert x.features.max() <= 1
        most = pixels.argmax(axis=1)
        assert all(label in (None, MSRC21_CLASSES[k]) for label, k in zip(y, most, strict=True))


@pytest.mark.data
@pytest.mark.parametrize(
    ("load", "load_picture"), [(load_msrc21, load_msrc21_picture), (load_horses, load_horse_picture)]
)
def test_pixels_are_those_of_the_pictures(load, load_picture):
    pytest.importorskip("PIL")
    part = load("test")
    for name, pixels in zip(part.names[::50], part.pixels[::50], strict=True):
        image, labels = load_picture(name)
        assert image.shape == (*labels.shape, 3)
        counted = np.bincount(labels[labels >= 0], minlength=len(part.classes))
        assert counted.tolist() == pixels.sum(axis=0).tolist()


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 200), ("test", 128)])
def test_horses_have_their_published_counts(split, n):
    part = load_horses(split)
    assert [len(each) for each in (part.X, part.Y, part.pixels, part.names)] == [n] * 4
    assert {label for y in part.Y for label in y} == {"background", "horse"}


@pytest.mark.data
def test_superpixels_are_as_many_as_published():
    horses = [load_horses(split) for split in ("train", "test")]
    msrc21 = [load_msrc21(split) for split in ("train", "validation", "test")]
    for parts, n_nodes, n_edges in ((horses, 40495, 106723), (msrc21, 73103, 191075)):
        assert sum(x.n_nodes for part in parts for x in part.X) == n_nodes
        assert sum(len(x.edges) for part in parts for x in part.X) == n_edges
    assert sum(each.sum() for part in horses for each in part.pixels) == 18999324


@pytest.mark.data
@pytest.mark.parametrize(("split", "n", "n_pixels"), [("train", 200, 7566), ("test", 100, 3750)])
def test_snakes_have_their_published_counts(split, n, n_pixels):
    images, labels = load_snakes(split)
    assert (len(images), sum(y.size for y in labels)) == (n, n_pixels)
    for x, y in zip(images, labels, strict=True):
        assert np.bincount(y.ravel())[1:].tolist() == [1] * 10
        assert np.array_equal((x == BLUE).all(axis=2), y == 0)
    assert [grid.label_shape for grid in snake_grids(images)] == [y.shape for y in labels]
