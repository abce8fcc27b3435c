"""Rows of the Interactions reference, read against it: errors in any dress, statuses that cannot be taken back."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_streams import CREATED, DONE, Told, codes, completed, function_step, read, updated

GO = function_step(0, '{"a":1}')
ERROR = {"code": "c", "message": "boom"}


@pytest.mark.parametrize(
    "error",
    [
        ("server_error", ERROR),
        ("x", {"error": ERROR}),
        ("interaction.status_update", {"status": "requires_action", "error": ERROR}),
    ],
)
def test_an_error_is_heard_in_any_dress(error: Told) -> None:
    response = read(CREATED, *GO, error, completed(), DONE)
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "c", ())


@pytest.mark.parametrize("beside", [{"error": ERROR}, {"errors": [ERROR]}])
@pytest.mark.parametrize("status", ["requires_action", "completed"])
def test_a_good_status_beside_an_error(status: str, beside: dict[str, Any]) -> None:
    response = read(CREATED, *GO, completed(status, **beside), DONE)
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "c", ())
    assert codes(response) == ["status_differs"]


@pytest.mark.parametrize("word", ["incomplete", "failed", "cancelled", "budget_exceeded", "new_word"])
@pytest.mark.parametrize("between", [[updated("in_progress")], function_step(1, "{}", call_id="f2")])
def test_nothing_between_heals_a_bad_status(word: str, between: list[Told]) -> None:
    response = read(CREATED, *GO, updated(word), *between, completed(), DONE)
    assert response.error is not None
    assert (response.error.code, response.released) == ("reason_changed", ())


@pytest.mark.parametrize("word", ["idle", "requires_continuation"])
def test_a_pause_may_go_on(word: str) -> None:
    response = read(CREATED, updated(word), updated("in_progress"), *GO, completed(), DONE)
    assert (response.status, len(response.released)) == ("completed", 1)
