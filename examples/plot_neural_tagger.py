"""
A neural network with a CRF or max-margin head, in PyTorch
==========================================================

Handwritten digits in strings that mostly count upwards. A small network reads every digit alone; a head over the whole
string knows which digits follow each other. The same head is trained by four losses.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

import maxmargin as mm
from maxmargin.torch import ChainHead

plt.style.use(mm.plotting.STYLE)

torch.set_num_threads(1)  # the network is small
X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=120, n_test=300)


def padded(X, Y):
    """Pixels (strings, positions, 64), and labels with -100 for padding."""
    pad = nn.utils.rnn.pad_sequence
    pixels = pad([torch.tensor(x, dtype=torch.float32) for x in X], batch_first=True)
    return pixels, pad([torch.tensor(y) for y in Y], batch_first=True, padding_value=-100)


pixels, labels = padded(X, Y)
new, truth = padded(X_test, Y_test)
known = truth != -100

# %%
# Every head has the same network, from the same seed. `hinge` trains for few wrong digits, `likelihood` for
# probabilities, `softmax_margin` for both.

curves, heads = {}, {}
for objective in ("digits alone", "likelihood", "softmax_margin", "hinge"):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10))
    head = ChainHead(10, objective="likelihood" if objective == "digits alone" else objective)
    if objective == "digits alone":
        head.requires_grad_(False)  # scores of neighbours stay 0
    own = [each for each in (*network.parameters(), *head.parameters()) if each.requires_grad]
    optimiser, errors = torch.optim.Adam(own, lr=0.01), []
    for _ in range(20):
        network.train()
        for some in torch.randperm(len(pixels)).split(20):
            optimiser.zero_grad()
            head(network(pixels[some]), labels[some]).backward()
            optimiser.step()
        with torch.no_grad():
            found = head.decode(network.eval()(new), known)
        errors.append(float((found != truth)[known].float().mean()))
    curves[objective], heads[objective] = errors, (network, head)
    print(f"{objective:15s} {errors[-1]:.1%} wrong digits")

fig, ax = plt.subplots(figsize=(7, 4))
for objective, errors in curves.items():
    ax.plot(np.arange(1, 21), errors, label=objective.replace("_", "-"))
ax.set(title="Wrong digits in new strings", xlabel="epoch", ylim=(0, None))
ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
ax.legend()

# %%
# The head has learnt that digits count upwards: the highest scores are those of the next digit.

fig, ax = plt.subplots(figsize=(5.6, 4.6))
table = heads["hinge"][1].transitions.detach().numpy()
image = ax.imshow(table, cmap="RdBu_r", vmin=-abs(table).max(), vmax=abs(table).max())
ax.grid(visible=False)
ax.set(xlabel="digit", ylabel="digit before it", xticks=range(10), yticks=range(10))
fig.colorbar(image, label="score")

# %%
# The probabilities of the digits of one string, and the three most probable strings.

network, head = heads["likelihood"]
with torch.no_grad():
    scores = network(new[:1])
print(np.round(head.marginals(scores, known[:1])[0].max(dim=1).values.numpy(), 2))
for string, score in head.n_best(scores, 3, known[:1])[0]:
    print(string, f"{score:.1f}")
plt.show()
