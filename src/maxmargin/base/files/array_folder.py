"""Arrays that are larger than memory, kept in a folder: written piece by piece, read as memory maps.

A folder has one .npy file per array, and a manifest in JSON. The manifest has the type and length of every array, the
SHA-256 of each block of its bytes, further information about the data, and a checksum of the manifest itself. Nothing
is pickled. A folder is written under a temporary name and renamed when it is complete.

A reader cannot trust the writer of a folder. Therefore names of arrays must not be paths, links and special files are
refused, and types and sizes must agree with the manifest to the byte. The numbers themselves are not checked when a
folder is opened: `verify` compares blocks with their checksums, and code that hands arrays to compiled functions checks
their values first.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.container import json_object
from maxmargin.base.files.drafts import draft_beside, naming, open_draft, remove_folder, written_to_disk

FORMAT = 1  # version of the manifest; readers accept this one and all earlier ones
MANIFEST = "manifest.json"
MOST_MANIFEST = 2**26  # bytes; enough for terabytes of arrays
HEADER = 128  # bytes
BLOCK = 2**22  # bytes per checksum
NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
DTYPES = {name: np.dtype(name) for name in ("|u1", "<i4", "<u4", "<i8", "<u8", "<f8")}


class ArrayFolderWriter:
    """A writer of a folder of arrays: `append` numbers, then `finish`.

    As a context manager it removes everything after an error.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(os.path.abspath(folder))
        if self.folder.is_symlink() or (
            self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir()))
        ):
            raise ValueError(f"{os.fspath(folder)} already exists; expected the path of a new folder")
        if not self.folder.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.folder.parent} to make {self.folder.name} in")
        self.draft, self.said = draft_beside(self.folder), os.fspath(folder)
        self._files: dict[str, _ArrayFile] = {}

    def __enter__(self) -> ArrayFolderWriter:
        with naming(self.said):
            self.draft.mkdir()
        return self

    def __exit__(self, *error: Any) -> None:
        remove_folder(self.draft, [file.stream.close for file in self._files.values()])

    def append(self, name: str, numbers: NDArray[Any]) -> None:
        """Append a one-dimensional array of numbers; the first call sets the type."""
        if name not in self._files:
            self._files[name] = _ArrayFile(self.draft / f"{name}.npy", numbers.dtype, self.said)
        self._files[name].append(numbers)

    @contextmanager
    def draft_of(self, name: str) -> Iterator[Draft]:
        """Open a temporary file for numbers that become final only when all of them are known.

        The file is deleted at the end.
        """
        path = self.draft / f"{name}.draft"
        with open_draft(path, self.said) as stream:
            yield Draft(stream)
        path.unlink()

    def length(self, name: str) -> int:
        """Return how many numbers an array has so far."""
        return self._files[name].length if name in self._files else 0

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the manifest and give the folder its final name."""
        arrays = {name: file.finish() for name, file in self._files.items()}
        told = {"format": FORMAT, **about, "block": BLOCK, "arrays": arrays}
        text = _text({**told, "sha256": _digest(_text(told).encode())})
        with written_to_disk(self.draft / MANIFEST, self.said) as stream:
            stream.write(text.encode())
        with naming(self.said):
            os.replace(self.draft, self.folder)  # the target may exist as an empty folder


class Draft:
    """A temporary file of numbers of one type, which is read once, after everything was written."""

    def __init__(self, stream: BufferedRandom):
        self._stream = stream

    def append(self, numbers: NDArray[Any]) -> None:
        self._stream.write(np.ascontiguousarray(numbers).view(np.uint8).data)

    def pieces(self, dtype: Any, at_once: int = 2**20) -> Iterator[NDArray[Any]]:
        """Yield all numbers, `at_once` at a time, as the type with which they were appended."""
        self._stream.seek(0)
        while content := self._stream.read(at_once * np.dtype(dtype).itemsize):
            yield np.frombuffer(content, dtype=dtype)


class _ArrayFile:
    """One array of a folder while it is being written."""

    def __init__(self, path: Path, dtype: np.dtype[Any], said: str):
        self.dtype = dtype.newbyteorder("<")
        if self.dtype.str not in DTYPES:
            raise ValueError(f"a packed folder cannot hold arrays of {dtype}")
        self.length = 0
        self.stream = open_draft(path, said)  # closed by the writer of the folder
        self.stream.write(_header(self.dtype, 0))
        self.digests: list[str] = []
        self._block, self._room = hashlib.sha256(), BLOCK

    def append(self, numbers: NDArray[Any]) -> None:
        piece = np.ascontiguousarray(numbers, dtype=self.dtype).view(np.uint8).data
        self.length += len(numbers)
        self.stream.write(piece)
        while len(piece):
            part, piece = piece[: self._room], piece[self._room :]
            self._block.update(part)
            self._room -= len(part)
            if not self._room:
                self._close_block()

    def _close_block(self) -> None:
        self.digests.append(self._block.hexdigest())
        self._block, self._room = hashlib.sha256(), BLOCK

    def finish(self) -> dict[str, Any]:
        if self._room < BLOCK:
            self._close_block()
        self.stream.seek(0)
        self.stream.write(_header(self.dtype, self.length))
        self.stream.flush()
        os.fsync(self.stream.fileno())
        return {"dtype": self.dtype.str, "length": self.length, "sha256": self.digests}


class ArrayFolder:
    """An existing folder of arrays.

    `arrays` are read-only memory maps of its files; `about` is the rest of the manifest.

    checksum : the expected checksum of the manifest, if it is known. Folders with the same checksum hold the same
    numbers.
    """

    def __init__(self, folder: str | os.PathLike[str], checksum: str | None = None):
        self.folder = Path(os.path.abspath(folder))
        name = os.fspath(folder)
        self.about = _manifest(self.folder, name)
        told = self.about.pop("sha256", None)
        self.checksum = _digest(_text(self.about).encode())
        if told != self.checksum:
            raise ValueError(f"{name} is damaged: the checksum of its manifest is wrong; pack the data again")
        if checksum is not None and checksum != self.checksum:
            raise ValueError(f"{name} was packed again since it was opened; open it again")
        form = self.about.pop("format", None)
        if type(form) is not int or not 1 <= form <= FORMAT:
            raise ValueError(f"{name} has format {form!r}; this version of maxmargin knows the formats 1 to {FORMAT}")
        self._block, entries = self.about.pop("block", None), self.about.pop("arrays", None)
        if type(self._block) is not int or not 4096 <= self._block <= 2**30 or not isinstance(entries, dict):
            raise ValueError(f"{name} is damaged: its manifest lists no arrays")
        self.arrays: dict[str, NDArray[Any]] = {}
        self._digests: dict[str, list[str]] = {}
        self._verified: dict[str, set[int]] = {}
        for each, entry in entries.items():
            self.arrays[each], self._digests[each] = _mapped(self.folder, each, entry, self._block)
            self._verified[each] = set()

    def __reduce__(self) -> Any:
        """Pickle the path and the checksum only; unpickling opens the folder again."""
        return reopened, (str(self.folder), self.checksum)

    def named(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields with arrays of this folder replaced by their names.

        Constant arrays are replaced by their value and length.
        """
        names = {id(array): name for name, array in self.arrays.items()}
        return {key: _Named(names[id(each)]) if id(each) in names else _shortened(each) for key, each in fields.items()}

    def with_arrays(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Undo `named`: put the arrays back in place of their names."""
        shortened = _Named | _Repeated | Excerpt
        return {key: each.array(self) if isinstance(each, shortened) else each for key, each in fields.items()}

    def verify(self, name: str, first: int = 0, end: int | None = None) -> None:
        """Compare the entries first : end of an array with the checksums of their blocks.

        Every block is checked only once.
        """
        array = self.arrays[name]
        content = array.view(np.uint8)
        size = array.itemsize
        last = len(content) if end is None else end * size
        for k in range(first * size // self._block, -(-last // self._block)):
            if k in self._verified[name]:
                continue
            found = hashlib.sha256(content[k * self._block : (k + 1) * self._block].data)
            if found.hexdigest() != self._digests[name][k]:
                raise ValueError(f"{self.folder / name}.npy is damaged: a checksum is wrong; pack the data again")
            self._verified[name].add(k)

    def pieces(self, name: str, at_once: int = 2**20) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield an array in verified pieces, each with the index of its first entry."""
        array = self.arrays[name]
        for first in range(0, len(array), at_once):
            self.verify(name, first, min(first + at_once, len(array)))
            yield first, array[first : first + at_once]


def reopened(folder: str, checksum: str) -> ArrayFolder:
    """Open a folder for unpickling; all pickles of one process that name the same folder share it."""
    key = (folder, checksum)
    found = _OPEN.get(key)
    if found is None:
        found = _OPEN[key] = ArrayFolder(folder, checksum)
    return found


_OPEN: WeakValueDictionary[tuple[str, str], ArrayFolder] = WeakValueDictionary()


class _Named(NamedTuple):
    """The name of an array of a folder, which replaces the array."""

    name: str

    def array(self, folder: ArrayFolder) -> NDArray[Any]:
        return folder.arrays[self.name]


class _Repeated(NamedTuple):
    """An array whose entries are all equal."""

    number: Any  # the value of every entry
    length: int

    def array(self, folder: ArrayFolder) -> NDArray[Any]:
        return np.broadcast_to(self.number, self.length)


class Excerpt(NamedTuple):
    """A part of a long array whose other entries are not needed; `named` leaves it as it is."""

    numbers: NDArray[Any]  # the entries of this part
    begin: int  # the position of the first of them in the array
    length: int  # the length of the whole array

    @classmethod
    def of(cls, whole: NDArray[Any], begin: int, end: int) -> Excerpt:
        return cls(whole[begin:end].copy(), begin, len(whole))

    def array(self, folder: ArrayFolder) -> NDArray[Any]:
        whole = np.zeros(self.length, dtype=self.numbers.dtype)  # untouched pages of zeros take no memory
        whole[self.begin : self.begin + len(self.numbers)] = self.numbers
        return whole


def _shortened(each: Any) -> Any:
    repeated = isinstance(each, np.ndarray) and each.strides == (0,) and each.size > 1
    return _Repeated(each[0], len(each)) if repeated else each


def _manifest(folder: Path, name: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {name}")
    try:
        descriptor = _opened(folder / MANIFEST)
    except FileNotFoundError:
        raise ValueError(f"{name} is not a packed folder: it has no {MANIFEST}") from None
    with os.fdopen(descriptor, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > MOST_MANIFEST:
            raise ValueError(f"{name} is not a packed folder: its manifest has {size:,} bytes")
        return json_object(stream.read(), f"the manifest of {name}")


def _opened(path: Path) -> int:
    """Open a regular file and return its descriptor; raise a ValueError if the path is anything else."""
    if path.is_symlink():
        raise ValueError(f"{path} is a link; expected a file")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)  # does not block if the path is a pipe
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{path} is a folder, a device or a pipe; expected a file")
    return descriptor


def _mapped(folder: Path, name: str, entry: Any, block: int) -> tuple[NDArray[Any], list[str]]:
    """Return the memory map of an array and its checksums; raise a ValueError if the file and the manifest differ."""
    if not NAME.fullmatch(name) or not isinstance(entry, dict) or set(entry) != {"dtype", "length", "sha256"}:
        raise ValueError(f"{folder} is damaged: its manifest has an entry {name!r}")
    path = folder / f"{name}.npy"
    dtype, length, digests = DTYPES.get(str(entry["dtype"])), entry["length"], entry["sha256"]
    if dtype is None or type(length) is not int or not 0 <= length < 2**48:
        raise ValueError(f"{folder} is damaged: {name} has the type {entry['dtype']!r} and the length {length!r}")
    listed = isinstance(digests, list) and all(isinstance(each, str) for each in digests)
    if not listed or len(digests) != -(-length * dtype.itemsize // block):
        raise ValueError(f"{folder} is damaged: {name} has a different number of checksums and blocks")
    try:
        descriptor = _opened(path)
    except FileNotFoundError:
        raise ValueError(f"{folder} is damaged: it has no {path.name}") from None
    with os.fdopen(descriptor, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        header = _header(dtype, length)
        if stream.read(len(header)) != header or size != len(header) + length * dtype.itemsize:
            raise ValueError(f"{path} is damaged: its type or size differs from what the manifest says")
        if length == 0:
            return _plain(np.empty(0, dtype=dtype)), digests
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return _plain(np.frombuffer(content, dtype=dtype, count=length, offset=len(header))), digests


def _header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the header of an .npy file, padded to a fixed length so that it can be overwritten later."""
    told = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + told.ljust(HEADER - 11).encode() + b"\n"


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in native byte order, read-only."""
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    native.flags.writeable = False
    return native


def _text(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
