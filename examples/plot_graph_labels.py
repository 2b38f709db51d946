"""
Image segmentation: neighbours decide what a pixel alone cannot
===============================================================

Every image shows layers of sky, land and water with wavy borders, in noise as strong as the colours. A pixel's colour
tells its label badly; that labels are layered, and in which order, is learnt as weights of neighbouring labels, one
table for neighbours side by side and one for neighbours above each other. Grids of three labels have no exact decoder:
training solves the LP relaxation, and the certificate and the bounds of the predictions tell how tight that is.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import SegmentationDisplay

plt.style.use(mm.plotting.STYLE)

NAMES = np.array(["sky", "land", "water"])
COLOURS = np.array([[0.55, 0.70, 0.90], [0.50, 0.60, 0.40], [0.25, 0.45, 0.65]])  # in the images and in the picture


def landscape(rng, height=20, width=28, noise=0.25):
    """An image (height, width, 3) and the names of its pixels' labels."""
    x = np.arange(width)
    horizon = height * (0.35 + 0.1 * rng.normal() + 0.12 * np.sin(x / width * 7 + 6 * rng.random()))
    shore = horizon + height * (0.2 + 0.2 * rng.random() + 0.08 * np.sin(x / width * 9 + 6 * rng.random()))
    rows = np.arange(height)[:, None]
    labels = (rows > horizon).astype(int) + (rows > shore)
    return COLOURS[labels] + noise * rng.normal(size=(height, width, 3)), NAMES[labels]


def graph(image):
    """One node per pixel; a constant feature lets labels differ in how frequent they are."""
    return mm.tasks.Nodes.grid(np.dstack([image, np.ones(image.shape[:2])]))


rng = np.random.default_rng(0)
images, Y = zip(*(landscape(rng) for _ in range(20)), strict=True)
X = [graph(image) for image in images]
train, test = slice(0, 12), slice(12, 20)

alone = mm.GraphLabeler(C=0.1).fit([mm.tasks.Nodes(x.features, []) for x in X[train]], Y[train])
model = mm.GraphLabeler(C=0.1).fit(X[train], Y[train])
print(model.certificate_)
print(f"pixels alone: {alone.score([mm.tasks.Nodes(x.features, []) for x in X[test]], Y[test]):.1%} right")
print(f"with neighbours: {model.score(X[test], Y[test]):.1%} right")
for bound in model.predict_bounds(X[test][:3]):
    print(f"score {bound.score:.2f}, no labelling has more than {bound.upper:.2f} ({bound.method})")

# %%
# Two test images as they are seen, their true labels and what the model makes of them, in the colours without noise.

fig, axes = plt.subplots(2, 1, figsize=(7, 3.6))
for ax, i in zip(axes, (12, 13), strict=True):
    display = SegmentationDisplay.from_estimator(model, X[i], Y[i], image=np.clip(images[i], 0, 1))
    display.plot(ax, opacity=1.0, colours=dict(zip(NAMES, COLOURS, strict=True)))
axes[0].get_legend().remove()  # one is enough
plt.show()
