"""Classes described by attributes, written out: the scores of classes, and Ψ."""

from __future__ import annotations

import numpy as np


def class_scores(w, direct, own, table):
    """The score of every class: its attributes' scores, each as often as the class has it."""
    scores = np.zeros((len(own), len(table)))
    for j in range(len(own)):
        attributes = np.concatenate([w[:direct], own[j]])
        for k in range(len(table)):
            scores[j, k] = sum(table[k, c] * attributes[c] for c in range(len(attributes)))
    return scores


def features(direct, x, attributes):
    """Ψ: the attributes without features, then every feature of x at every other attribute."""
    psi = list(attributes[:direct])
    for value in x:
        psi += [value * attribute for attribute in attributes[direct:]]
    return np.array(psi)
