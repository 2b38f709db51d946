"""
Learn to align: substitution scores and gap costs from examples
===============================================================

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
# The scores that were learnt, and one pair of sequences in both alignments.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1, 1.2))
SubstitutionDisplay.from_estimator(learnt).plot(axes[0])
AlignmentDisplay.from_estimator(learnt, X_test[0], Y_test[0]).plot(axes[1], kind="path")
rows = AlignmentDisplay.from_estimator(common, X_test[0], Y_test[0]).plot()
rows.ax_.set_title("+5/-4, gaps 10/1")
rows = AlignmentDisplay.from_estimator(learnt, X_test[0], Y_test[0]).plot()
rows.ax_.set_title("learnt")
plt.show()
