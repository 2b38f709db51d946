"""Kernels that call kernels are compiled as one piece of code.

numba compiles a function that a compiled function calls as if Python called it, too: optimised, made machine code and
given a wrapper and a place on disk, and then once more within the caller, where nearly all of it ends up. Here it
becomes a part of its callers only: its instructions are linked to theirs, and all are optimised together, once for
every kernel that Python calls. A kernel that Python calls as well is compiled for that on its first such call.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import make_concrete_template


class PartLibrary(JITCodeLibrary):
    """Instructions of a part, simplified; what they are linked to is optimised as a whole and made machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Compiled(CPUDispatcher):
    """A function that Python calls as numba's, and that other kernels have parts of. It does not call itself."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._parts: dict[tuple[Any, ...], Any] = {}  # by types of the arguments

    def compile(self, sig: Any) -> Any:
        """For calls from Python."""
        with global_compiler_lock, collector_at_rest():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What the type inference of a kernel that calls this one asks for."""
        pysig, args = self.fold_argument_types(args, kws)
        args = tuple(types.unliteral(each) for each in args)  # a constant is a number like any other
        if args not in self._parts:
            self._parts[args] = self._part(args)
        name, signature = self.py_func.__name__, self._parts[args].signature
        return make_concrete_template(f"CallTemplate({name})", key=name, signatures=[signature]), pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """What stands for the part with these types of arguments."""
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
    """Without looks for unreachable cycles: while numba compiles they take a tenth of the time, and find little."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
