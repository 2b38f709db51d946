from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.tokens.words import spelling, word_attributes, word_shape


def test_shapes():
    words = ["London", "IBM", "1,234.5", "U.S.", "e-mail", "a", "", "Ärger", "x1y22z333", "--"]
    assert [word_shape(word) for word in words] == [
        "Xxx", "XX", "d,dd.d", "X.X.", "x-xx", "x", "", "Xxx", "xdxddxdd", "--",
    ]  # fmt: skip


@given(st.text("abXY01-.", max_size=12))
def test_shapes_have_no_long_runs(word):
    shape = word_shape(word)
    assert all(shape[t : t + 3] != 3 * shape[t] for t in range(len(shape)))
    assert word_shape(word + word[-1:] * 3) == word_shape(word + word[-1:])
    assert len(shape) <= len(word)


@given(st.text(max_size=12) | st.text("aaaBB11\n..é²ǅ", max_size=20))
def test_shapes_letter_by_letter(word):
    shape = []
    for character in word:
        letter = "X" if character.isupper() else "x"
        kind = "d" if character.isdigit() else letter if character.isalpha() else character
        if shape[-2:] != [kind, kind]:
            shape.append(kind)
    assert word_shape(word) == "".join(shape)


def test_spelling():
    assert spelling("Mid-1990s") == [
        "lower=mid-1990s",
        "shape=Xxx-ddx",
        "prefix2=mi",
        "prefix3=mid",
        "suffix2=0s",
        "suffix3=90s",
        "suffix4=990s",
        "capital-first",
        "digit-some",
        "hyphen",
    ]
    assert spelling("USA")[-2:] == ["capital-first", "capital-all"]
    assert spelling("42")[-2:] == ["digit-some", "digit-all"]
    assert spelling("word")[-1] == "suffix4=word"


def test_attributes_name_the_neighbours():
    first, middle, last = word_attributes(["The", "dog", "barks"])
    assert first[:4] == ["bias", "w[-1]=<s>", "w[0]=The", "w[1]=dog"]
    assert middle[:4] == ["bias", "w[-1]=The", "w[0]=dog", "w[1]=barks"]
    assert last[:4] == ["bias", "w[-1]=dog", "w[0]=barks", "w[1]=</s>"]
    assert middle[4:] == spelling("dog")
    assert word_attributes(["one"])[0][1:4] == ["w[-1]=<s>", "w[0]=one", "w[1]=</s>"]
    assert word_attributes([]) == []
