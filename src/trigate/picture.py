"""The Response of a turn as it is at this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trigate.calls import snapshot
from trigate.response import Response

if TYPE_CHECKING:
    from trigate.turn import Turn

__all__ = ["picture"]


def picture(turn: Turn, clean_end: bool) -> Response:
    """What no later event changes. clean_end: whether the input ended at the border of an event, behind the end."""
    calls, notes, numbering = turn.calls, turn._notes, turn.numbering
    if len(calls) > 1:
        calls = sorted(calls, key=lambda call: (turn._twins.choice_of(call), call._index))
    texts, reasoning, refusal = turn._texts.told()
    # Fifteen members are the most that CPython passes without making a dict of them: the rare ones come behind.
    made = Response(
        status=turn._status,
        protocol=turn.protocol,
        reason=turn.reason,
        calls=tuple([snapshot(call) for call in calls]) if calls else (),
        texts=texts,
        reasoning=reasoning,
        usage=turn.usage,
        id=turn.id,
        model=turn.model,
        error=turn._error,
        anomalies=notes.anomalies,
        decisions=notes.decisions,
        clean_end=clean_end,
        echo=turn.echo,
        sequence_number=turn.lanes.sequence if numbering.is_own_whole else None,
    )
    last_id = numbering.last_id
    if refusal or last_id is not None or turn._server_calls is not None:
        server_calls = tuple(turn._server_calls or ())
        made = replace(made, refusal=refusal, server_calls=server_calls, last_event_id=last_id)
    return made
