"""`python -m trigate`: the command line, also where no script was installed."""

from __future__ import annotations

import sys

from trigate.cli import main

if __name__ == "__main__":
    sys.exit(main())
