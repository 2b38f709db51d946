"""Read and write annotated texts in the format that the name of a file or an explicit name tells."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from maxmargin.inputs.readers.text_file import TextFile
from maxmargin.inputs.spans.brat import iterate_brat, write_brat
from maxmargin.inputs.spans.docbin import iterate_docbin, write_docbin
from maxmargin.inputs.spans.json_spans import iterate_json_spans, write_doccano, write_prodigy
from maxmargin.inputs.spans.label_studio import iterate_label_studio, write_label_studio
from maxmargin.inputs.spans.span import AnnotatedText, as_document, checked_span

SpanFormat = Literal["doccano", "prodigy", "label_studio", "brat", "docbin"]
COMPRESSED = (".gz", ".xz", ".bz2")
SUFFIXES: dict[str, SpanFormat] = {
    ".jsonl": "doccano",
    ".json": "label_studio",
    ".txt": "brat",
    ".ann": "brat",
    "": "brat",
    ".spacy": "docbin",
}


class _Form(NamedTuple):
    iterate: Callable[[Any], Iterator[AnnotatedText]]
    write: Callable[[Any, Iterable[AnnotatedText]], None]
    is_text: bool = True  # whether an open text file can be read and written


FORMS: dict[str, _Form] = {
    "doccano": _Form(lambda source: iterate_json_spans(source, "doccano"), write_doccano),
    "prodigy": _Form(lambda source: iterate_json_spans(source, "prodigy"), write_prodigy),
    "label_studio": _Form(iterate_label_studio, write_label_studio),
    "brat": _Form(iterate_brat, write_brat, is_text=False),
    "docbin": _Form(iterate_docbin, write_docbin, is_text=False),
}


def read_spans(source: TextFile, form: SpanFormat | None = None) -> list[AnnotatedText]:
    """Read texts with labelled spans of characters, as annotation tools export them.

    Parameters
    ----------
    source : str, path or text file
        The file; for brat a folder, or one of the two files of a text. An open text file needs `form`.
    form : "doccano", "prodigy", "label_studio", "brat", "docbin" or None
        None: the suffix tells. .jsonl is doccano or Prodigy, told apart by the keys of a record; .json is Label Studio;
        .txt, .ann and folders are brat; .spacy is a DocBin of spaCy, which must be installed.

    Returns
    -------
    list of AnnotatedText, with `text`, `spans` and `name`.

    Notes
    -----
    A span that does not fit its text raises a ValueError with the document and the offsets. Spans may overlap.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_spans
    >>> read_spans(io.StringIO('{"text": "Ada slept.", "label": [[0, 3, "PER"]]}'), "doccano")[0].spans
    [Span(start=0, end=3, label='PER', confidence=None)]

    See Also
    --------
    write_spans : writes such files.   maxmargin.Tokeniser : labels tokens by spans.
    """
    return list(iterate_spans(source, form))


def iterate_spans(source: TextFile, form: SpanFormat | None = None) -> Iterator[AnnotatedText]:
    """Yield the texts of a file with labelled spans one by one.

    Parameters
    ----------
    source, form : str, path or text file; str or None
        As for `read_spans`.

    Returns
    -------
    iterator of AnnotatedText.

    See Also
    --------
    read_spans : all texts at once.
    """
    chosen = _form(source, form)
    if form is None and chosen == "doccano":
        return iterate_json_spans(source)
    return FORMS[chosen].iterate(source)


def write_spans(target: TextFile, documents: Iterable[AnnotatedText], form: SpanFormat | None = None) -> None:
    """Write texts with labelled spans of characters.

    Parameters
    ----------
    target : str, path or text file
        The file to write; for brat a folder.
    documents : iterable of AnnotatedText
        The texts and their spans; confidences are not written.
    form : "doccano", "prodigy", "label_studio", "brat", "docbin" or None
        The format; None: the suffix tells, as for `read_spans`, with doccano for .jsonl.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import AnnotatedText, Span, write_spans
    >>> file = io.StringIO()
    >>> write_spans(file, [AnnotatedText("Ada slept.", [Span(0, 3, "PER")])], "doccano")
    >>> file.getvalue()
    '{"text": "Ada slept.", "label": [[0, 3, "PER"]]}\\n'

    See Also
    --------
    read_spans : reads such files.
    """
    chosen = _form(target, form)
    if chosen == "brat" and isinstance(target, str | os.PathLike) and Path(target).suffix in (".txt", ".ann"):
        raise ValueError(
            f"{Path(target).name} is one file; expected a folder, because brat has two files for every text"
        )
    FORMS[chosen].write(target, (_checked(i, document) for i, document in enumerate(documents)))


def _form(file: Any, form: str | None) -> str:
    is_path = isinstance(file, str | os.PathLike)
    if form is not None and form not in FORMS:
        raise ValueError(f"form is {form!r}; expected one of {', '.join(get_args(SpanFormat))}")
    if form is None:
        if not is_path:
            raise ValueError(f"an open file does not tell its format; give form, one of {', '.join(FORMS)}")
        path = Path(file)
        suffix = "" if path.is_dir() else (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix
        if suffix not in SUFFIXES:
            raise ValueError(
                f"the suffix of {path.name} does not tell its format; expected .jsonl, .json, .txt, .ann, .spacy or a "
                f"folder, or give form, one of {', '.join(FORMS)}"
            )
        form = SUFFIXES[suffix]
    if not is_path and not FORMS[form].is_text:
        raise ValueError(f"{form} is not one text file; expected a path, got {file!r:.60}")
    return form


def _checked(i: int, given: AnnotatedText) -> AnnotatedText:
    document = as_document(i, given)
    for span in document.spans or ():
        try:
            checked_span(document.text, *span[:3])
        except ValueError as error:
            raise ValueError(f"document {i}: {error}") from None
    return document
