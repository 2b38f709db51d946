import io
import tarfile

import pytest

from benchmarks.loaders import load_ptb_sample
from maxmargin.structures.parsing.trees import Tree

FIRST = "( (S (NP-SBJ (NP (PRP it)) (SBAR (-NONE- *T*-1))) (VP (VBZ works) )\n (. .) ))\n\n( (INTJ (UH yes)) )\n"
SECOND = "( (NP (NN tree) (NNS banks)) )\n"


def write(folder, files):
    (folder / "ptb_wsj_sample").mkdir()
    with tarfile.open(folder / "ptb_wsj_sample" / "wsj_combined.tar.xz", "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"combined/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def test_trees_are_cleaned_and_in_the_order_of_the_files(folder):
    write(folder, {"README": "(no tree", "wsj_0002.mrg": SECOND, "wsj_0001.mrg": FIRST})
    trees = ["(S (NP (PRP it)) (VP (VBZ works)) (. .))", "(INTJ (UH yes))", "(NP (NN tree) (NNS banks))"]
    assert load_ptb_sample() == [Tree.parse(tree) for tree in trees]
    assert load_ptb_sample(max_words=2) == [Tree.parse(tree) for tree in trees[1:]]
    assert load_ptb_sample(max_words=1) == [Tree.parse(trees[1])]
    with pytest.raises(ValueError, match="max_words must be at least 1, or None for all sentences, not 0"):
        load_ptb_sample(max_words=0)


def test_a_broken_file_is_named(folder):
    write(folder, {"wsj_0001.mrg": FIRST, "wsj_0002.mrg": "\n" + SECOND[:-3]})
    with pytest.raises(ValueError, match=r"combined/wsj_0002\.mrg, line 2: a bracket is not closed"):
        load_ptb_sample()


@pytest.mark.data
def test_the_sample_has_its_published_counts():
    trees = load_ptb_sample()
    assert len(trees) == 3914
    assert sum(map(len, trees)) == 94084
    assert max(map(len, trees)) == 249
    assert [sum(len(tree) <= most for tree in trees) for most in (10, 15, 20)] == [393, 922, 1605]
    assert len({tag for tree in trees for tag in tree.tags()}) == 45
    labels = {label for tree in trees for label, _, _ in tree.brackets()}
    assert len(labels) == 27
    assert len({label.split("|")[0] for label in labels}) == 26  # ADVP|PRT, which occurs once, being read as ADVP
    assert load_ptb_sample(max_words=10) == [tree for tree in trees if len(tree) <= 10]
    for tree in trees:
        assert Tree.parse(str(tree)) == tree
        assert tree.cleaned() == tree
