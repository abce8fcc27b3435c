"""Rows of the Ollama reference, read against it: ids that are made up."""

from __future__ import annotations

from ollama_streams import call, done, lines, parse, record


def made_up(created_at: str) -> list[str | None]:
    first = record("Hi") | {"created_at": created_at}
    response = parse(lines(first, record("", call(), call("b")), done()), ids="generate")
    return [each.call_id for each in response.released]


def test_made_up_ids_are_stable_and_those_of_one_response() -> None:
    one, other = (made_up(f"2026-01-01T00:00:0{second}Z") for second in (1, 2))
    assert one == made_up("2026-01-01T00:00:01Z")
    assert len({*one, *other}) == 4
