"""
Learn a substitution matrix for protein alignment
=================================================

BLOSUM and PAM are tables of scores for replacing one amino acid by another, estimated by counting. Here such a table is
learnt from example alignments, as weights of a structural SVM: the right alignment of two sequences must score higher
than all others. The sequences are made up, so that the table can be compared with what is true of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import SubstitutionDisplay

plt.style.use(mm.plotting.STYLE)

# %%
# Proteins of random amino acids. Of every residue a copy is made: it is kept with a probability of 30%, replaced by one
# of its chemical group with 45%, by any other with 20%, and lost with 5%; now and then something is inserted.

GROUPS = ["STPAG", "NDEQ", "HRK", "MILV", "FYWC"]
LETTERS = "".join(GROUPS)
group_of = {letter: group for group in GROUPS for letter in group}


def pairs(n, rng, length=60):
    X, Y = [], []
    for _ in range(n):
        first, second, aligned = "".join(rng.choice(list(LETTERS), length)), "", []
        for i, letter in enumerate(first):
            kind = rng.choice(4, p=[0.3, 0.45, 0.2, 0.05])
            if kind < 3:
                aligned.append((i, len(second)))
                second += letter if kind == 0 else rng.choice(list(group_of[letter] if kind == 1 else LETTERS))
            if rng.random() < 0.04:
                second += "".join(rng.choice(list(LETTERS), rng.integers(1, 5)))
        X.append((first, second))
        Y.append(aligned)
    return X, Y


rng = np.random.default_rng(0)
X_train, Y_train = pairs(300, rng)
X_test, Y_test = pairs(200, rng)

# %%
# Against a table that rewards identical letters alone.

learnt = mm.Aligner("global", C=30, tol=0.01).fit(X_train, Y_train)
identity = mm.Aligner.from_matrix(
    np.where(np.eye(20), 5, -1), gap_open=8, gap_extend=1, mode="global", alphabet=LETTERS
)
print(
    f"residue pairs right: {identity.score(X_test, Y_test):.1%} by identity, {learnt.score(X_test, Y_test):.1%} learnt"
)
print(learnt.certificate_)

# %%
# The learnt table, with amino acids ordered by chemistry: red blocks on the diagonal are the groups, which training was
# not told about. Sulphur (C) was grouped with the aromatic residues F, Y and W here, and the table shows that, too.

SubstitutionDisplay.from_estimator(learnt).plot(annotate=False)
plt.show()
