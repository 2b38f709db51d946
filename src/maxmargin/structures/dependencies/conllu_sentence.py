"""ConlluSentence: one sentence of a CoNLL-U file."""

from __future__ import annotations

from dataclasses import dataclass, field

Row = tuple[str, str, str, str, str, int | None, str, str, str]
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass
class ConlluSentence:
    """A sentence of a CoNLL-U file, as rows of ten columns, all strings except the heads.

    Parameters
    ----------
    rows : list of rows
        rows[m - 1] is word m: its columns without the id, with the head as a number, None if the file has "_".
    comments : list of str
        Lines that begin with #, unchanged.
    others : list of pairs
        The lines of multiword tokens (3-4) and empty nodes (3.1), each with the number of words before it. They are not
        words, but are kept to be written again.

    See Also
    --------
    maxmargin.formats.read_conllu : reads sentences from files.
    """

    rows: list[Row]
    comments: list[str] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def forms(self) -> list[str]:
        return [row[0] for row in self.rows]

    @property
    def tokens(self) -> list[tuple[str, ...]]:
        """The tokens for DependencyParser: (form, UPOS, XPOS), or (form, UPOS) if no word has an XPOS."""
        fine = any(row[3] != "_" for row in self.rows)
        return [(row[0], row[2], row[3]) if fine else (row[0], row[2]) for row in self.rows]

    @property
    def heads(self) -> list[int]:
        """The head of every word."""
        return [self._head(m) for m in range(1, len(self) + 1)]

    @property
    def arcs(self) -> list[tuple[int, str]]:
        """Head and label of every word."""
        return [(self._head(m), self.rows[m - 1][6]) for m in range(1, len(self) + 1)]

    @property
    def text(self) -> str | None:
        """The text in the comment `# text = …`."""
        return next((line.split("=", 1)[1].strip() for line in self.comments if line.startswith("# text =")), None)

    def with_arcs(self, arcs: list[tuple[int, str]] | list[int]) -> ConlluSentence:
        """Return the same words with other heads, or other heads and labels. Enhanced graphs (DEPS) are left out."""
        if len(arcs) != len(self):
            raise ValueError(f"there are {len(arcs)} arcs; expected {len(self)}, one for every word")
        rows: list[Row] = []
        for row, arc in zip(self.rows, arcs, strict=True):
            head, label = arc if isinstance(arc, tuple | list) else (arc, row[6])
            rows.append((*row[:5], int(head), label, "_", row[8]))
        return ConlluSentence(rows, list(self.comments), list(self.others))

    def _head(self, m: int) -> int:
        head = self.rows[m - 1][5]
        if head is None:
            raise ValueError(f"word {m}, {self.rows[m - 1][0]!r}, has no head: its column HEAD is '_'")
        return head
