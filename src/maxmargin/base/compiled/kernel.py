"""The decorator that compiles every kernel of the package.

numba keeps compiled functions on disk and stamps each with the one source file that the function stands in.
A kernel's machine code also contains the kernels it calls, so after a change to a callee in another file
numba would go on running the old code. The cache here is therefore stamped with the files of all folders named
`compiled` in the package: kernels live there and nowhere else, and call only each other.
"""

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

from maxmargin.base.compiled.inlined_kernels import Compiled

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def source_digest(package_dir: Path) -> bytes | None:
    """Hash the names and contents of all Python files in the folders named `compiled` of a package, once per process.

    None if there are no such files, as in a package imported from an archive.
    """
    paths = sorted(path for path in package_dir.rglob("*.py") if path.parent.name == "compiled" and path.is_file())
    digest = hashlib.sha256()
    for path in paths:
        for part in (path.relative_to(package_dir).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.digest() if paths else None


class StampedCacheFile(IndexDataCacheFile):
    """Cache file whose every entry repeats the stamp and the key it was saved under.

    numba writes its index before the machine code and checks only the index. A process that reads between the
    two, or after one that was killed there, would find a fresh index pointing to old machine code.
    """

    def _load_index(self) -> Any:
        """What is in the cache: nothing, where its index names classes that the package has no more."""
        try:
            return super()._load_index()
        except Exception:  # of any kind: a pickle of another version was read
            return {}

    def save(self, key: object, data: object) -> None:
        """Save the machine code for a key."""
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: object) -> Any:
        """Load the machine code for a key, or None if there is none that is current."""
        entry = super().load(key)
        if entry is None or entry[:2] != (self._source_stamp, key):
            return None
        return entry[2]


class PackageCache(FunctionCache):
    """numba's on-disk cache of one function, valid for one state of the whole package's source."""

    def __init__(self, py_func: Callable[..., Any], digest: bytes) -> None:
        super().__init__(py_func)
        self._cache_file = StampedCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=(self._impl.locator.get_source_stamp(), digest),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function for these types of arguments, if it is there.

        numba gathers all that it knows of types first, which takes longer than to load some kernels. Machine code needs
        the names of the runtime alone; the compiler gathers the rest, when it is called.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def stamped_kernel(package_dir: Path) -> Callable[[F], F]:
    """Make a decorator like ``numba.njit(cache=True, nogil=True)``, its cache stamped with a package's kernels.

    Kernels allocate nothing: scratch arrays are arguments. So they are compiled without numba's reference counting,
    whose atomic instructions around every call and slice cost more than the arithmetic of a short inner loop.

    Where numba finds no folder to write a cache to, or where there are no source files to stamp it with, the
    decorated functions are compiled anew in every process.
    """

    def decorate(func: F) -> F:
        settings: Any = numba.config
        if settings.DISABLE_JIT:
            return func
        options = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}  # no C code calls it
        compiled: Any = Compiled(func, targetoptions=options)
        digest = source_digest(package_dir)
        if digest is not None:
            with contextlib.suppress(RuntimeError):  # numba's "cannot cache function": no writable folder
                compiled._cache = PackageCache(func, digest)
        return cast(F, compiled)

    return decorate


kernel = stamped_kernel(Path(__file__).resolve().parents[2])  # the package itself
