"""Taxonomies in text files: a node on every line, followed by its parents.

    cat     pet
    pet     animal
    animal

Names are separated by tabs if a line has any, otherwise by blanks. A node may have several parents. If several nodes
have no parent, they are below an unnamed root.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from maxmargin.inputs.readers.text_file import TextFile, reading, writing


def read_taxonomy(source: TextFile) -> dict[str, list[str | None]]:
    r"""Read a taxonomy as the dictionary that TaxonomySVC(taxonomy=…) takes. Lines that begin with # are skipped.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    dict from nodes to lists of parents; None stands for an unnamed root.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_taxonomy
    >>> read_taxonomy(io.StringIO("cat pet\npet animal\nanimal\n"))
    {'cat': ['pet'], 'pet': ['animal'], 'animal': [None]}

    See Also
    --------
    write_taxonomy : writes such files.   maxmargin.TaxonomySVC : learns classes of a taxonomy.
    """
    parents: dict[str, list[str | None]] = {}
    with reading(source) as lines:
        for line in lines:
            names = [name.strip() for name in line.rstrip().split("\t")] if "\t" in line else line.split()
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            node, *above = names
            if "" in names or len(set(names)) < len(names):
                raise lines.error(f"found {line[:60]!r}; expected a node and its parents, all different")
            if node in parents:
                raise lines.error(f"the node {node!r} begins a second line; expected all its parents on one line")
            parents[node] = list(above) or [None]
        if not parents:
            raise lines.error("the file has no nodes; expected one on every line, followed by its parents")
    unnamed = [name for above in parents.values() for name in above if name is not None and name not in parents]
    if len(set(unnamed)) > 1 or [None] in parents.values():
        parents.update((name, [None]) for name in unnamed)
    return parents


def write_taxonomy(target: TextFile, parents: Mapping[Hashable, Sequence[Hashable]]) -> None:
    r"""Write a taxonomy to a file.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    parents : mapping
        {node: its parents}; None among the parents is not written.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import write_taxonomy
    >>> file = io.StringIO()
    >>> write_taxonomy(file, {"cat": ["pet"]})
    >>> file.getvalue()
    'cat\tpet\n'

    See Also
    --------
    read_taxonomy : reads such files.
    """
    with writing(target) as file:
        for node, above in parents.items():
            names = [str(name) for name in (node, *above) if name is not None]
            for name in names:
                if name.strip() != name or not name or any(end in name for end in "\t\n\r") or name.startswith("#"):
                    raise ValueError(f"{name!r} cannot be the name of a node in a file")
            file.write("\t".join(names) + ("\t" if len(names) == 1 and len(names[0].split()) > 1 else "") + "\n")
