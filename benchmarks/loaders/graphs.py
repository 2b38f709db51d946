"""Graphs with labelled nodes: superpixels of photographs, and pixels of small drawings."""

from __future__ import annotations

import io
import tarfile
from typing import Any, NamedTuple

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.structures.graphs.nodes import Nodes

MSRC21_CLASSES = (
    "building",
    "grass",
    "tree",
    "cow",
    "sheep",
    "sky",
    "aeroplane",
    "water",
    "face",
    "car",
    "bicycle",
    "flower",
    "sign",
    "bird",
    "book",
    "chair",
    "road",
    "cat",
    "dog",
    "body",
    "boat",
)
HORSE_CLASSES = ("background", "horse")
SUPERPIXEL_EDGE_FEATURES = ("constant", "colour similarity", "vertical", "share of the boundary")

# The numbers of MSRC21_CLASSES in the files, which have horse (4) and mountain (7) too.
_MSRC21_NUMBERS = tuple(k for k in range(23) if k not in (4, 7))


class Superpixels(NamedTuple):
    """Photographs cut into superpixels, small regions of one colour: one graph for each.

    The features of a node are in [0, 1]: histograms of textures (64) and colours (32), each once for the superpixel
    and once with its neighbours, then colour, position and area. Edges lead from the upper superpixel to the lower
    one, with SUPERPIXEL_EDGE_FEATURES.
    """

    X: list[Nodes]
    Y: list[list[str | None]]  # the class of most pixels of a superpixel, None where that is no class of the set
    pixels: list[np.ndarray]  # (N, K) how many pixels of every class a superpixel has, K in the order of `classes`
    classes: tuple[str, ...]
    names: list[str]  # of the photographs


def load_msrc21(split: str) -> Superpixels:
    """MSRC-21: 276 training, 59 validation or 256 test photographs with 21 classes, about 124 superpixels each.

    Shotton, Winn, Rother and Criminisi, "TextonBoost", ECCV 2006, whose split this is; labels as cleaned by Malisiewicz
    and Efros, "Improving spatial support for objects via multiple segmentations", BMVC 2007. Pixels of no class (void,
    and as usual horse and mountain) do not count: one superpixel in five has most of them, and the label None.
    """
    check_choice("split", split, "train", "validation", "test")
    part = ("train", "validation", "test").index(split)
    return _superpixels("msrc21", "msrc21_superpixels.npz", part, MSRC21_CLASSES, _MSRC21_NUMBERS)


def load_horses(split: str) -> Superpixels:
    """Weizmann horses: 200 training or 128 test photographs of one horse each, about 123 superpixels each.

    Borenstein and Ullman, "Class-specific, top-down segmentation", ECCV 2002. One pixel in four belongs to a horse.
    The split is random: there is no official one.
    """
    check_choice("split", split, "train", "test")
    part = {"train": 0, "test": 2}[split]
    return _superpixels("weizmann_horses", "horses_superpixels.npz", part, HORSE_CLASSES, (0, 1))


def _superpixels(folder: str, file: str, part: int, classes: tuple[str, ...], numbers: tuple[int, ...]) -> Superpixels:
    """One part of a file; `numbers` are those of the classes in it."""
    with np.load(data_file(folder, file), allow_pickle=False) as arrays:
        features, edges, edge_features, labels, counts, split, names = (
            arrays[name]
            for name in ("node_features", "edges", "edge_features", "node_labels", "pixel_counts", "split", "names")
        )
        node_ends, edge_ends = arrays["node_offsets"].tolist(), arrays["edge_offsets"].tolist()
    name_of: dict[int, str | None] = dict(zip(numbers, classes, strict=True))
    own = Superpixels([], [], [], classes, [])
    for i in np.flatnonzero(split == part).tolist():
        nodes, links = slice(node_ends[i], node_ends[i + 1]), slice(edge_ends[i], edge_ends[i + 1])
        own.X.append(Nodes(features[nodes] / 255.0, edges[links].astype(np.int32), edge_features[links]))
        own.Y.append([name_of.get(k) for k in labels[nodes].tolist()])
        own.pixels.append(counts[nodes][:, numbers].astype(np.int64))
        own.names.append(str(names[i]))
    return own


def load_msrc21_picture(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of MSRC-21 by its name: (H, W, 3) colours, and (H, W) class numbers, -1 for pixels of no class.

    Needs Pillow. Training does not read the pictures: they were compressed once more, which the features were not.
    """
    image = _picture("msrc21", "images_jpeg85.tar", f"images/{name}.jpg")
    number = np.full(256, -1)
    number[list(_MSRC21_NUMBERS)] = np.arange(len(MSRC21_CLASSES))
    return image, number[_picture("msrc21", "labels_png.tar", f"labels/{name}.png")]


def load_horse_picture(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of Weizmann horses by its name: (H, W, 3) colours, and (H, W) class numbers. Needs Pillow."""
    image = _picture("weizmann_horses", "rgb_resized_jpeg88.tar", f"rgb/{name}.jpg")
    return image, _picture("weizmann_horses", "masks_png.tar", f"mask/{name}.png").astype(np.int64)


def _picture(folder: str, file: str, member: str) -> Any:
    from PIL import Image

    with tarfile.open(data_file(folder, file)) as archive:
        try:
            packed = archive.extractfile(member)
        except KeyError:
            packed = None
        if packed is None:
            raise ValueError(f"the data set {folder!r} has no picture {member!r}")
        return np.array(Image.open(io.BytesIO(packed.read())))


def load_snakes(split: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Snakes: ``(images, labels)``, 200 training or 100 test drawings of one snake each, 4 x 4 to 10 x 11 pixels.

    Nowozin, Rother, Bagon, Sharp, Yao and Kohli, "Decision tree fields", ICCV 2011. An image is an (H, W, 3) array of
    colours, 0 to 255. A snake has ten pixels with the labels 1 to 10 from its head to its tail; 0 is the background.
    Four colours tell in which direction the snake goes on, none how far from the head a pixel is.
    """
    check_choice("split", split, "train", "test")
    with np.load(data_file("snakes", "snakes.npz"), allow_pickle=False) as arrays:
        colours, labels, shapes = (arrays[f"{what}_{split}"] for what in ("X", "Y", "shape"))
    ends = np.cumsum(shapes.prod(axis=1))[:-1]
    images = [part.reshape(*shape, 3) for part, shape in zip(np.split(colours, ends), shapes, strict=True)]
    drawn = [part.reshape(shape) for part, shape in zip(np.split(labels.astype(np.int64), ends), shapes, strict=True)]
    return images, drawn


# Blue is the background, the others are the directions.
_SNAKE_COLOURS = np.array([(0, 0, 255), (255, 0, 0), (0, 255, 0), (255, 255, 0), (0, 255, 255)])


def snake_grids(images: list[np.ndarray], colours_at_edges: bool = False) -> list[Nodes]:
    """Drawings of snakes as grids with four neighbours.

    The features of a pixel are the colours of the 3 x 3 pixels around it, one of five each, or none of them beyond the
    border. Edges have their direction as features, and with `colours_at_edges` also the colours of their first and
    their second pixel, for each direction: a colour says where the snake goes on.
    """
    grids = []
    for i, image in enumerate(images):
        is_colour = (np.asarray(image)[:, :, None, :] == _SNAKE_COLOURS).all(axis=3).astype(np.float64)
        if not is_colour.any(axis=2).all():
            row, column = np.argwhere(~is_colour.any(axis=2))[0].tolist()
            found = np.asarray(image)[row, column].tolist()
            raise ValueError(f"image {i}: the pixel ({row}, {column}) is {found}; that is no colour of snakes")
        height, width = is_colour.shape[:2]
        padded = np.pad(is_colour, ((1, 1), (1, 1), (0, 0)))
        around = [padded[a : a + height, b : b + width] for a in range(3) for b in range(3)]
        grid = Nodes.grid(np.concatenate(around, axis=2))
        if colours_at_edges:
            own = is_colour.reshape(height * width, -1)
            ends = np.hstack([own[grid.edges[:, 0]], own[grid.edges[:, 1]]])
            ways = grid.edge_features
            grid.edge_features = np.hstack([ways, *(ways[:, [way]] * ends for way in range(ways.shape[1]))])
        grids.append(grid)
    return grids
