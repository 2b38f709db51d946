import pytest

from maxmargin.datasets import read_mulan

XML = '<labels xmlns="x"><label name="glad"></label><label name="calm"></label></labels>'
HEAD = """% songs
@relation songs
@attribute pace numeric
@attribute calm {0,1}

@ATTRIBUTE 'pitch' numeric
@attribute glad {0,1}
"""


@pytest.fixture
def read(tmp_path):
    def read(text, xml=XML):
        (tmp_path / "songs.xml").write_text(xml)
        (tmp_path / "songs-train.arff").write_text(text)
        return read_mulan(tmp_path / "songs-train.arff", tmp_path / "songs.xml")

    return read


def test_labels_are_the_columns_that_the_description_names_in_the_order_of_the_file(read):
    X, Y, labels = read(HEAD + "@data\n0.5,1,-2,0\n% two\n1e-3,0,7,1\n")
    assert X.tolist() == [[0.5, -2], [1e-3, 7]]
    assert (labels, Y.tolist()) == (["calm", "glad"], [[1, 0], [0, 1]])
    X, Y, _ = read(HEAD + "@DATA\n")
    assert (X.shape, Y.shape) == ((0, 2), (0, 2))


def test_names_may_be_quoted(read):
    names = ["Common Nighthawk", "Stellar's Jay", "x,y"]
    quoted = ["'Common Nighthawk'", r"'Stellar\'s Jay'", '"x,y"']
    xml = "".join(f'<label name="{name}"></label>' for name in names)
    head = "".join(f"@attribute {name} {{0,1}}\n" for name in [*quoted, "pitch"])
    assert read(f"{head}@data\n1,0,1,5\n", f"<labels>{xml}</labels>")[2] == names
