"""Taxonomies in text files: a node on every line, and what is directly above it.

    cat     pet
    pet     animal
    animal

Names are what is between tabs if a line has any, else between blanks. A node may have several parents. Where several
have none, they are below a root that has no name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from maxmargin.inputs.readers.text_file import TextFile, reading, writing


def read_taxonomy(source: TextFile) -> dict[str, list[str | None]]:
    """{node: what is above it}, as TaxonomySVC(taxonomy=…) takes it. Lines that begin with # are left out."""
    parents: dict[str, list[str | None]] = {}
    with reading(source) as lines:
        for line in lines:
            names = [name.strip() for name in line.rstrip().split("\t")] if "\t" in line else line.split()
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            node, *above = names
            if "" in names or len(set(names)) < len(names):
                raise lines.error(f"found {line[:60]!r}; expected a node and the nodes above it, all different")
            if node in parents:
                raise lines.error(f"the node {node!r} is on a second line; expected all nodes above it on one")
            parents[node] = list(above) or [None]
        if not parents:
            raise lines.error("the file has no nodes; expected one on every line, followed by the nodes above it")
    unnamed = [name for above in parents.values() for name in above if name is not None and name not in parents]
    if len(set(unnamed)) > 1 or [None] in parents.values():
        parents.update((name, [None]) for name in unnamed)
    return parents


def write_taxonomy(target: TextFile, parents: Mapping[Hashable, Sequence[Hashable]]) -> None:
    """Write {node: nodes above it}; None among these is no node."""
    with writing(target) as file:
        for node, above in parents.items():
            names = [str(name) for name in (node, *above) if name is not None]
            for name in names:
                if name.strip() != name or not name or any(end in name for end in "\t\n\r") or name.startswith("#"):
                    raise ValueError(f"{name!r} cannot be the name of a node in a file")
            file.write("\t".join(names) + ("\t" if len(names) == 1 and len(names[0].split()) > 1 else "") + "\n")
