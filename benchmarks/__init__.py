"""Benchmarks of maxmargin against its peers: ``python -m benchmarks``.

Data sets, solvers and what is measured are kept apart, after the manner of benchopt (Moreau et al.,
"Benchopt: reproducible, efficient and collaborative optimization benchmarks", NeurIPS 2022). Machines differ,
so a figure counts only as a ratio to another figure of the same run.
"""
