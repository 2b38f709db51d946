"""Executors, which run the oracle in this thread, in threads, in processes or on a cluster."""

from maxmargin.executors.base import Executor
from maxmargin.executors.dask import Dask
from maxmargin.executors.processes import Processes
from maxmargin.executors.serial import Serial
from maxmargin.executors.threads import Threads

__all__ = ["Dask", "Executor", "Processes", "Serial", "Threads"]
