"""Command line: ``python -m benchmarks [name ...] [--repeat 3] [--quick] [--page FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.status import Status
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks import (
    active_learning,
    alignment,
    alignment_prior,
    alignment_speed,
    bounds,
    checkpoints,
    clusterings,
    command_line,
    counting,
    counting_cost,
    coverage,
    dask_rounds,
    decisions,
    defaults,
    dependencies,
    diversity,
    effective_passes,
    engine,
    graph_c,
    graph_inference,
    graph_training,
    graphs,
    homologs,
    kernel_ner,
    kernels,
    label_ranking,
    latent_ranking,
    likelihood,
    marginal_speed,
    measure_cuts,
    measure_speed,
    measures,
    memory,
    model_files,
    motifs,
    multiclass,
    neural_letters,
    neural_paths,
    neural_speed,
    neural_tagger,
    order,
    page,
    parsing,
    partial_labels,
    ranking,
    ranking_weights,
    routes,
    scale_plan,
    segments,
    sequences,
    taxonomy,
    threads,
    tours,
    tuned,
    unscaled,
)
from benchmarks.loaders import DataNotFound
from benchmarks.timing import Report

GROUPS = {
    "sequences": sequences,
    "segments": segments,
    "likelihood": likelihood,
    "coverage": coverage,
    "marginal-speed": marginal_speed,
    "partial-labels": partial_labels,
    "active-learning": active_learning,
    "order": order,
    "multiclass": multiclass,
    "measures": measures,
    "measure-cuts": measure_cuts,
    "measure-speed": measure_speed,
    "ranking": ranking,
    "ranking-weights": ranking_weights,
    "latent-ranking": latent_ranking,
    "taxonomy": taxonomy,
    "parsing": parsing,
    "dependencies": dependencies,
    "alignment": alignment,
    "alignment-prior": alignment_prior,
    "alignment-speed": alignment_speed,
    "homologs": homologs,
    "motifs": motifs,
    "clusterings": clusterings,
    "graphs": graphs,
    "graph-inference": graph_inference,
    "graph-c": graph_c,
    "graph-training": graph_training,
    "diversity": diversity,
    "decisions": decisions,
    "counting": counting,
    "label-ranking": label_ranking,
    "route-policy": routes,
    "counting-cost": counting_cost,
    "flickr-tours": tours,
    "kernels": kernels,
    "kernel-ner": kernel_ner,
    "unscaled": unscaled,
    "bounds": bounds,
    "tuned": tuned,
    "defaults": defaults,
    "effective-passes": effective_passes,
    "threads": threads,
    "checkpoints": checkpoints,
    "dask": dask_rounds,
    "scale-plan": scale_plan,
    "model-files": model_files,
    "out-of-core": memory,
    "command-line": command_line,
    "engine": engine,
    "neural-speed": neural_speed,
    "neural-tagger": neural_tagger,
    "neural-letters": neural_letters,
    "neural-paths": neural_paths,
}
Run = Callable[[str, int, bool, Report], Table]


def main() -> int:
    """Run the benchmarks named on the command line; the exit status is 1 where one could not be run."""
    runs: dict[str, Run] = {name: group.run for group in GROUPS.values() for name in group.PROBLEMS}
    runs["memory-3gb"] = memory.run  # only if it is named
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure maxmargin against its peers on the data that MAXMARGIN_DATA names.",
    )
    known = ", ".join([*GROUPS, *runs])
    parser.add_argument("names", nargs="*", metavar="name", help=f"{known} (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="how often each solver is trained (default: 3)")
    parser.add_argument("--quick", action="store_true", help="small parts of the data, to see that all runs")
    parser.add_argument("--page", type=Path, help="a Markdown page that has places for these tables (page.py)")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    chosen: list[str] = []
    for name in arguments.names or GROUPS:
        if name not in GROUPS and name not in runs:
            parser.error(f"there is no benchmark {name!r}; choose among {known}")
        chosen += GROUPS[name].PROBLEMS if name in GROUPS else [name]

    # A table is wider than the 80 columns that rich assumes where there is no terminal.
    console = Console() if sys.stdout.isatty() else Console(width=160)
    missing = False
    # One thread for all, because liblinear and CRFsuite have no more.
    with threadpool_limits(1):
        for name in dict.fromkeys(chosen):
            with console.status(name) as status:

                def report(step: str, name: str = name, status: Status = status) -> None:
                    status.update(f"{name}: {step}")
                    if not console.is_terminal:
                        console.print(f"{name}: {step}", highlight=False)

                try:
                    table = runs[name](name, arguments.repeat, arguments.quick, report)
                except DataNotFound as error:
                    missing = True
                    console.print(f"{name}: {error}", highlight=False)
                    continue
            console.print(table)
            if arguments.page:
                options = f"--repeat {arguments.repeat}{' --quick' * arguments.quick}"
                page.write(arguments.page, name, table, f"python -m benchmarks {name} {options}")
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())
