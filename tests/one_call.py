"""One call and what may become of it: the streams and checks that the tests of the decisions share."""

from __future__ import annotations

from typing import Any

import trigate
from streams import PROTOCOL, Script, bytewise, codes, function_item

CALL = '{"a":1}'
RELEASED = [("call_1", "released", None)]


def good() -> Script:
    return Script().created().call(CALL)


def started(**members: Any) -> Script:
    """A call that has begun and got no text yet."""
    return Script().created().added(0, function_item("", status="in_progress", **members))


def parse(script: Script, **options: Any) -> trigate.Response:
    whole = script.parse(**options)
    assert trigate.parse(bytewise(script.data()), PROTOCOL, **options) == whole
    return whole


def conflict(response: trigate.Response) -> str | int:
    assert response.status == "conflict"
    assert response.released == ()
    assert response.error is not None
    assert response.error.layer == "structure"
    assert response.error.offset is not None
    assert response.error.code in codes(response)
    return response.error.code
