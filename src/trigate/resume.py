"""Where a response that came half can go on: what the next request has to say.

Rules
 - A point is the last event that was taken as a whole. What came of the next one is not counted.
 - Where the wire numbers nothing, there is no point: the request must be made again, as another response.
"""

from __future__ import annotations

import msgspec

from trigate.errors import StructureError
from trigate.response import Response

__all__ = ["ResumePoint", "resume_point"]

_NUMBERED = "openai-responses"
_BY_PARAMETER = "gemini-interactions"


class ResumePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The last event taken of a response that came half.

    protocol, response_id   whose; the id is part of the next request's address where the provider has such
    sequence_number         the last number taken, or None
    last_event_id           the last id taken, or None
    """

    protocol: str
    response_id: str | None
    sequence_number: int | None
    last_event_id: str | None

    @property
    def params(self) -> dict[str, str]:
        """What the query of the next GET has to hold; empty where the point goes in a header."""
        if self.protocol == _NUMBERED and self.sequence_number is not None:
            return {"stream": "true", "starting_after": str(self.sequence_number)}
        if self.protocol == _BY_PARAMETER and self.last_event_id is not None:
            return {"stream": "true", "last_event_id": self.last_event_id}
        return {}

    @property
    def headers(self) -> dict[str, str]:
        """`Last-Event-ID`, as the SSE standard and MCP want it; empty where the point goes in the query."""
        if self.params or self.last_event_id is None:
            return {}
        return {"Last-Event-ID": self.last_event_id}


def resume_point(response: Response) -> ResumePoint:
    """Where to go on with a response that is truncated, cancelled, or still in progress.

    Give the next connection's bytes to the same parser, after ResponseParser.resume(). StructureError (not_resumable):
    not every event had a number or an id, or none came. ValueError: the response is over.
    """
    if response.status in ("completed", "incomplete", "conflict") or _is_refused(response):
        raise ValueError(f"the response is {response.status}: there is nothing to resume")
    if response.sequence_number is None and response.last_event_id is None:
        raise StructureError(
            f"{response.protocol} sent no event with a number or an id to go on from: make the request again",
            code="not_resumable",
        )
    return ResumePoint(
        protocol=response.protocol,
        response_id=response.id,
        sequence_number=response.sequence_number,
        last_event_id=response.last_event_id,
    )


def _is_refused(response: Response) -> bool:
    """Whether it failed by what came over the wire, and not by an attempt to go on with it."""
    return response.status == "failed" and (response.error is None or response.error.http_status is None)
