"""Puts the clients and events of trigate.compat.httpx2 in the place of httpx2's own, for the peer's own tests."""

from __future__ import annotations

import httpx2

from trigate.compat import httpx2 as face

for name in face.__all__:
    setattr(httpx2, name, getattr(face, name))
