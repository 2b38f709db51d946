"""`python -m maxmargin` is the command `maxmargin`."""

import sys

from maxmargin.command.main import main

if __name__ == "__main__":
    sys.exit(main())
