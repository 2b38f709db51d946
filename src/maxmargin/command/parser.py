"""The commands and their options. Only `fit KIND` imports an estimator, whose parameters become options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from maxmargin.command.command_parser import CommandParser
from maxmargin.command.kinds import KINDS, Kind

EXAMPLES = """\
examples:
  maxmargin demo --files data             (writes the files used below)
  maxmargin fit sequences data/train.conll -o tagger.mm --forbidden BIO
  maxmargin predict tagger.mm data/test.conll -o labelled.conll
  maxmargin score tagger.mm data/test.conll
  maxmargin inspect tagger.mm
  maxmargin explain tagger.mm data/test.conll
  maxmargin report tagger.mm --data data/test.conll -o report.html
  maxmargin pack sequences huge.conll -o folder   (data larger than memory)
  maxmargin fit sequences folder -o tagger.mm --memory-mb 400

The file name - stands for standard input or output. Files that end in .gz, .xz
or .bz2 are compressed. Exit codes: 0 success; 1 training did not converge (with
--strict); 2 the command is invalid; 3 the data are invalid.
"""
FORMATS = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.formats))
SOME_HAVE = (
    "C",
    "cv",
    "valid",
    "format",
    "label",
    "id",
    "categorical",
    "chunks",
    "features",
    "labels",
    "tree",
    "without",
)
PACK_OPTIONS: dict[str, dict[str, Any]] = {
    "hash_bits": {"type": int, "metavar": "B", "help": "Replace the names of features by hashes of B bits."},
    "fit_intercept": {
        "choices": ("yes", "no"),
        "default": "yes",
        "help": "Add a constant feature to every row; use the same value in training [default: yes].",
    },
}
FIT_EXAMPLES = """\
`maxmargin fit KIND --help` lists the options of a kind of data.

examples:
  maxmargin fit sequences train.conll -o tagger.mm -c auto --forbidden BIO
  maxmargin fit classes train.svm -o model.mm -c 1,10,100 --valid valid.svm
  maxmargin fit measure train.svm -v 5 --measure roc_auc
"""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; end the program where it makes no sense or asks for help."""
    return _built(arguments).parse_args(arguments)


def asked_command(arguments: Sequence[str]) -> str:
    """Return the command that these arguments name, with its kind, for messages: "maxmargin fit classes"."""
    parser = _built(())
    words = ["maxmargin"]
    for word in arguments:
        if word not in parser.commands:
            break
        words.append(word)
        parser = parser.commands[word]
    return " ".join(words)


def words_after(path: Sequence[str]) -> list[str]:
    """Return the commands, kinds and long options that may come after these commands and kinds."""
    parser = _built(path)
    for word in path:
        parser = parser.commands[word]
    return [*parser.commands, *(text for text in parser.options if text.startswith("--") and "_" not in text)]


def _built(arguments: Sequence[str]) -> CommandParser:
    parser = CommandParser(
        prog="maxmargin",
        description="Train and apply structural SVMs for structured prediction, on files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="Print the version.")
    parser.set_defaults(**dict.fromkeys(SOME_HAVE))
    parser.expect_command(dest="command", metavar="COMMAND")
    _add_fit(parser, arguments)
    _add_pack(parser)
    for name, what in {
        "predict": "predict the outputs of a file with a model",
        "score": "compare the predictions of a model with the true outputs",
        "certify": "prove how close to the optimum a model is on training data",
        "report": "write an HTML page about a model and its predictions",
    }.items():
        command = _command(parser, name, what)
        command.add_argument("model", metavar="MODEL", help="a file that fit has written")
        if name == "predict":
            command.add_argument(
                "data", metavar="DATA", nargs="?", default="-", help="A data file; - is standard input [default: -]."
            )
            command.add_argument("-o", "--output", metavar="OUT", help="Write to this file [default: standard output].")
            command.add_argument(
                "--scores", action="store_true", help="Write the scores of rows as well (classes and measures only)."
            )
            command.add_argument(
                "--text",
                action="append",
                metavar="TEXT",
                help="Predict the spans of this text (sequences only): start, end, label, confidence and characters.",
            )
        else:
            named: dict[str, Any] = {"required": True} if name == "report" else {}
            data = "--data" if named else "data"
            command.add_argument(
                data, metavar="DATA", nargs="+", help="Files with the true outputs; - is standard input.", **named
            )
            command.add_argument(
                "--without", metavar="FILE", help="A file of sequences without the motif (motifs only)."
            )
            _add_chunks(command)
        _add_data_options(command, FORMATS)
        if name == "report":
            _add_page_options(command)
        if name == "certify":
            command.add_argument(
                "-e",
                "--tol",
                type=float,
                default=1e-2,
                help="Prove a relative duality gap of at most this [default: 0.01].",
            )
            _add_strict(command)
        _add_output_options(command)
    _add_inspect(parser)
    _add_explain(parser)
    _add_convert(parser)
    demo = _command(parser, "demo", "read handwritten digits, with and without structure")
    demo.add_argument(
        "--files", metavar="FOLDER", help="Write small example files of every kind to this folder instead."
    )
    _add_warmup(parser)
    _command(parser, "completion", "print a script that completes commands in bash")
    return parser


def _command(parser: CommandParser, name: str, what: str) -> CommandParser:
    return parser.add_command(name, help=what, description=f"{what[0].upper()}{what[1:]}.")


def _add_fit(parser: CommandParser, arguments: Sequence[str]) -> None:
    fit = _command(parser, "fit", "learn a model from files")
    fit.formatter_class = argparse.RawDescriptionHelpFormatter
    fit.epilog = FIT_EXAMPLES
    fit.expect_command(dest="kind", metavar="KIND", required=True)
    for name, kind in KINDS.items():
        description = f"Learn {kind.description} ({kind.estimator})."
        each = fit.add_command(name, help=kind.description, description=description)
        each.add_argument(
            "data",
            metavar="DATA",
            nargs="+",
            help=f"Training files ({', '.join(kind.formats)}); - is standard "
            f"input{'. Or a folder of pack' * kind.packs}.",
        )
        needed = " Required unless -v is given." if kind.has_c else ""
        each.add_argument("-o", "--output", metavar="MODEL", help=f"Write the model to this file.{needed}")
        each.add_argument("-e", "--tol", type=float, metavar="GAP", help="Stop at this relative duality gap.")
        if kind.has_c:
            _add_choice(each)
        _add_reading(each, kind)
        _add_strict(each)
        _add_output_options(each)
        if list(arguments[:2]) == ["fit", name]:
            from maxmargin.command.options import add_options

            add_options(each, kind.estimator_class(), kind.hidden, kind.shown)


def _add_pack(parser: CommandParser) -> None:
    pack = _command(parser, "pack", "write examples to a folder that fit reads without holding them in memory")
    pack.expect_command(dest="kind", metavar="KIND", required=True)
    for name, kind in KINDS.items():
        if kind.packs:
            each = pack.add_command(name, help=kind.description)
            each.add_argument("data", metavar="DATA", nargs="+", help=f"files ({', '.join(kind.formats)}), or -")
            each.add_argument("-o", "--output", metavar="FOLDER", required=True, help="the folder to make")
            _add_reading(each, kind)
            for option in kind.pack_options:
                each.add_argument(f"--{option.replace('_', '-')}", **PACK_OPTIONS[option])
            _add_output_options(each)


def _add_reading(command: argparse.ArgumentParser, kind: Kind) -> None:
    """Add the options that say how files of a kind are read."""
    _add_data_options(command, kind.formats)
    if "conll" in kind.formats:
        _add_chunks(command)
    if kind.files == "rows":
        command.add_argument(
            "--categorical",
            metavar="COLUMNS",
            help="Columns of a table with texts, separated by commas: every text becomes a feature.",
        )
    for option, what in kind.more_files:
        command.add_argument(f"--{option}", metavar="FILE", help=what)


def _add_choice(command: argparse.ArgumentParser) -> None:
    """Add C and the options by which it is chosen."""
    command.add_argument(
        "-c",
        "--C",
        "--c",
        dest="C",
        metavar="C",
        help="Weight of the training loss. Of several values, as in 1,10,100, the best on --valid or in "
        "cross-validation is chosen; auto also chooses the values to try.",
    )
    command.add_argument(
        "-v", "--cv", type=int, metavar="K", help="Cross-validate with K folds, to score the model or to choose C."
    )
    command.add_argument("--valid", metavar="FILE", help="Validation data, to score the model or to choose C.")


def _add_data_options(command: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add the options that say how DATA are read."""
    if len(formats) > 1:
        first = formats[0] if len(formats) < len(FORMATS) else "the first one of its kind"
        command.add_argument(
            "--format",
            choices=formats,
            metavar="FORMAT",
            help=f"Format of DATA: {', '.join(formats)} [default: by the suffix, or {first}].",
        )
    if "table" in formats:
        command.add_argument(
            "--label", metavar="COLUMN", help="Name of the column of labels of a table [default: label]."
        )
        command.add_argument(
            "--id",
            metavar="COLUMN",
            help="Name of the column of a table with the sequence or query of a row [default: sequence, query].",
        )


def _add_inspect(parser: CommandParser) -> None:
    command = _command(parser, "inspect", "show certificate, parameters and weights of a model")
    command.add_argument("model", metavar="MODEL", help="a file that fit has written")
    command.add_argument("-n", "--top", type=int, default=5, metavar="N", help="weights of every label [default: 5]")
    _add_output_options(command)


def _add_warmup(parser: CommandParser) -> None:
    command = _command(parser, "warmup", "compile the inner loops now instead of during the first fit")
    command.add_argument("kinds", metavar="KIND", nargs="*", choices=(*KINDS, []), help="kinds of data [default: all]")
    command.add_argument(
        "--cache",
        metavar="DIR",
        help="Keep compiled functions in this folder; later commands find them if the environment variable "
        "NUMBA_CACHE_DIR names it [default: NUMBA_CACHE_DIR, or a folder of the package].",
    )
    _add_output_options(command)


def _add_explain(parser: CommandParser) -> None:
    command = _command(parser, "explain", "show which weights a prediction, or a mistake, is made of")
    command.add_argument("model", metavar="MODEL", help="a file that fit has written")
    command.add_argument("data", metavar="DATA", nargs="+", help="Files with the true outputs; - is standard input.")
    command.add_argument("--without", metavar="FILE", help="A file of sequences without the motif (motifs only).")
    command.add_argument(
        "--example",
        type=int,
        metavar="I",
        help="Explain the prediction of example I, counted from 0 [default: the worst mistakes, against the truth].",
    )
    command.add_argument("--at", type=int, metavar="T", help="Only the part of the output at position (node, …) T.")
    command.add_argument("--worst", type=int, default=3, metavar="N", help="Explain the N worst mistakes [default: 3].")
    command.add_argument(
        "-n", "--top", type=int, default=10, metavar="N", help="Show the N largest contributions [default: 10]."
    )
    _add_chunks(command)
    _add_data_options(command, FORMATS)
    _add_output_options(command)


def _add_page_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", metavar="OUT", help="Write to this file [default: standard output].")
    command.add_argument("--title", metavar="TEXT", help="Title of the page [default: the name of the model].")
    command.add_argument("--date", metavar="TEXT", help="Show this date on the page [default: none].")
    command.add_argument(
        "--worst", type=int, default=10, metavar="N", help="Show N examples with mistakes [default: 10]."
    )
    command.add_argument(
        "--seed", type=int, default=0, help="Random seed of the confidence intervals of scores [default: 0]."
    )


def _add_convert(parser: CommandParser) -> None:
    command = _command(parser, "convert", "write sequences, rows or alignments in another format")
    command.add_argument("data", metavar="DATA", nargs="?", default="-", help="a file, or - [default: -]")
    command.add_argument("-o", "--output", metavar="OUT", help="where to write to [default: standard output]")
    formats = ("conll", "crfsuite", "conllu", "table", "jsonl", "svmlight", "msa", "a3m", "stockholm")
    command.add_argument(
        "--from",
        dest="source",
        choices=formats,
        metavar="FORMAT",
        help=f"Format of DATA: {', '.join(formats)} [default: by the suffix, or conll].",
    )
    command.add_argument(
        "--to", choices=formats, metavar="FORMAT", help="Format of OUT [default: by the suffix, or the format of DATA]."
    )
    command.add_argument(
        "--of",
        dest="content",
        choices=("sequences", "rows", "alignments"),
        help="Kind of DATA; needed to convert tables to JSON lines and back.",
    )
    command.add_argument("--label", metavar="COLUMN", help="Name of the column of labels of a table [default: label].")
    command.add_argument(
        "--id", metavar="COLUMN", help="Name of the column of a table with the sequence or query of a row."
    )
    command.add_argument(
        "--features",
        metavar="FILE",
        help="Feature templates (TOML) that make attributes from columns [default: common ones].",
    )
    _add_chunks(command)


def _add_chunks(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--chunks", choices=("BIO", "BILOU", "IOBES"), help="Convert chunk labels (IOB1, …) to this scheme first."
    )


def _add_strict(command: argparse.ArgumentParser) -> None:
    command.add_argument("--strict", action="store_true", help="Exit with code 1 if training does not converge.")


def _add_output_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="Print results as JSON.")
    command.add_argument("-q", "--quiet", action="store_true", help="Print neither progress nor a summary.")
