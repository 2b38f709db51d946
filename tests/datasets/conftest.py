import os

import pytest


@pytest.fixture(autouse=True)
def _data_or_skip(request):
    if request.node.get_closest_marker("data") and "MAXMARGIN_DATA" not in os.environ:
        pytest.skip("MAXMARGIN_DATA is not set")


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in the place of the data."""
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    return tmp_path
