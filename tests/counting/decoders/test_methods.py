import pytest

from maxmargin.counting.decoders.methods import check_method, tries_all


def test_unknown_and_impossible_searches_are_refused():
    for method in ("auto", "local", "milp"):
        check_method(method, 1000)
    check_method("exact", 20)
    with pytest.raises(ValueError, match=r"method must be one of 'auto', 'exact', 'local', 'milp', got None"):
        check_method(None, 4)
    with pytest.raises(
        ValueError, match=r"all subsets of 21 items, which is possible up to 20; expected method='milp'"
    ):
        check_method("exact", 21)


def test_small_problems_are_searched_exactly():
    assert [tries_all("auto", n) for n in (15, 16)] == [True, False]
    assert tries_all("exact", 16)
    assert not tries_all("local", 3)
    assert not tries_all("milp", 3)
