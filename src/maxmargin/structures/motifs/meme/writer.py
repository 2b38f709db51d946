"""write_meme: motifs to a file in MEME's minimal format."""

from __future__ import annotations

from maxmargin.inputs.readers.text_file import TextFile, writing
from maxmargin.structures.motifs.meme.content import MemeFile


def write_meme(target: TextFile, content: MemeFile) -> None:
    """Write motifs so that they read back as they were, and other programs understand them."""
    if not isinstance(content, MemeFile):
        raise ValueError(f"got {type(content).__name__}; expected a MemeFile: use finder.to_meme()")
    parts = ["MEME version 4", f"ALPHABET= {content.alphabet}"]
    if content.strands:
        parts.append(f"strands: {content.strands}")
    if content.background is not None:
        pairs = zip(content.alphabet, content.background.tolist(), strict=True)
        parts.append("Background letter frequencies\n" + " ".join(f"{letter} {value!r}" for letter, value in pairs))
    for motif in content.motifs:
        n_positions, n_letters = motif.probabilities.shape
        head = f"letter-probability matrix: alength= {n_letters} w= {n_positions}"
        if motif.nsites is not None:
            head += f" nsites= {_text(motif.nsites)}"
        if motif.evalue is not None:
            head += f" E= {_text(motif.evalue)}"
        rows = [" ".join(repr(value) for value in row) for row in motif.probabilities.tolist()]
        parts.append("\n".join([f"MOTIF {motif.name} {motif.alternate}".rstrip(), head, *rows]))
        if motif.url:
            parts.append(f"URL {motif.url}")
    with writing(target) as file:
        file.write("\n\n".join(parts) + "\n")


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))
