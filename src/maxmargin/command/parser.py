"""The commands and their options. Estimators are imported for `fit KIND` only, whose options are theirs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from maxmargin.command.command_parser import CommandParser
from maxmargin.command.kinds import KINDS, Kind

EXAMPLES = """\
examples:
  maxmargin demo --files data                    files to try the others with
  maxmargin fit sequences data/train.conll -o tagger.mm --forbidden BIO
  maxmargin predict tagger.mm data/test.conll -o labelled.conll
  maxmargin score tagger.mm data/test.conll
  maxmargin inspect tagger.mm
  maxmargin report tagger.mm --data data/test.conll -o report.html
  maxmargin pack classes huge.svm -o folder  more data than memory holds
  maxmargin fit sequences folder -o tagger.mm --memory-mb 400

- stands for standard input or output; .gz, .xz and .bz2 files are read and
written as they are. Exit codes: 0; 1 training did not converge (--strict);
2 the command makes no sense; 3 the data are not as they should be.
"""
FORMATS = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.formats))
SOME_HAVE = ("C", "cv", "valid", "format", "label", "id", "chunks", "features", "labels", "tree", "without")
PACK_OPTIONS: dict[str, dict[str, Any]] = {
    "hash_bits": {"type": int, "metavar": "B", "help": "keep hashes of B bits in the place of names of features"},
    "fit_intercept": {
        "choices": ("yes", "no"),
        "default": "yes",
        "help": "whether rows get a constant feature, as training with --fit-intercept wants them [default: yes]",
    },
}
FIT_EXAMPLES = """\
`maxmargin fit KIND --help` lists the parameters of a kind.

examples:
  maxmargin fit sequences train.conll -o tagger.mm -c auto --forbidden BIO
  maxmargin fit classes train.svm -o model.mm -c 1,10,100 --valid valid.svm
  maxmargin fit measure train.svm -v 5 --measure roc_auc
"""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; end the program where it makes no sense or asks for help."""
    return _built(arguments).parse_args(arguments)


def words_after(path: Sequence[str]) -> list[str]:
    """Return the commands, kinds and long options that may come after these commands and kinds."""
    parser = _built(path)
    for word in path:
        parser = parser.commands[word]
    return [*parser.commands, *(text for text in parser.options if text.startswith("--") and "_" not in text)]


def _built(arguments: Sequence[str]) -> CommandParser:
    parser = CommandParser(
        prog="maxmargin",
        description="Large-margin learning for structured outputs, over files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(**dict.fromkeys(SOME_HAVE))
    parser.expect_command(dest="command", metavar="COMMAND")
    _add_fit(parser, arguments)
    _add_pack(parser)
    for name, what in {
        "predict": "write the predictions of a model",
        "score": "compare the predictions of a model with the truth",
        "certify": "prove how close to optimal a model is on these data",
        "report": "write a page about a model and its predictions, one file of HTML",
    }.items():
        command = _command(parser, name, what)
        command.add_argument("model", metavar="MODEL", help="a file that fit has written")
        if name == "predict":
            command.add_argument("data", metavar="DATA", nargs="?", default="-", help="a file, or - [default: -]")
            command.add_argument("-o", "--output", metavar="OUT", help="where to write to [default: standard output]")
            command.add_argument("--scores", action="store_true", help="of classes and measures: scores of the rows")
        else:
            named: dict[str, Any] = {"required": True} if name == "report" else {}
            data = "--data" if named else "data"
            command.add_argument(data, metavar="DATA", nargs="+", help="files with the truth, or -", **named)
            command.add_argument("--without", metavar="FILE", help="of motifs: sequences without the motif")
            _add_chunks(command)
        _add_data_options(command, FORMATS)
        if name == "report":
            _add_page_options(command)
        if name == "certify":
            command.add_argument("-e", "--tol", type=float, default=1e-2, help="relative gap to reach [default: 0.01]")
            _add_strict(command)
        _add_output_options(command)
    _add_inspect(parser)
    _add_convert(parser)
    demo = _command(parser, "demo", "read handwritten digits, with and without structure")
    demo.add_argument(
        "--files", metavar="FOLDER", help="write small files of every kind there instead, to try things with"
    )
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
            help=f"files to learn from ({', '.join(kind.formats)}), or -{', or a folder of pack' * kind.packs}",
        )
        needed = "; needed unless -v is given" if kind.has_c else ""
        each.add_argument("-o", "--output", metavar="MODEL", help=f"the file to write{needed}")
        each.add_argument("-e", "--tol", type=float, metavar="GAP", help="relative gap to stop at")
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
    """How files of a kind are read."""
    _add_data_options(command, kind.formats)
    if "conll" in kind.formats:
        _add_chunks(command)
    for option, what in kind.more_files:
        command.add_argument(f"--{option}", metavar="FILE", help=what)


def _add_choice(command: argparse.ArgumentParser) -> None:
    """C, and what it is chosen by."""
    command.add_argument(
        "-c",
        "--C",
        "--c",
        dest="C",
        metavar="C",
        help="weight of the losses; several, as in 1,10,100, are tried on --valid or by cross-validation; auto tries "
        "some that are made from the data",
    )
    command.add_argument(
        "-v", "--cv", type=int, metavar="K", help="cross-validation in K folds, for the score or for C"
    )
    command.add_argument("--valid", metavar="FILE", help="data to try values of C on, or to score the model on")


def _add_data_options(command: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """How DATA are to be read."""
    if len(formats) > 1:
        first = formats[0] if len(formats) < len(FORMATS) else "the first one of its kind"
        command.add_argument(
            "--format",
            choices=formats,
            metavar="FORMAT",
            help=f"of DATA: {', '.join(formats)} [default: told by the suffix, or {first}]",
        )
    if "table" in formats:
        command.add_argument("--label", metavar="COLUMN", help="of a table: the column of labels [default: label]")
        command.add_argument(
            "--id",
            metavar="COLUMN",
            help="of a table: the column that says to which sequence or query a row belongs [default: sequence, query]",
        )


def _add_inspect(parser: CommandParser) -> None:
    command = _command(parser, "inspect", "show certificate, parameters and weights of a model")
    command.add_argument("model", metavar="MODEL", help="a file that fit has written")
    command.add_argument("-n", "--top", type=int, default=5, metavar="N", help="weights of every label [default: 5]")
    _add_output_options(command)


def _add_page_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", metavar="OUT", help="where to write to [default: standard output]")
    command.add_argument("--title", metavar="TEXT", help="of the page [default: the model's name]")
    command.add_argument("--date", metavar="TEXT", help="a date to show [default: none, so that pages can be compared]")
    command.add_argument("--worst", type=int, default=10, metavar="N", help="mistakes to show [default: 10]")
    command.add_argument("--seed", type=int, default=0, help="of the intervals of scores [default: 0]")


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
        help=f"of DATA: {', '.join(formats)} [default: told by the suffix, or conll]",
    )
    command.add_argument(
        "--to", choices=formats, metavar="FORMAT", help="of OUT [default: told by the suffix, or that of DATA]"
    )
    command.add_argument(
        "--of",
        dest="content",
        choices=("sequences", "rows", "alignments"),
        help="what DATA are, where tables become JSON lines, or these tables",
    )
    command.add_argument("--label", metavar="COLUMN", help="of a table: the column of labels [default: label]")
    command.add_argument("--id", metavar="COLUMN", help="of a table: that of sequences or queries")
    command.add_argument(
        "--features", metavar="FILE", help="templates that make attributes of columns [default: usual ones]"
    )
    _add_chunks(command)


def _add_chunks(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--chunks", choices=("BIO", "BILOU", "IOBES"), help="write labels of chunks (IOB1, …) in this scheme first"
    )


def _add_strict(command: argparse.ArgumentParser) -> None:
    command.add_argument("--strict", action="store_true", help="exit code 1 where the gap stays open")


def _add_output_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="results as JSON")
    command.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
