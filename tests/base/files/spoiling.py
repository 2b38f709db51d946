"""Files that nobody should have written: cut off, flipped, spliced, and crafted with a right checksum."""

from __future__ import annotations

import copy
import json
import struct

import numpy as np

from maxmargin.base.files import container

NUMBERS = [-1, 0, 1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**40, 2**63, -(2**63), 10**30, 0.5, -1e308, 1e308]
TEXTS = [
    "",
    "x",
    "ignore",
    "error",
    "\0",
    "é" * 50,
    "../../etc/passwd",
    "os.system",
    "Chain",
    "t0",
    "t1",
    "builtins.eval",
]
OTHERS = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    {"float": "inf"},
    {"float": "nan"},
    {"part": 0},
    {"array": "t0"},
    {"tuple": []},
]


def damaged(rng, content, others):
    """The bytes of a file, spoiled without knowledge of what they mean."""
    way = rng.integers(5)
    if way == 0:
        return content[: int(rng.integers(len(content)))]
    if way == 1:
        spoiled = bytearray(content)
        for _ in range(int(rng.integers(1, 4))):
            spoiled[int(rng.integers(len(spoiled)))] ^= 1 << int(rng.integers(8))
        return bytes(spoiled)
    if way == 2:
        other = others[int(rng.integers(len(others)))]
        cut, begin = int(rng.integers(len(content))), int(rng.integers(len(other)))
        return content[:cut] + other[begin:]
    if way == 3:
        return content + bytes(rng.integers(0, 256, int(rng.integers(1, 50)), dtype=np.uint8))
    header = [0, 1, 7, len(content), 2**24, 2**32, 2**63, 2**64 - 1][rng.integers(8)]
    return struct.pack("<Q", header) + content[8:]


def parts_of(content):
    """The description and the arrays of a good file."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    return container._checked(header, content[8 + length :], "a file")


def crafted(rng, description, tensors):
    """A file with a right checksum, whose description or arrays say something else; the bytes of it."""
    description, tensors = copy.deepcopy(description), dict(tensors)
    for _ in range(int(rng.integers(1, 3))):
        if tensors and rng.random() < 0.4:
            name = sorted(tensors)[int(rng.integers(len(tensors)))]
            tensors[name] = other_array(rng, tensors[name])
        else:
            change(rng, description["parts"])
    return container.written(description, tensors)


def single_changes(description, tensors):
    """Every field of a file changed alone, in every way that fits it: (what it is, the bytes) one after another."""
    for path, found in _leaves(description["parts"]):
        for value in _instead(found, len(description["parts"])):
            changed = copy.deepcopy(description)
            owner = changed["parts"]
            for key in path[:-1]:
                owner = owner[key]
            owner[path[-1]] = value
            yield f"{path} = {value!r}"[:200], container.written(changed, tensors)
    for name, array in tensors.items():
        for way, other in _other_arrays(array).items():
            yield f"{name} {way}", container.written(description, tensors | {name: other})


def _leaves(root, path=()):
    """Where plain values are, and empty lists; of long lists the first two, the middle one and the last."""
    if isinstance(root, dict) and root:
        for key, inner in root.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(root, list) and root:
        if len(path) > 1:
            yield path, root  # as a whole, too
        some = range(len(root)) if len(root) < 9 or not path else [0, 1, len(root) // 2, len(root) - 1]
        for key in some:
            yield from _leaves(root[key], (*path, key))
    else:
        yield path, root


def _instead(found, n_parts):
    """Values of the same type as this one, and some of others."""
    if isinstance(found, bool):
        return [not found, None, 2]
    if isinstance(found, int):
        others = [
            -1,
            0,
            1,
            found - 1,
            found + 1,
            2 * found,
            10 * found + 7,
            2**31,
            2**40,
            10**9,
            n_parts - 1,
            0.5,
            None,
        ]
    elif isinstance(found, float):
        others = [-found, 0.0, 1e308, -1e308, {"float": "nan"}, {"float": "inf"}, None, "0"]
    elif isinstance(found, str):
        others = ["", found + "x", "t0", "t1", "Chain", "ignore", None, 0]
    elif isinstance(found, list):
        others = [[], found[1:], found[:-1], found + found, found[::-1], found + found[:1], None]
    else:
        others = [0, 1, -1, 2**40, 0.5, "x", [], [0], {"part": 0}, {"array": "t0"}, {"float": "nan"}, True]
    return [other for other in others if type(other) is not type(found) or other != found]


def _other_arrays(array):
    """Arrays with other sizes, types or numbers."""
    flat = array.reshape(-1)
    others = {
        "emptied": flat[:0],
        "one less": flat[:-1],
        "one more": np.append(flat, flat[-1:] if flat.size else np.zeros(1, dtype=array.dtype)),
        "flat": flat if array.ndim > 1 else array.reshape(1, -1),
        "turned": array.T if array.ndim > 1 else flat[::-1].copy(),
        "as floats": array.astype(np.float64 if array.dtype != np.float64 else np.float32),
        "as integers": np.zeros(array.shape, dtype=np.int64 if array.dtype != np.int64 else np.int32),
    }
    kind = array.dtype.kind
    numbers = {"f": [np.nan, np.inf, -1.0, 1e308], "b": [True, False]}.get(kind)
    if numbers is None:
        limits = np.iinfo(array.dtype)
        numbers = {
            limits.max,
            limits.min,
            0,
            1,
            min(limits.max, 1000),
            min(limits.max, array.size),
            max(limits.min, -1),
        }
    for number in numbers:
        for place in {0, flat.size // 2, flat.size - 1} if flat.size else ():
            changed = flat.copy()
            changed[place] = number
            others[f"[{place}] = {number}"] = changed.reshape(array.shape)
        others[f"all {number}"] = np.full_like(array, number)
    return others


def change(rng, root):
    """Replace, remove or add a value anywhere in a tree of lists and dicts."""
    places = []

    def walk(value):
        each = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in each:
            places.append((value, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(root)
    if not places:
        return
    owner, key = places[int(rng.integers(len(places)))]
    way = rng.integers(6)
    if way == 0:
        del owner[key]
    elif way == 1 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif way == 2:
        other, place = places[int(rng.integers(len(places)))]
        owner[key] = copy.deepcopy(other[place]) if place in other or isinstance(other, list) else None
    else:
        found = owner[key]
        if isinstance(found, bool) or found is None or way == 5:
            owner[key] = copy.deepcopy(OTHERS[int(rng.integers(len(OTHERS)))])
        elif isinstance(found, int | float):
            owner[key] = found + 1 if rng.random() < 0.3 else NUMBERS[int(rng.integers(len(NUMBERS)))]
        else:
            owner[key] = TEXTS[int(rng.integers(len(TEXTS)))]


def other_array(rng, array):
    """An array of other numbers, another type, or another size."""
    way = rng.integers(6)
    if way == 0:
        return array[: len(array) // 2] if array.ndim else array
    if way == 1 and array.ndim:
        return np.concatenate([array, array])
    if way == 2:
        return array.astype([np.int32, np.int64, np.float64, np.uint8, np.float32][rng.integers(5)])
    if way == 3:
        return array.reshape(-1)[:: 1 if array.size < 2 else 2]
    changed = array.copy().reshape(-1)
    if changed.size == 0:
        return np.zeros(3, dtype=array.dtype)
    place = int(rng.integers(changed.size))
    if changed.dtype.kind == "f":
        changed[place] = [np.nan, np.inf, -1.0, 1e308, 0.0][rng.integers(5)]
    elif changed.dtype.kind in "iu":
        limits = np.iinfo(changed.dtype)
        changed[place] = [limits.max, limits.min, min(limits.max, 1000), 0][rng.integers(4)]
    else:
        changed[place] = not changed[place]
    return changed.reshape(array.shape)
