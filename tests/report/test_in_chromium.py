"""Pages in a browser, on a phone and on a desk: nothing is loaded, nothing is complained of, nothing sticks out."""

import warnings

import numpy as np
import pytest
from base.files.fitted_models import MAKERS, trained_on
from report import chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium.Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    def saved(name):
        model, X, Y, given = trained_on(name)
        path = folder / f"{name}.html"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.report(X, confused(Y), **given).save(path)
        return path

    return saved


def confused(Y):
    """The truths in another order where that makes sense, so that there are mistakes to show."""
    simple = isinstance(Y[0], str | int | list | np.ndarray | np.generic)
    return Y[::-1] if simple and len({np.size(y) for y in Y}) == 1 else Y


@pytest.mark.parametrize("name", MAKERS)
def test_pages_fit_phones_and_desks(browser, saved, name):
    path = saved(name)
    for width, dark in ((390, False), (390, True), (1280, False)):
        browser.open(path, width, dark=dark)
        assert browser.requests == [path.resolve().as_uri()]
        assert browser.complaints == []
        assert browser.ask("[innerWidth, document.documentElement.scrollWidth]") == [width, width]
        assert browser.ask("document.querySelectorAll('h2').length") >= 6
        assert browser.ask("getComputedStyle(document.documentElement).backgroundColor") == (
            "rgb(21, 23, 27)" if dark else "rgb(255, 255, 255)"
        )
    # Letters can be read: nothing on a phone is smaller than 9 pixels.
    scale = "12 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width"
    sizes = f"[...document.querySelectorAll('svg.chart')].map(chart => {scale})"
    browser.open(path, 390)
    assert all(size >= 9 for size in browser.ask(sizes))


def test_tables_can_be_searched(browser, saved):
    browser.open(saved("sequences_tokens"), 1280)
    shown = "[...document.querySelectorAll('.searchable tbody tr')].filter(r => !r.hidden).length"
    everything = browser.ask(shown)
    search = (
        "(words => { const box = document.querySelector('.searchable input'); box.value = words;"
        "box.dispatchEvent(new Event('input')); })"
    )
    assert browser.ask("document.querySelector('.searchable input').hidden") is False
    browser.ask(f"{search}('word LOC')")
    assert 0 < browser.ask(shown) < everything
    browser.ask(f"{search}('no such thing')")
    assert browser.ask(shown) == 0
    browser.ask(f"{search}('')")
    assert browser.ask(shown) == everything


def test_no_other_script_runs(browser, saved):
    """Even if markup came through, the policy of the page would stop it."""
    page = saved("classes").read_text(encoding="utf-8")
    evil = saved("classes").with_name("evil.html")
    inserted = "<script>window.ran = true</script><img src='data:image/png;base64,AAAA' onerror='window.ran = true'>"
    evil.write_text(page.replace("<main>", f"<main>{inserted}"), encoding="utf-8")
    browser.open(evil, 1280)
    assert browser.ask("window.ran") is None
    assert browser.complaints  # which say why


def test_printed_pages_are_light_and_whole(browser, saved):
    browser.open(saved("sequences_tokens"), 794, dark=True, media="print")
    assert browser.ask("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert browser.ask("document.documentElement.scrollWidth") <= 794
