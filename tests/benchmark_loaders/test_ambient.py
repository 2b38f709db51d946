import lzma

import pytest

from benchmarks.loaders import DataNotFound, SearchResult, load_ambient

FILES = {
    "topics.txt": "ID\tdescription\n1\tAida\n2\tJaguar\n",
    "subTopics.txt": "ID\tdescription\n1.1\tan opera\n1.2\ta name\n2.1\ta cat\n",
    "STRel.txt": "subTopicID\tresultID\n1.1\t1.2\n1.2\t1.2\n2.1\t2.1\n",
    "results.txt.xz": (
        "ID\turl\ttitle\tsnippet\n1.1\tu1\tFirst\tone\u2028line\n1.2\tu2\tAída\t\n2.1\tu3\tCats\tbig cats\r\n"
    ),
}


@pytest.fixture
def files(folder):
    (folder / "ambient").mkdir()
    for name, text in FILES.items():
        content = text.encode("utf-8")
        (folder / "ambient" / name).write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
    return folder / "ambient"


def test_results_and_their_subtopics(files):
    first, second = load_ambient()
    assert (first.query, second.query) == ("Aida", "Jaguar")
    assert first.results == [SearchResult("u1", "First", "one\u2028line"), SearchResult("u2", "Aída", "")]
    assert first.subtopics == [set(), {"an opera", "a name"}]
    assert second.results == [SearchResult("u3", "Cats", "big cats")]
    assert second.subtopics == [{"a cat"}]


def test_results_out_of_order(files):
    text = FILES["results.txt.xz"].replace("1.2\tu2", "1.3\tu2")
    (files / "results.txt.xz").write_bytes(lzma.compress(text.encode("utf-8")))
    with pytest.raises(ValueError, match=r"result 1.3 follows result 1.1; expected them in order"):
        load_ambient()


def test_missing_file(files):
    (files / "STRel.txt").unlink()
    with pytest.raises(DataNotFound, match=r"'ambient' is incomplete because its folder has no file 'STRel.txt'"):
        load_ambient()


@pytest.mark.data
def test_ambient_has_its_published_counts():
    queries = load_ambient()
    assert [len(each.results) for each in queries] == [100] * 44
    sizes = [len(own) for each in queries for own in each.subtopics]
    assert [sizes.count(k) for k in range(4)] == [2176, 2193, 29, 2]
    covered = [len(set().union(*each.subtopics)) for each in queries]
    assert (min(covered), max(covered), sum(covered)) == (3, 15, 349)
    assert sum(not result.snippet for each in queries for result in each.results) == 60
