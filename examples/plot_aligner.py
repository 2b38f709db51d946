"""
Sequence alignment: learn substitution scores and gap costs
===========================================================

Sequences that have drifted apart are aligned with a table of substitution scores and costs of gaps, which are mostly
taken from the literature. Where reference alignments are at hand, they can be learnt: so that the right alignment
scores higher than every other one, by a margin that grows with the share of pairs that the other one has wrong.
"""

# %%
# DNA in which A and G, C and T replace each other most of the time: 50 pairs to learn from, 200 to test with.

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import AlignmentDisplay, SubstitutionDisplay

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 2

X_train, Y_train = mm.datasets.mutated_pairs(50, seed=0)
X_test, Y_test = mm.datasets.mutated_pairs(200, seed=1)

# %%
# A common choice of scores, the generative model (log-odds of pairs seen, with gap costs by hand), and a large margin.

common = mm.Aligner.from_matrix(np.where(np.eye(4), 5, -4), gap_open=10, gap_extend=1, mode="global", alphabet="ACGT")
log_odds = mm.Aligner.from_log_odds(X_train, Y_train, gap_open=2, gap_extend=1, mode="global")
learnt = mm.Aligner("global", C=10, random_state=0).fit(X_train, Y_train)
for name, model in (("+5/-4, gaps 10/1", common), ("log-odds, gaps 2/1", log_odds), ("learnt", learnt)):
    print(f"{name}: {model.score(X_test, Y_test):.1%} of the pairs right")
print(f"learnt gap costs: {learnt.gap_open_:.3f} for the first residue, {learnt.gap_extend_:.3f} for each further one")

# %%
# One pair of sequences in the alignment of the common scores, which set their gaps elsewhere: numbers between the rows
# say by how many positions a pair is shifted.

display = AlignmentDisplay.from_estimator(common, X_test[0], Y_test[0]).plot(width=40)
display.ax_.set_title("Scores +5/−4, gaps 10/1")

# %%
# The same pair in the alignment of the learnt scores.

display = AlignmentDisplay.from_estimator(learnt, X_test[0], Y_test[0]).plot(width=40)
display.ax_.set_title("Learnt scores")

# %%
# The scores that were learnt: A and G may replace each other, and so may C and T.

figure, ax = plt.subplots(figsize=(5.2, 4.4))
SubstitutionDisplay.from_estimator(learnt).plot(ax)
plt.show()
