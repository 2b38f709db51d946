"""Which tests one worker of pytest-xdist runs together, so that what they share is made and compiled once."""

from xdist.scheduler import LoadScopeScheduling

SOURCE = ("tests/test_imports.py", "tests/test_docstrings.py", "tests/test_vocabulary.py")  # they share syntax trees
ALONE = ("tests/training/checkpoints/test_every_model.py",)  # long tests that share nothing


class FolderScheduling(LoadScopeScheduling):
    """Keep the tests of a structure together, those that read the source, and those of a file elsewhere.

    Scopes with many tests come first, so that long single tests at the end keep both workers busy.
    """

    def _split_scope(self, nodeid):
        path = nodeid.split("::")[0]
        folders = path.split("/")
        if path in SOURCE:
            return "source"
        if path in ALONE:
            return nodeid
        return folders[2] if folders[1] == "structures" else path
