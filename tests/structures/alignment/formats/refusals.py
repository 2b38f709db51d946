"""What the readers of all formats have in common: a malformed file is refused with its name and the line."""

import re

import pytest


def assert_refused(read, path, text, message):
    """A file with this text is refused; the message begins with its name and goes on with a pattern."""
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(path.name)}, {message}"):
        read(path)
