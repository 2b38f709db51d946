"""What people write around python-crfsuite: columns in, features by a function, labels out; without maxmargin.

python crfsuite_script.py train DATA MODEL;   python crfsuite_script.py tag MODEL DATA OUT
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pycrfsuite

ITERATIONS = 10  # of stochastic gradients: how good the model is does not matter here
KINDS = (str.isupper, str.isdigit)


def sentences(path: str) -> Iterator[list[list[str]]]:
    """Lists of columns."""
    sentence: list[list[str]] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                sentence.append(line.split())
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def shape(word: str) -> str:
    found: list[str] = []
    for letter in word:
        kind = "d" if letter.isdigit() else ("X" if letter.isupper() else "x") if letter.isalpha() else letter
        if found[-2:] != [kind, kind]:
            found.append(kind)
    return "".join(found)


def attributes(sentence: list[list[str]]) -> list[list[str]]:
    """Those of TokenTemplates.usual(2)."""
    words = ["<s2>", "<s1>", *(token[0] for token in sentence), "</s1>", "</s2>"]
    tags = ["<s2>", "<s1>", *(token[1] for token in sentence), "</s1>", "</s2>"]
    shapes = list(map(shape, words))
    result = []
    for t in range(len(sentence)):
        w, p = words[t : t + 5], tags[t : t + 5]
        word, lower = w[2], w[2].lower()
        each = ["bias", f"lower={lower}", *(f"shape{k}={shapes[t + 2 + k]}" for k in (-1, 0, 1))]
        each += [f"word{k}={w[k]}" for k in range(5)] + [f"words{k}={w[k]}|{w[k + 1]}" for k in (1, 2)]
        each += [f"tag{k}={p[k]}" for k in range(5)] + [f"tags{k}={p[k]}|{p[k + 1]}" for k in range(4)]
        each += [f"three{k}={p[k]}|{p[k + 1]}|{p[k + 2]}" for k in range(3)]
        each += [f"prefix{k}={lower[:k]}" for k in (2, 3)] + [f"suffix{k}={lower[-k:]}" for k in (2, 3, 4)]
        each += [f"kind{k}" for k, kind in enumerate(KINDS) if kind(word)]
        each += [name for name, has in (("capital", word[:1].isupper()), ("hyphen", "-" in word)) if has]
        if any(map(str.isdigit, word)):
            each.append("digit")
        result.append(each)
    return result


def train(data: str, model: str) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in sentences(data):
        trainer.append(attributes(sentence), [columns[2] for columns in sentence])
    trainer.select("l2sgd")
    trainer.set_params({"max_iterations": ITERATIONS})
    trainer.train(model)


def tag(model: str, data: str, out: str) -> None:
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(out, "w", encoding="utf-8") as file:
        for sentence in sentences(data):
            for columns, label in zip(sentence, tagger.tag(attributes(sentence)), strict=True):
                file.write(" ".join([*columns, label]) + "\n")
            file.write("\n")


if __name__ == "__main__":
    {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
