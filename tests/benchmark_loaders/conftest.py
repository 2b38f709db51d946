import pytest


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in the place of the data."""
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    return tmp_path
