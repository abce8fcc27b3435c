"""ResponseParser: one stream's bytes in, items out, at last one Response.

Rules
 - It never raises for what came over the wire: a fault is recorded with its offset, ends the response, and stays.
 - The result depends on the bytes alone, not on how they are cut into chunks.
 - One thread at a time: a second one is refused, for its chunk would land at a place nobody chose.
 - A response may come over several connections (`resume`): what is half received on one is dropped with it, and what
   the next one repeats is not taken again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NoReturn

from msgspec.structs import replace

from trigate._core import Intake, ServerSentEvent, SSEDecoder
from trigate.errors import StructureError, TransportError, TrigateError
from trigate.framing import (
    BodyGatherer,
    Frame,
    Framer,
    Framing,
    Head,
    MovedFrame,
    begins_like_events,
    choose_framing,
    make_framer,
    moved,
)
from trigate.items import Item, ResponseEnded
from trigate.leftover import Leftover
from trigate.limits import DEFAULTS, Limits
from trigate.protocols import interpreter
from trigate.protocols.wire import error_info, is_error
from trigate.reopen import Reopening
from trigate.response import ErrorInfo, Response
from trigate.strays import Strays
from trigate.turn import Options, Turn
from trigate.validate import check_leniencies

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["ResponseParser"]

# So much of the beginning is kept, to say what an input was of which no event came.
_FIRST = 200
_GZIP = b"\x1f\x8b"
_NO_WORDS: frozenset[str] = frozenset()


class ResponseParser(Intake):
    """Turns the bytes of one model response into items and a Response.

    protocol    a name (see trigate.PROTOCOLS), or "auto" to decide from the first event
    release_on  "response": calls are released when the response is completed. "call": when their own item is
                closed, for callers who start early and own the consequences
    deltas      False: no items for pieces of text and arguments
    limits      bounds of memory
    lenient     words from trigate.LENIENCIES, each allowing one deviation
    strict      unknown event and item types fail the response
    ids         "generate": calls without an id get a stable one ("tg_" and a hash)
    """

    # Without a dictionary a parser weighs half as much.
    __slots__ = (
        "__weakref__",
        "_base",
        "_final",
        "_first",
        "_framer",
        "_framings",
        "_head",
        "_interpreter",
        "_lenient",
        "_reopening",
        "_turn",
    )

    def __init__(
        self,
        protocol: str,
        *,
        release_on: Literal["response", "call"] = "response",
        deltas: bool = True,
        limits: Limits | None = None,
        lenient: Iterable[str] = (),
        strict: bool = False,
        ids: Literal["wire", "generate"] = "wire",
    ) -> None:
        if release_on not in ("response", "call"):
            raise ValueError(f"release_on must be 'response' or 'call', not {release_on!r}")
        if ids not in ("wire", "generate"):
            raise ValueError(f"ids must be 'wire' or 'generate', not {ids!r}")
        if limits is None:
            limits = DEFAULTS
        elif not isinstance(limits, Limits):
            raise TypeError(f"limits must be a trigate.Limits, not {type(limits).__name__}")
        reader = interpreter(protocol)
        words = _NO_WORDS if lenient == () else check_leniencies(lenient)
        options = Options(release_on, deltas, limits, words, strict, ids)
        turn = self._turn = Turn(reader.name, options, requires_call_id=reader.requires_call_id)
        self._interpreter = reader(turn)
        self._lenient = words
        self._framings = reader.framings
        self._final: Response | None = None
        self._reopening: Reopening | None = None  # takes an end back that was only that of a connection
        self._base = 0  # where this connection began
        self._connect()
        turn.lanes.shapes = reader.shapes
        self._begin(turn.lanes)

    def _connect(self) -> None:
        """What follows is the first byte of a connection."""
        self._first = b""  # kept until an event comes
        self._head: Head | None = None  # of a beginning that does not tell its framing at once
        self._framer: Framer | None = None  # until the framing is known

    def _feed_slowly(self, chunk: Buffer) -> list[Item]:
        """A chunk of the beginning, or one that nothing may follow any more."""
        self._check()
        if self._final is not None:
            raise RuntimeError("feed() after finish(): make a new ResponseParser for another response")
        if isinstance(chunk, str):
            raise TypeError("feed() takes bytes, not str: the parser decodes UTF-8 itself")
        view = memoryview(chunk).cast("B")
        self._fed += view.nbytes
        framer = self._framer
        try:
            if framer is None:
                self._take_head(view)
            elif framer.error is None and not self._turn.is_faulted:
                self._take_frames(view)
        except BaseException as error:
            # What follows in the chunk is lost: without it a later piece could make a shorter, valid text.
            self._spoilt = error
            raise
        if self._has_frames:
            self._first = b""
        elif len(self._first) < _FIRST:
            self._first += view[: _FIRST - len(self._first)]
        return self._turn.lanes.take()

    def _take_head(self, view: memoryview) -> None:
        """Bytes of the beginning; if they tell its framing, they are the first to be read by it."""
        head = self._head
        framing = choose_framing(bytes(view[:1]), self._framings) if head is None else None
        if framing is not None:
            self._start(framing, view)
            return
        if head is None:
            head = self._head = Head(self._framings, self._turn.options.limits.max_event_bytes)
        framing = head.take(view)
        if framing is not None:
            self._start(framing, head.held)

    def _start(self, framing: Framing, head: memoryview | bytearray) -> None:
        """From here on the framing is known. head: what came so far."""
        self._head = None
        errors: Literal["replace", "strict"] = "replace" if "utf8" in self._lenient else "strict"
        framer = self._framer = make_framer(framing, self._turn.options.limits, errors=errors)
        if not isinstance(framer, BodyGatherer):
            self._flow_from(framer)
        if head:
            self._take_frames(head)

    def _take_frames(self, chunk: Buffer) -> None:
        if isinstance(self._framer, BodyGatherer):
            self._framer.feed(chunk)
            if self._framer.error is not None:
                self._fail(self._framer.error)
        else:
            self._flow(chunk)

    def _take_stray(self, chunk: Buffer, start: int) -> bool:
        """A chunk of text outside of events, which began at this offset; False if the next one is not wanted."""
        strays = self._turn.strays
        if strays is None or self._turn.is_faulted:
            return False
        strays.feed(chunk, self._fed - memoryview(chunk).nbytes, start)
        return strays.state == "open"

    def _read(self, frame: Frame) -> bool:
        """Reads one event; False if it broke the response."""
        if self._base:
            frame = MovedFrame(frame, self._base)
        turn = self._turn
        try:
            if not (turn.numbering.watches_ids and self._is_repeated(frame)):
                self._interpreter.event(frame)
        except TrigateError as error:
            turn.fault(error)
        return not turn.is_faulted

    def _is_repeated(self, frame: Frame) -> bool:
        """Whether the frame's id was taken on an earlier connection."""
        turn = self._turn
        if turn.numbering.is_taken(frame):
            turn.anomaly(
                "repeated_event", frame.start, f"event id {turn.numbering.last_id!r} was taken before"
            )
            return True
        if turn.numbering.watches_ids and turn.numbering.last_id is not None and not turn.is_ended:
            turn.lanes.touch()  # an event that is taken unread would not tell its id
        return False

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, TrigateError):
            raise error
        error.offset = moved(error.offset, self._base)
        self._turn.fault(error)

    def finish(self) -> Response:
        """Declares the end of input; returns the Response. Idempotent."""
        self._enter()
        try:
            if self._final is None:
                self._check()
                self._stop_flowing()
                reopening = None if self._turn.is_ended else Reopening(self._turn)
                self._final = self._finish()
                if self._final.status == "truncated" and not self._turn.lanes.is_closed:
                    self._reopening = reopening
            return self._final
        finally:
            self._leave()

    def stop(self, status: Literal["cancelled", "truncated", "failed"], error: ErrorInfo) -> Response:
        """Ends the response for a reason that its bytes do not tell; returns the Response.

        The connection broke, time was over, HTTP said no, or nobody wants the rest: `error` says which. Nothing of it
        is completed by this: protocols whose end is the end of the input had none. A response that had ended before
        stays what it was. Idempotent, also after finish().
        """
        self._enter()
        try:
            if self._final is None:
                self._stop_flowing()
                reopening = None if self._turn.is_ended else Reopening(self._turn)
                self._final = self._stop(status, error)
                if not self._turn.lanes.is_closed:
                    self._reopening = reopening
            return self._final
        finally:
            self._leave()

    def resume(self) -> None:
        """What is fed from now on comes over a new connection, which goes on or repeats: see trigate.resume_point.

        What the old one left unfinished is dropped. Events that were taken are not taken again (`repeated_event`);
        byte offsets go on counting. May follow finish() and stop(): the calls that these voided go on.

        StructureError (not_resumable): events were taken that nothing tells from repeated ones. ValueError: the
        response has ended by its own word, or failed.
        """
        self._enter()
        try:
            self._check()
            self._resume()
        finally:
            self._leave()

    def _resume(self) -> None:
        turn = self._turn
        if turn.is_faulted or (turn.is_ended and self._reopening is None):
            raise ValueError(f"the response is {turn.status}: there is nothing to resume")
        numbering = turn.numbering
        has_own = turn.lanes.sequence is not None or numbering.event_id is not None
        if self._has_frames and not numbering.resume(has_own):
            raise StructureError(
                f"{turn.protocol} sent events without numbers or ids: nothing tells a repeated one from a new one",
                code="not_resumable",
                offset=self._fed,
            )
        if self._reopening is not None:
            self._reopening.take_back()
        if turn.strays is not None and turn.strays.state == "open":
            turn.strays = Strays(turn.options.limits.max_event_bytes)
        self._reopening = self._final = None
        self._stop_flowing()
        self._connect()
        self._base = self._turn.lanes.base = self._fed
        turn.anomaly("resumed", self._fed, "a new connection begins here")

    def _check(self) -> None:
        if self._spoilt is not None:
            raise RuntimeError(
                "an earlier feed() was interrupted by an exception: make a new ResponseParser"
            ) from self._spoilt

    def _rest(self) -> list[Item]:
        """The items that finish() made, for those who read items and not the Response."""
        return self._turn.lanes.take()

    def _ending(self, final: Response) -> ResponseEnded:
        """The last item, for those who tell the end when the input is over."""
        return self._turn.lanes.ending(final)

    def _finish(self) -> Response:
        turn = self._turn
        if self._framer is None:
            head = self._head or Head(self._framings, turn.options.limits.max_event_bytes)
            self._start(head.at_end(), head.held)
        assert self._framer is not None
        if isinstance(self._framer, BodyGatherer):
            turn.lanes.place(0, self._fed)
            if not turn.is_ended:
                self._finish_body(bytes(self._framer.body))
            return turn.response()
        if self._framer.error is not None or turn.is_faulted:
            return turn.response()
        left = self._left()
        turn.lanes.place(left.start, self._fed)
        is_whole = not left
        if left and not turn.is_ended and self._take_leftover(left):
            left = Leftover()
        if not turn.is_ended:
            self._interpreter.finish(left)
        if turn.is_ended:
            return turn.response(clean_end=is_whole and not turn.is_faulted)
        is_sse = isinstance(self._framer, SSEDecoder)
        if self._has_frames or not is_sse or begins_like_events(self._first):
            turn.end("truncated", None, error=self._truncated(left), offset=self._fed, is_final=False)
        else:
            self._refuse(f"{self._fed} bytes without an event: {_shown(self._first)}")
        return turn.response()

    def _left(self) -> Leftover:
        """What the connection left unfinished."""
        if self._framer is None or self._framer.error is not None or self._spoilt is not None:
            return Leftover()
        left = self._framer.finish()
        return replace(left, start=left.start + self._base) if self._base else left

    def _stop(self, status: Literal["cancelled", "truncated", "failed"], error: ErrorInfo) -> Response:
        turn = self._turn
        if turn.is_ended:
            if status == "truncated" and not turn.is_faulted:
                turn.anomaly("fault_after_end", self._fed, f"{error.code}: {error.message}")
            return turn.response()
        left = self._left()
        if status != "truncated" or not left or not self._take_leftover(left):
            # The input was not at its end: to a protocol this is an event that lacks all but its begin.
            self._interpreter.finish(Leftover("event", b"", "{", start=self._fed))
        if status != "failed":
            error = replace(error, offset=self._fed)
        turn.end(status, None, error=error, offset=self._fed, is_final=False)
        return turn.response()

    def _take_leftover(self, left: Leftover) -> bool:
        """The last event without its end. An error in it is told; the rest of it only if the caller is lenient."""
        if left.data is None or left.where == "character":
            return False
        try:
            value = json.loads(left.data)
        except (ValueError, RecursionError):
            if left.data.strip() != "[DONE]":
                return False
            value = None
        frame = ServerSentEvent(left.event, left.data)
        if "unterminated_last_event" in self._lenient:
            self._turn.anomaly("unterminated_last_event", left.start, "the last event has no end")
            self._read(frame)
            return True
        if isinstance(value, dict) and is_error(value):
            info = error_info(value, left.start)
            self._turn.end("failed", None, error=info, offset=left.start)
            return True
        return False

    def _truncated(self, left: Leftover) -> ErrorInfo:
        place, words = _place(left, self._turn)
        if not self._fed:
            words = "(it is empty: look at the HTTP status)"
        message = f"the input ended at byte {self._fed} {words}; no terminal event came"
        return ErrorInfo("transport", "truncated", f"truncated_{place}", message, self._fed)

    def _finish_body(self, body: bytes) -> None:
        text = body.decode("utf-8", "replace")
        shown = _shown(body)
        try:
            value = json.loads(text.lstrip("\ufeff"))
        except (ValueError, RecursionError):
            if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
                message = (
                    f"the input ended at byte {self._fed} inside a JSON body that is no event stream: {shown}"
                )
                error = ErrorInfo("transport", "truncated", "truncated_in_body", message, self._fed)
                self._turn.end("truncated", None, error=error, is_final=False)
                return
            value = None
        if isinstance(value, dict) and is_error(value):
            info = error_info(value, 0)
            self._turn.end("failed", None, error=info)
            return
        if body.startswith(_GZIP):
            self._refuse("compressed bytes: decompress the body first")
        else:
            self._refuse(f"{'a JSON body' if value is not None else 'text'}: {shown}")

    def _refuse(self, found: str) -> None:
        self._turn.fault(
            TransportError(f"expected an event stream, found {found}", code="not_a_stream", offset=0)
        )

    @property
    def _is_over(self) -> bool:
        """Whether finish() or stop() has been called."""
        return self._final is not None

    @property
    def _is_broken(self) -> bool:
        """Whether a fault has ended the response: nothing more is taken."""
        return self._turn.is_faulted

    @property
    def _progress(self) -> tuple[object, ...]:
        """Changes whenever an event says something new: not by comments, pings and pieces without text."""
        turn = self._turn
        decisions = turn._notes.count - turn.anomaly_count
        return turn.lanes.kept, decisions, turn.usage, turn.id, turn.is_ended

    @property
    def response(self) -> Response:
        """The response so far; after finish(), the final one."""
        return self._final if self._final is not None else self._turn.response()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ResponseParser cannot be copied or pickled: two of them would share one stream's state"
        )

    def __repr__(self) -> str:
        return f"<ResponseParser {self._turn.protocol} {self._turn.status}, {self._fed} bytes>"


def _shown(body: bytes) -> str:
    """The beginning of a body, on one line."""
    return " ".join(body[:800].decode("utf-8", "replace").split())[:200]


def _place(left: Leftover, turn: Turn) -> tuple[str, str]:
    """Inside what the input ended: the innermost place first, the open call beside it."""
    open_calls = [call for call in turn.calls if call.state == "streaming"]
    inside = ""
    if open_calls:
        call = open_calls[-1]
        inside = f" inside the arguments of {call.name or 'a call'} ({call.call_id})"
    if left.where is not None:
        return (
            f"in_{left.where}",
            f"inside {'an' if left.where == 'event' else 'a'} {left.where}{inside and ',' + inside}",
        )
    if open_calls:
        return "in_arguments", inside.strip()
    return "before_terminal", "between two events"
