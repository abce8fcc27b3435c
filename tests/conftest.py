"""One rule for all property tests: the same examples at every run, unless TRIGATE_EXPLORE=1 asks for new ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("settled", derandomize=True, database=None)
settings.register_profile("explore")
settings.load_profile("explore" if os.environ.get("TRIGATE_EXPLORE") == "1" else "settled")
