"""Kernels that are compiled as one piece of code with the kernels that they call.

numba compiles a function that another compiled function calls as if Python called it as well: it is optimised, becomes
machine code with a wrapper and a file on disk, and is then compiled once more within the caller, where almost all of it
is used. Here it becomes a part of its callers only: its instructions are linked to theirs, and all are optimised
together, once for every kernel that Python calls. A kernel that Python also calls is compiled for that on its first
such call.

This module uses private parts of numba, and is used only if its self-check passes (accelerated.py). The benefit, in CPU
seconds with numba 0.68, as `python -m benchmarks startup` measures it with and without MAXMARGIN_PLAIN_KERNELS=1:
the first fit of sequences takes 9.9 instead of 30.3 with an empty cache, and 0.7 instead of 1.0 with a filled one, of
which QuickCache saves about 0.1. First fits of classes, graphs and trees take half the time with an empty cache.
Without reference counting (OPTIONS), warm fits of sequences take two thirds of the time.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

from numba import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.typing.templates import make_concrete_template

# No reference counting: its atomic instructions around every call and slice cost more than the arithmetic of a short
# inner loop, and kernels allocate nothing. No wrapper for C, because no C code calls them.
OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}


def inlined(func: Callable[..., Any], cache: bool) -> InlinedKernel:
    """Make a kernel, which is stored on disk if `cache` is true."""
    compiled = InlinedKernel(func, targetoptions=OPTIONS)
    if cache:
        compiled.enable_caching()
    return compiled


class PartLibrary(JITCodeLibrary):
    """The simplified instructions of an inlined kernel, which are optimised and compiled with those of its callers."""

    def _optimize_final_module(self) -> None:
        """Leave optimisation to the library that this one is linked to."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class QuickCache(FunctionCache):
    """numba's on-disk cache of one function, which loads without preparing the compiler."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the function for these types of arguments, or return None if it is not there.

        numba first registers everything that it knows about types, which takes longer than loading some kernels.
        Machine code needs only the names of the runtime; the compiler registers the rest when it is called.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
            # Two processes that save at once may leave an index that names the other's code.
            return found if found is not None and tuple(found.signature.args) == tuple(sig) else None


class InlinedKernel(CPUDispatcher):
    """A function that Python calls like any function of numba, and that other kernels include. It does not recurse."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._parts: dict[tuple[Any, ...], Any] = {}  # by types of the arguments

    def enable_caching(self) -> None:
        """Store compiled code on disk."""
        self._cache = QuickCache(self.py_func)

    def compile(self, sig: Any) -> Any:
        """Compile the kernel for calls from Python."""
        with global_compiler_lock, collector_at_rest():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the signature of a call from another kernel, for its type inference."""
        pysig, args = self.fold_argument_types(args, kws)
        args = tuple(types.unliteral(each) for each in args)  # treat a constant like any other number
        if args not in self._parts:
            self._parts[args] = self._part(args)
        name, signature = self.py_func.__name__, self._parts[args].signature
        return make_concrete_template(f"CallTemplate({name})", key=name, signatures=[signature]), pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """Return the library of the inlined kernel with these types of arguments."""
        return self._parts[tuple(sig)].library

    def _part(self, args: tuple[Any, ...]) -> Any:
        flags: Any = Flags()
        targets: Any = self.targetctx
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = True
        library = PartLibrary(targets.codegen(), self.py_func.__qualname__)
        part = compile_extra(self.typingctx, targets, self.py_func, args, None, flags, self.locals, library)
        targets.insert_user_function(part.library, part.fndesc, [part.library])
        return part


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """Suspend garbage collection, which takes a tenth of the time while numba compiles."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
