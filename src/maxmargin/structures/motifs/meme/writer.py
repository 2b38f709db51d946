"""write_meme: write motifs to a file in MEME's minimal format."""

from __future__ import annotations

from maxmargin.inputs.readers.text_file import TextFile, writing
from maxmargin.structures.motifs.meme.content import MemeFile


def write_meme(target: TextFile, content: MemeFile) -> None:
    """Write motifs in MEME's minimal format; read_meme returns them exactly.

    Parameters
    ----------
    target : path or text file
        The file to write.
    content : MemeFile
        The motifs, such as MotifFinder.to_meme() returns.

    See Also
    --------
    read_meme : Reads such files.

    Examples
    --------
    >>> import io
    >>> from maxmargin import formats
    >>> target = io.StringIO()
    >>> formats.write_meme(target, formats.MemeFile("ACGT", (formats.MemeMotif("m", [[0.5, 0.5, 0.0, 0.0]]),)))
    >>> target.getvalue().splitlines()[0]
    'MEME version 4'
    """
    if not isinstance(content, MemeFile):
        raise ValueError(f"got {type(content).__name__}; expected a MemeFile: use finder.to_meme()")
    sections = ["MEME version 4", f"ALPHABET= {content.alphabet}"]
    if content.strands:
        sections.append(f"strands: {content.strands}")
    if content.background is not None:
        pairs = zip(content.alphabet, content.background.tolist(), strict=True)
        sections.append("Background letter frequencies\n" + " ".join(f"{letter} {value!r}" for letter, value in pairs))
    for motif in content.motifs:
        n_positions, n_letters = motif.probabilities.shape
        head = f"letter-probability matrix: alength= {n_letters} w= {n_positions}"
        if motif.nsites is not None:
            head += f" nsites= {_text(motif.nsites)}"
        if motif.evalue is not None:
            head += f" E= {_text(motif.evalue)}"
        rows = [" ".join(repr(value) for value in row) for row in motif.probabilities.tolist()]
        sections.append("\n".join([f"MOTIF {motif.name} {motif.alternate}".rstrip(), head, *rows]))
        if motif.url:
            sections.append(f"URL {motif.url}")
    with writing(target) as file:
        file.write("\n\n".join(sections) + "\n")


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))
