"""What every page must be: whole, closed, and alone."""

import re
from html.parser import HTMLParser

VOID = {"br", "hr", "input", "meta"}
LOADS = re.compile(r"https?:|\bsrc\s*=|url\s*\(|@import|<link|<base|<object|<embed|<img", re.IGNORECASE)


class Tags(HTMLParser):
    """Reads a page and says where its tags do not close."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.headings, self.attributes, self.tags = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> does not close what was opened last"

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(text)
        if self.open and self.open[-1] == "h2":
            self.headings.append(text)


def checked(html):
    """The tags of a page that is as it should be."""
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    assert tags.tags.count("script") == 1
    assert html.startswith("<!DOCTYPE html>\n<html")
    assert not LOADS.search(html)
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in tags.attributes if name == "href")
    targets = {value for name, value in tags.attributes if name == "id"}
    assert {value[1:] for name, value in tags.attributes if name == "href"} <= targets
    html.encode("utf-8")
    return tags
