"""Settings of all tests, and the folder itself on the path: tests share twins, strategies and example tasks."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("maxmargin", deadline=None, max_examples=40, print_blob=True)
settings.load_profile("maxmargin")
