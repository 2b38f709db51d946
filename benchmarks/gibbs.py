"""A Gibbs sampler for motifs, the generative rival of MotifFinder.

Every string has one site; a site is drawn given all others, from the likelihood of its letters under the motif that the
others make against a Markov background (Lawrence et al., "Detecting subtle sequence signals: a Gibbs sampling strategy
for multiple alignment", Science 1993). From time to time all sites are moved together by a few letters, which single
draws cannot do. Several chains are run, and the best state of all is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.markov import MarkovChain
from maxmargin.structures.motifs.sites import Site
from maxmargin.structures.motifs.strings import Strings

DNA = Alphabet("ACGT")
PSEUDOCOUNT = 1.0  # letters that every position has seen in addition, distributed as the background's


class GibbsMotif:
    """Motif and background of one set of strings that all have the motif.

    background : strings for the Markov chain of the given order; a score is a log-likelihood ratio against it.
    """

    def __init__(
        self,
        length: int,
        order: int = 3,
        restarts: int = 10,
        sweeps: int = 60,
        seed: int = 0,
    ):
        self.length, self.order, self.restarts, self.sweeps, self.seed = length, order, restarts, sweeps, seed

    def fit(self, X: list[str], background: list[str]) -> GibbsMotif:
        strings = Strings([DNA.codes(x, "string") for x in background])
        chain = MarkovChain(strings, 4, self.order)
        # log-probabilities by the numbers of contexts
        self.ground = np.concatenate([np.log(np.diff(table, axis=1, prepend=0)).ravel() for table in chain.chances])
        self.letters = np.bincount(strings.codes, minlength=4) / len(strings.codes)
        self.best = -np.inf
        data = [self._windows(x) for x in X]
        for restart in range(self.restarts):
            self._run(data, np.random.default_rng([self.seed, restart]))
        return self

    def find_sites(self, X: list[str]) -> list[Site]:
        sites = []
        for i, x in enumerate(X):
            words, ground = self._windows(x)
            scores = self._ratios(self.motif, words, ground)
            k = int(np.argmax(scores))
            start, strand = k % (len(words) // 2), "+-"[k // (len(words) // 2)]
            sites.append(Site(i, start, strand, float(scores[k]), DNA.text(words[k] - 4 * np.arange(self.length))))
        return sites

    def decision_function(self, X: list[str]) -> NDArray[np.float64]:
        """The log-likelihood ratio of the best site."""
        return np.array([site.score for site in self.find_sites(X)])

    def _windows(self, x: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(windows of both strands, length) numbers of motif letters, and the background's log-likelihood of each."""
        strings = Strings([DNA.codes(x, "string")])
        n = len(x) - self.length + 1
        forward = strings.codes[np.arange(n)[:, None] + np.arange(self.length)]
        ground = np.append(0, np.cumsum(self.ground[strings.contexts(4, self.order)]))
        ground = ground[self.length :] - ground[:n]
        words = np.concatenate([forward, 3 - forward[:, ::-1]])  # A C G T: the complement counts from the other end
        return words + 4 * np.arange(self.length), np.concatenate([ground, ground])

    def _ratios(self, motif: NDArray[np.float64], words: NDArray[np.int64], ground: NDArray[np.float64]) -> NDArray:
        return np.log(motif).ravel()[words].sum(axis=1) - ground

    def _motif(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        raised = counts.reshape(self.length, 4) + PSEUDOCOUNT * self.letters
        return raised / raised.sum(axis=1, keepdims=True)

    def _run(self, data: list, rng: np.random.Generator) -> None:
        """One chain."""
        places = np.array([rng.integers(len(words)) for words, _ in data])
        counts = np.zeros(4 * self.length)
        for (words, _), k in zip(data, places, strict=True):
            counts[words[k]] += 1
        for sweep in range(self.sweeps):
            for i in rng.permutation(len(data)):
                words, ground = data[i]
                counts[words[places[i]]] -= 1
                scores = self._ratios(self._motif(counts), words, ground)
                chances = np.cumsum(np.exp(scores - scores.max()))
                places[i] = np.searchsorted(chances, rng.random() * chances[-1])
                counts[words[places[i]]] += 1
            if sweep % 5 == 4:
                places, counts = self._moved(data, places, counts, rng)
            self._note(data, places, counts)

    def _moved(self, data: list, places: NDArray, counts: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """All sites moved by the same few letters along the motif, drawn by likelihood."""
        states = []
        for step in range(-3, 4):
            moved, tally = np.empty_like(places), np.zeros_like(counts)
            total = 0.0
            for i, ((words, ground), k) in enumerate(zip(data, places, strict=True)):
                half = len(words) // 2
                start = (k + step if k < half else k - half - step) % half  # round the end, for few are near it
                moved[i] = start + (half if k >= half else 0)
                tally[words[moved[i]]] += 1
                total -= ground[moved[i]]
            states.append((total + float((tally * np.log(self._motif(tally)).ravel()).sum()), moved, tally))
        values = np.array([value for value, _, _ in states])
        _, moved, tally = states[rng.choice(len(states), p=np.exp(values - np.logaddexp.reduce(values)))]
        return moved, tally

    def _note(self, data: list, places: NDArray, counts: NDArray) -> None:
        """Keep the motif if its sites are the most likely ones so far."""
        motif = self._motif(counts)
        ground = sum(ground[k] for (_, ground), k in zip(data, places, strict=True))
        value = float((counts * np.log(motif).ravel()).sum()) - ground
        if value > self.best:
            self.best, self.motif = value, motif
