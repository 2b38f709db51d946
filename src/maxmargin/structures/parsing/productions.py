"""Productions: a context-free grammar in the form that CKY reads, and trees as derivations of it.

Nodes with more than two children are split from the left: A → B C D E becomes

    A → B A⟨B⟩,   A⟨B⟩ → C A⟨B C⟩,   A⟨B C⟩ → D E

with a *part* A⟨…⟩ that remembers the children before it: all of them (horizontal=None, then exactly the rules that were
read can be derived), or the last few (then also others, which is what lets a small treebank parse new sentences).
Chains of unary nodes S → VP → VB over one span are kept as sequences of unary rules and applied in one step, so that
parsing needs no fixed point. A tree has exactly one derivation, and a derivation stands for one tree: both steps are
undone on the way back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.parsing.trees import Tree

Rows = NDArray[np.int32]  # (nodes, 5): chain, rule, begin, split, end of every node, a parent before its children
CHAIN, RULE, BEGIN, SPLIT, END = range(5)  # chain is -1 without unary rules; words have rule -1, and split is their tag


class Symbol(NamedTuple):
    """What can stand at a span of the chart."""

    kind: str  # "label", "tag" or "part"
    name: str
    above: tuple[str, ...] = ()  # labels of the ancestors that are remembered, nearest first
    before: tuple[tuple[str, str], ...] = ()  # for parts: kind and name of the children to the left

    def __str__(self) -> str:
        return self.written(())

    def written(self, quoted: Collection[str]) -> str:
        """As people write it, but tags with these names in quotes."""
        before = [_quoted(name, kind == "tag" and name in quoted) for kind, name in self.before]
        name = _quoted("^".join((self.name, *self.above)), self.kind == "tag" and self.name in quoted)
        return f"{name}⟨{' '.join(before)}⟩" if self.kind == "part" else name


class Constituent(NamedTuple):
    """The nodes over one span, top to bottom, and the tops of the children of the lowest."""

    chain: tuple[Symbol, ...]
    begin: int
    end: int
    children: list[tuple[Symbol, int]]  # symbol and where it begins; empty at a word


class NoDerivation(ValueError):  # noqa: N818 - what happened is the better name
    """A tree uses a rule that the grammar does not have."""


class Productions:
    """The rules of a set of trees: binary rules, unary rules, the chains of unary rules seen, and roots.

    horizontal : how many children to the left a part remembers; None: all.
    vertical : 1 for plain labels; v > 1 tells a label by its v - 1 nearest ancestors (Johnson 1998).
    """

    def __init__(self, horizontal: int | None = None, vertical: int = 1):
        self.horizontal, self.vertical = horizontal, vertical
        self.symbols: dict[Symbol, int] = {}
        self.binary: dict[tuple[int, int, int], int] = {}  # parent, left, right
        self.unary: dict[tuple[int, int], int] = {}  # parent, child
        self.chains: dict[tuple[int, ...], int] = {}  # symbols from top to bottom
        self.roots: Counter[int] = Counter()

    def read(self, trees: Iterable[Tree]) -> Productions:
        """Add the rules of these trees."""
        for i, tree in enumerate(trees):
            for node in self._constituents(tree, f"tree {i}"):
                self.add(node)
            self.roots[self._number(node.chain[0])] += 1  # the last constituent is the whole tree
        return self

    def write(self, rules: str | Iterable[str]) -> Productions:
        """Add rules like "NP -> DT NN | NNP"; the first one has the root, and what is never on the left is a tag.

        They are taken as they are, so parts remember all siblings. So are all chains of unary rules, which therefore
        may not run in a circle.
        """
        if self.vertical > 1:
            raise ValueError(f"rules that are given do not tell the ancestors of a label: vertical={self.vertical}")
        self.horizontal = None
        lines = rules.splitlines() if isinstance(rules, str) else rules
        if not isinstance(lines, Iterable):
            raise ValueError(f"rules are {rules!r}; expected strings like 'NP -> DT NN | NNP'")
        written = [rule for line in lines for rule in _read(line)]
        if not written:
            raise ValueError("no rules given; expected strings like 'NP -> DT NN | NNP'")
        labels = dict.fromkeys(parent for parent, _ in written)
        symbols = {
            name: Symbol("label" if name in labels else "tag", name) for rule in written for name in _names(rule)
        }
        below: dict[str, list[str]] = {name: [] for name in symbols}
        for parent, children in written:
            if len(children) == 1:
                below[parent].append(children[0])
            else:
                self.add(
                    Constituent((symbols[parent],), 0, len(children), [(symbols[c], t) for t, c in enumerate(children)])
                )
        for chain in _chains(below):
            self.add(Constituent(tuple(symbols[name] for name in chain), 0, 1, []))
        self.roots[self._number(symbols[written[0][0]])] += 1
        return self

    def sort(self) -> Productions:
        """Number the binary rules by their left child, as charts go through them."""
        in_order = sorted(self.binary, key=lambda rule: (rule[1], rule[0], rule[2]))
        self.binary = {rule: number for number, rule in enumerate(in_order)}
        return self

    def add(self, node: Constituent) -> None:
        """Add the rules at one constituent."""
        chain = tuple(map(self._number, node.chain))
        if len(chain) > 1:
            self.chains.setdefault(chain, len(self.chains))
            for pair in pairwise(chain):
                self.unary.setdefault(pair, len(self.unary))
        for parent, left, right, *_ in self._split(node):
            rule = (self._number(parent), self._number(left), self._number(right))
            self.binary.setdefault(rule, len(self.binary))

    def derivation(self, tree: Tree, name: str) -> Rows:
        """The rows of a tree; NoDerivation, with the rule, where the grammar lacks one."""
        above: list[list[list[int]]] = []  # rows of finished constituents that wait for their parent
        for node in self._constituents(tree, name):
            chain = tuple(self._known(symbol, name) for symbol in node.chain)
            number = -1
            if len(chain) > 1:
                number = self.chains.get(chain, -1)
                if number < 0:
                    raise NoDerivation(f"{name}: the grammar has no {_arrows(node.chain)}")
            if not node.children:
                above.append([[number, -1, node.begin, chain[-1], node.end]])
                continue
            rows: list[list[int]] = []
            parts = above[len(above) - len(node.children) :]
            del above[len(above) - len(node.children) :]
            for t, (parent, left, right, begin, split) in enumerate(self._split(node)):
                rule = self.binary.get((self._known(parent, name), self._known(left, name), self._known(right, name)))
                if rule is None:
                    raise NoDerivation(f"{name}: the grammar has no rule {parent} → {left} {right}")
                rows.append([number if t == 0 else -1, rule, begin, split, node.end])
                rows.extend(parts[t])
            rows.extend(parts[-1])
            above.append(rows)
        root = self._known(node.chain[0], name)
        if root not in self.roots:
            raise NoDerivation(f"{name}: no sentence of the grammar has the root {node.chain[0]}")
        return np.array(above[0], dtype=np.int32)

    def tree(self, rows: Rows, words: Sequence[str]) -> Tree:
        """The tree of a derivation."""
        symbols, binary, chains = list(self.symbols), list(self.binary), list(self.chains)
        waiting: list[list[Tree]] = []  # what finished spans consist of: several trees where the symbol is a part
        for chain, rule, begin, split, _ in rows[::-1].tolist():  # children come before their parents, left on top
            if rule < 0:
                nodes = [Tree(symbols[split].name, [words[begin]])]
            else:
                parent = symbols[binary[rule][0]]
                nodes = waiting.pop() + waiting.pop()
                if parent.kind == "label":
                    nodes = [Tree(parent.name, nodes)]
            if chain >= 0:
                for symbol in chains[chain][-2::-1]:
                    nodes = [Tree(symbols[symbol].name, nodes)]
            waiting.append(nodes)
        return waiting[0][0]

    @property
    def tags(self) -> dict[str, int]:
        """The symbol of every tag."""
        return {symbol.name: s for symbol, s in self.symbols.items() if symbol.kind == "tag"}

    def names(self) -> tuple[list[str], list[str]]:
        """The rules, binary first, and the roots as people write them, in the order of their weights.

        No two are written alike: tags that share their name with a label are in quotes.
        """
        labels = {symbol.name for symbol in self.symbols if symbol.kind == "label"}
        symbols = [symbol.written(labels) for symbol in self.symbols]
        binary = (f"{symbols[a]} → {symbols[b]} {symbols[c]}" for a, b, c in self.binary)
        unary = (f"{symbols[a]} → {symbols[b]}" for a, b in self.unary)
        return [*binary, *unary], [symbols[root] for root in self.roots]

    def _number(self, symbol: Symbol) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))

    def _known(self, symbol: Symbol, name: str) -> int:
        try:
            return self.symbols[symbol]
        except KeyError:
            raise NoDerivation(f"{name}: the grammar has no {symbol.kind} {symbol}") from None

    def _split(self, node: Constituent) -> Iterator[tuple[Symbol, Symbol, Symbol, int, int]]:
        """Binary rules of a constituent from the left: parent, left, right, begin and split."""
        parent = lowest = node.chain[-1]
        names = [(symbol.kind, symbol.name) for symbol, _ in node.children]
        for t, (child, begin) in enumerate(node.children[:-1]):
            if t == len(node.children) - 2:
                right = node.children[-1][0]
            else:
                memory = names[: t + 1] if self.horizontal is None else names[max(t + 1 - self.horizontal, 0) : t + 1]
                right = Symbol("part", lowest.name, lowest.above, tuple(memory))
            yield parent, child, right, begin, node.children[t + 1][1]
            parent = right

    def _constituents(self, tree: Tree, name: str) -> Iterator[Constituent]:
        """All constituents, children before their parents (without recursion: treebanks have deep trees)."""
        position = 0
        ancestors: list[str] = []
        stack: list[tuple[Constituent, Iterator[Tree]]] = []
        coming: Tree | None = tree
        while True:
            if coming is not None:
                chain, lowest = self._chain(coming, ancestors, name)
                ancestors.extend(symbol.name for symbol in chain)
                word = isinstance(lowest.children[0], str)
                node = Constituent(chain, position, position, [])
                position += word
                stack.append((node, iter(()) if word else iter(lowest.children)))  # type: ignore[arg-type]
            node, rest = stack[-1]
            coming = next(rest, None)
            if coming is not None:
                continue
            stack.pop()
            del ancestors[len(ancestors) - len(node.chain) :]
            yield node._replace(end=position)
            if not stack:
                return
            stack[-1][0].children.append((node.chain[0], node.begin))

    def _chain(self, tree: Tree, ancestors: list[str], name: str) -> tuple[tuple[Symbol, ...], Tree]:
        """The symbols of the nodes from this one down to the first that branches or is a tag, and that node."""
        chain: list[Symbol] = []
        names: list[str] = []
        while not isinstance(tree.children[0], str):
            if tree.label in names:
                cycle = " → ".join((*names[names.index(tree.label) :], tree.label))
                raise ValueError(
                    f"{name} has the unary cycle {cycle}; a label may stand only once over the same words "
                    "(Tree.cleaned() removes nodes that repeat their only child)"
                )
            near = (ancestors + names)[::-1][: self.vertical - 1]
            chain.append(Symbol("label", tree.label, tuple(near)))
            names.append(tree.label)
            if len(tree.children) > 1:
                return tuple(chain), tree
            tree = tree.children[0]
        chain.append(Symbol("tag", tree.label))
        return tuple(chain), tree


def _quoted(name: str, yes: bool) -> str:
    return f"'{name}'" if yes else name


def _arrows(symbols: Iterable[Symbol]) -> str:
    return "unary rules " + " → ".join(map(str, symbols))


def _read(line: str) -> list[tuple[str, list[str]]]:
    """The rules on one line."""
    if isinstance(line, str) and not line.strip():
        return []
    parent, arrow, right = line.replace("→", "->").partition("->") if isinstance(line, str) else ("", "", "")
    choices = [choice.split() for choice in right.split("|")]
    if not arrow or len(parent.split()) != 1 or not all(choices) or "->" in right:
        raise ValueError(f"the rule {line!r} cannot be read; expected something like 'NP -> DT NN | NNP'")
    return [(parent.strip(), children) for children in choices]


def _names(rule: tuple[str, list[str]]) -> list[str]:
    return [rule[0], *rule[1]]


def _chains(below: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """All paths of one or more unary rules; ValueError if one comes back to where it was."""
    waiting: list[tuple[str, ...]] = [(name,) for name in below]
    while waiting:
        path = waiting.pop()
        for name in below[path[-1]]:
            if name in path:
                cycle = " → ".join((*path[path.index(name) :], name))
                raise ValueError(f"the rules have the unary cycle {cycle}, so sentences have infinitely many trees")
            waiting.append((*path, name))
            yield waiting[-1]
