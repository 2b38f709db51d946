"""Templates of attributes against what their texts say, written out token by token."""

import copy
import io
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin import TokenTemplates

NEW_YORK = [("In", "IN"), ("New", "NNP"), ("York", "NNP")]


def test_places_functions_and_conjunctions():
    templates = TokenTemplates(
        [
            "bias",
            "word[-1..0]",
            "pos[-1] | pos",
            "suffix(word, 2)",
            "capital(word)[1]",
            "lower(word) | shape(word)[-1]",
        ],
        ["word", "pos"],
    )
    first, _, last = templates.attributes(NEW_YORK)
    assert set(first) == {
        *("bias", "word[-1]=<s1>", "word=In", "pos[-1] | pos=<s1>|IN", "suffix(word, 2)=in", "capital(word)[1]=yes"),
        "lower(word) | shape(word)[-1]=in|<xd>",
    }
    assert {"pos[-1] | pos=NNP|NNP", "word[-1]=New"} < set(last)
    assert not any(attribute.startswith("capital") for attribute in last)  # </s1> has none


def test_gazetteers_find_the_longest_phrases():
    lists = {"city": ["New York", "York", "New York City", "Bath", " "]}
    templates = TokenTemplates(["in(word, city)", "in(word, city)[1] | word"], gazetteers=lists)
    sentence = ["from", "New", "York", "to", "York", ",", "New", "York", "City"]
    marks = [
        [a.removeprefix("in(word, city)=") for a in token if "[" not in a] for token in templates.attributes(sentence)
    ]
    assert marks == [[], ["B"], ["I"], [], ["B"], [], ["B"], ["I"], ["I"]]
    assert templates.attributes(sentence)[0] == ["in(word, city)[1] | word=B|from"]


words = st.text(st.sampled_from("aB1-é"), max_size=4)
FUNCTIONS = {
    "{}": str,
    "lower({})": str.lower,
    "prefix({}, 2)": lambda word: word.lower()[:2],
    "suffix({}, 3)": lambda word: word.lower()[-3:],
    "capitals({})": lambda word: "yes" if word.isupper() else "",
    "digit({})": lambda word: "yes" if any(c.isdigit() for c in word) else "",
    "number({})": lambda word: "yes" if word.isdigit() else "",
    "hyphen({})": lambda word: "yes" if "-" in word else "",
}
terms = st.tuples(st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(["w", "p"]), st.integers(-2, 2))


@given(
    st.lists(st.lists(terms, min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(st.tuples(words, words), max_size=4),
)
def test_attributes_are_what_the_texts_say(features, sentence):
    def text(term):
        function, column, place = term
        return function.format(column) + (f"[{place}]" if place else "")

    def value(term, t):
        function, column, place = term
        at = t + place
        if at < 0 or at >= len(sentence):
            return FUNCTIONS[function](f"<s{-at}>" if at < 0 else f"</s{at - len(sentence) + 1}>")
        return FUNCTIONS[function](sentence[at][column == "p"])

    templates = TokenTemplates([" | ".join(map(text, each)) for each in features], ["w", "p"])
    found = templates.attributes(sentence)
    assert len(found) == len(sentence)
    for t, attributes in enumerate(found):
        expected = set()
        for each in features:
            values = [value(term, t) for term in each]
            if all(values):
                expected.add(" | ".join(map(text, each)) + "=" + "|".join(values))
        assert set(attributes) == expected


def test_usual_templates_tell_tokens_apart():
    """Two tokens that differ in their word, its neighbours, its spelling or a tag have different attributes."""
    sentences = [NEW_YORK, [("a", "DT"), ("state-of-the-art", "JJ"), ("IBM", "NNP"), ("42", "CD"), ("3rd", "JJ")]]
    here = [frozenset(token) for x in sentences for token in TokenTemplates.usual(2).attributes(x)]
    assert len(set(here)) == sum(map(len, sentences)) == 8
    for k in (1, 2, 3, 4):
        assert len(TokenTemplates.usual(k).columns) == k


@pytest.mark.parametrize(
    ("features", "complaint"),
    [
        (["pos"], "names the column 'pos'; columns are word"),
        (["word[0..1] | word"], "combines a range with |; expected a single offset on each"),
        (["prefix(word)"], "needs a length of 1 to 20, as in prefix"),
        (["lower(word, 3)"], "names the function 'lower'; expected one of lower, shape"),
        (["stem(word)"], "names the function 'stem'; expected one of lower, shape"),
        (["in(word, city)"], "names the gazetteer 'city'; expected none"),
        (["word[10]"], "looks at 10 to 10; expected offsets from -9 to 9"),
        (["word[1..-1]"], "looks at 1 to -1; expected offsets from -9 to 9"),
        (["word)"], "has 'word)'; expected column"),
        (["word, 3"], "has 'word, 3'; expected column"),
        (["%x[0]"], "expected column"),
        ([], "features is an empty list; expected at least"),
        ("word", "features is 'word'; expected a list of texts"),
        ([3], "expected a list of texts"),
    ],
)
def test_what_is_wrong_with_templates_is_said(features, complaint):
    with pytest.raises(ValueError, match=complaint.replace("|", r"\|").replace(")", r"\)")):
        TokenTemplates(features)


def test_files_of_templates(tmp_path):
    (tmp_path / "cities.txt").write_text("Bath\nNew York\n\n")
    path = tmp_path / "templates.toml"
    path.write_text(
        'columns = ["word", "pos"]\nfeatures = ["word", "in(word, city)", "in(word, name)"]\n'
        '[gazetteers]\ncity = "cities.txt"\nname = ["Ada"]\n'
    )
    templates = TokenTemplates.read(path)
    assert templates.gazetteers == {"city": ["Bath", "New York"], "name": ["Ada"]}
    assert templates.attributes([("New", "X"), ("York", "X")])[1] == ["word=York", "in(word, city)=I"]
    for text, complaint in (
        ("columns =", "the text is not a TOML file: "),
        ('features = ["word"]', "the text: found the keys features; expected features, columns and "),
        ('columns = ["word"]\nfeatures = ["pos"]', "the text: the feature 'pos' names the column 'pos'"),
    ):
        with pytest.raises(ValueError, match=complaint):
            TokenTemplates.read(io.StringIO(text))


def test_copies_are_equal():
    templates = TokenTemplates.usual(2)
    for other in (copy.deepcopy(templates), pickle.loads(pickle.dumps(templates)), eval(repr(templates))):
        assert other == templates
        assert hash(other) == hash(templates)
        assert other.attributes(NEW_YORK) == templates.attributes(NEW_YORK)
    assert templates != TokenTemplates.usual(1)


def test_values_are_forgotten_where_there_are_many(monkeypatch):
    monkeypatch.setattr("maxmargin.inputs.tokens.token_templates.REMEMBERED", 3)
    templates = TokenTemplates(["lower(word)", "lower(word) | word"])
    sentence = [f"W{k}" for k in range(10)]
    assert templates.attributes(sentence) == [[f"lower(word)=w{k}", f"lower(word) | word=w{k}|W{k}"] for k in range(10)]


# --- in a labeler

X = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("a", "D"), ("cat", "N"), ("sleeps", "V")]] * 2
Y = [["O", "B-X", "O"], ["O", "B-X", "O"]] * 2


@pytest.mark.parametrize("options", [{}, {"hash_bits": 10}, {"min_count": 2}])
def test_columns_and_their_attributes_make_the_same_model(options):
    templates = TokenTemplates.usual(2)
    model = mm.SequenceLabeler(C=10, features=templates, **options).fit(X, Y)
    other = mm.SequenceLabeler(C=10, **options).fit([templates.attributes(x) for x in X], Y)
    assert (model.w_ == other.w_).all()
    assert model.predict(X) == other.predict([templates.attributes(x) for x in X])
    assert model.predict_nbest(X, 2) == other.predict_nbest([templates.attributes(x) for x in X], 2)
    assert model.predict([[]]) == [[]]


def test_tokens_that_are_not_as_the_templates_want_them():
    model = mm.SequenceLabeler(C=10, features=TokenTemplates.usual(2)).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"sequence 1, position 2: the token is \('x',\); expected a tuple of texts, \(word, tag\)"
    ):
        model.predict([X[0], [*X[1][:2], ("x",)]])
    with pytest.raises(ValueError, match="features must be None or TokenTemplates, got 'usual'"):
        mm.SequenceLabeler(features="usual").fit(X, Y)
    with pytest.raises(ValueError, match="with a kernel, give features of tokens"):
        mm.SequenceLabeler(features=TokenTemplates.usual(2), kernel="rbf").fit(X, Y)
    assert mm.SequenceLabeler(features=TokenTemplates.usual(1)).fit([["a", "b"]], [["A", "B"]]).predict([["b"]]) == [
        ["B"]
    ]


def test_usual_templates_take_the_names_of_columns():
    named = TokenTemplates.usual(3, ["form", "pos", "lemma"])
    assert named.columns == ["form", "pos", "lemma"]
    here, there = (
        [len(token) for token in each.attributes([("Ada", "N", "a"), ("x", "V", "b")])]
        for each in (named, TokenTemplates.usual(3))
    )
    assert here == there
    assert "form[-1] | form" in named.features
