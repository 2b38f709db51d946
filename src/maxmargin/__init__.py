"""maxmargin: large-margin learning for structured outputs, with a proof of how close to optimal each model is.

Every public name is listed in `__init__.pyi`, which editors read, and is imported when it is first used.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
