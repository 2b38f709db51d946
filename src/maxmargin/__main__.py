"""`python -m maxmargin` is the command `maxmargin`."""

import sys

from maxmargin.command.main import main

sys.exit(main())
