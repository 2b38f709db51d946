"""Which tests one worker of pytest-xdist runs together, so that what they share is made and compiled once."""

from xdist.scheduler import LoadScopeScheduling

SOURCE = ("tests/test_imports.py", "tests/test_docstrings.py", "tests/test_vocabulary.py")  # they share syntax trees


class FolderScheduling(LoadScopeScheduling):
    """Keep the tests of a structure together, those that read the source, and those of a file elsewhere."""

    def _split_scope(self, nodeid):
        path = nodeid.split("::")[0]
        folders = path.split("/")
        if path in SOURCE:
            return "source"
        return folders[2] if folders[1] == "structures" else path
