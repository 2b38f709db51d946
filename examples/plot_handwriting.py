"""
Handwriting recognition: digits read alone and as strings
=========================================================

Somebody has written strings of digits that mostly count upwards, and the scanner is bad. A classifier reads every digit
alone. A sequence model (a chain-structured SVM, trained like a conditional random field but for a large margin) has the
same weights for pixels and one more weight for every pair of neighbouring digits. The noisier the images, the more the
neighbours help.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import ImageSequenceDisplay

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 2

X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=250, n_test=300)
length = np.mean([len(y) for y in Y])
rng = np.random.default_rng(0)

# %%
# Noise is added to pixels between 0 and 1, in training and in testing alike. C multiplies the mean over strings in the
# one model and over digits in the other, hence the factor.

noises, errors, examples = [0.0, 0.15, 0.3, 0.45, 0.6], {"digits alone": [], "whole strings": []}, {}
for noise in noises:
    noisy, noisy_test = ([x + noise * rng.standard_normal(x.shape) for x in each] for each in (X, X_test))
    alone = mm.MulticlassSVC(C=10 * length).fit(np.vstack(noisy), np.concatenate(Y))
    chain = mm.SequenceLabeler(C=10).fit(noisy, Y)
    read = {"whole strings": chain.predict(noisy_test), "digits alone": [alone.predict(x).tolist() for x in noisy_test]}
    for name, found in read.items():
        errors[name].append(np.mean(np.concatenate(found) != np.concatenate(Y_test)))
    examples[noise] = noisy_test, read
    print(f"noise {noise}: " + ", ".join(f"{name} {values[-1]:.1%} wrong" for name, values in errors.items()))

figure, ax = plt.subplots(figsize=(7, 3.6))
for (name, values), style in zip(errors.items(), ("o-", "s-"), strict=True):
    ax.plot(noises, 100 * np.array(values), style, label=name)
ax.set(title="Wrong digits in new strings, %", xlabel="standard deviation of the noise", ylim=(0, None), xticks=noises)
ax.legend()

# %%
# Four strings at medium noise, the first ones of eight digits that the two models read differently. Mistakes have a
# coloured background. Strings help where a digit is hard to read and its neighbours are not; where the writer has
# jumped, the chain model may take the jump for a misreading.

noisy_test, read = examples[0.3]
differ = [i for i, y in enumerate(Y_test) if len(y) == 8 and read["whole strings"][i] != read["digits alone"][i]][:4]
ImageSequenceDisplay.from_predictions(
    [np.clip(noisy_test[i], 0, 1) for i in differ],
    [Y_test[i] for i in differ],
    {name: [found[i] for i in differ] for name, found in read.items()},
    image_shape=(8, 8),
).plot()
plt.show()
