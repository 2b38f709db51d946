"""MotifDescription: letter counts, consensus and scores of the motif of a fitted MotifFinder, and its MEME file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.structures.motifs.patterns import consensus, information
from maxmargin.structures.motifs.sites import Site

if TYPE_CHECKING:
    from maxmargin.inputs.readers.text_file import TextFile
    from maxmargin.structures.motifs.meme.content import MemeFile
    from maxmargin.structures.motifs.task import Motif


class MotifDescription:
    """Mixin with the attributes that describe the motif of a fitted estimator."""

    task_: Motif
    w_: Array
    sites_: list[Site]
    background_frequencies_: Array
    letter_weights_: Array

    @property
    def alphabet_(self) -> str:
        """The letters, in the order of the columns of counts_, frequencies_ and pssm_."""
        check_is_fitted(self)
        return self.task_.alphabet_.letters

    @property
    def counts_(self) -> Array:
        """A (length, letters) array: how many of sites_ have each letter at each position."""
        check_is_fitted(self)
        task = self.task_
        counts = np.zeros((task.length, len(task.alphabet_)))
        for site in self.sites_:
            counts[np.arange(task.length), task.alphabet_.codes(site.text, "a site")] += 1
        return counts

    @property
    def frequencies_(self) -> Array:
        """A (length, letters) array: counts_ as shares."""
        return self.counts_ / len(self.sites_)

    @property
    def information_(self) -> Array:
        """A (length,) array: the information of each position of `frequencies_` in bits, relative to equal letters."""
        return information(self.frequencies_)

    @property
    def consensus_(self) -> str:
        """The `frequencies_` in IUPAC codes (with a dot for any letter, in alphabets that have no codes)."""
        return consensus(self.frequencies_, self.task_.alphabet_)

    @property
    def pssm_(self) -> Array:
        """A (length, letters) array: position-specific weights minus those of the background.

        The mean weight of a letter in the background, over all its occurrences in the negative training strings, is
        subtracted from its weight. The sum over a window is its score in `decision_function`, apart from the contexts
        of its letters.
        """
        check_is_fitted(self)
        return self.task_.split_weights(self.w_).motif - self.letter_weights_

    def to_meme(self, name: str | None = None) -> MemeFile:
        """Return the motif in the form that formats.write_meme writes; by default its name is the consensus."""
        from maxmargin.structures.motifs.meme.content import MemeFile, MemeMotif

        columns = np.argsort(list(self.alphabet_))  # the format requires sorted letters
        motif = MemeMotif(name or self.consensus_, self.frequencies_[:, columns], nsites=len(self.sites_))
        strands = "+ -" if self.task_.strands == 2 else "+"
        return MemeFile("".join(sorted(self.alphabet_)), (motif,), self.background_frequencies_[columns], strands)

    def write_meme(self, target: TextFile, name: str | None = None) -> None:
        """Write frequencies_ to a file in MEME's minimal format."""
        from maxmargin.structures.motifs.meme.writer import write_meme

        write_meme(target, self.to_meme(name))
