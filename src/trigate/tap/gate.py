"""CallGate: text flows, and a call's bytes go out when the call is whole and somebody has said yes. Else never.

Rules
 - Events go out whole, in order and unchanged. From the first byte of an event that opens a call everything waits
   until no call before it is open or undecided: nothing overtakes.
 - A call that is refused, cut, void or contradicted ends the stream: what waits is dropped, the protocol's own
   error goes out in its place, and everything that follows is swallowed.
 - Doubt is a no: an `allow` that raises, or gives anything but True, refuses.
"""

from __future__ import annotations

import inspect
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from trigate._core import JSONArrayDecoder
from trigate.calls import ReleasedCall, ToolCall, snapshot, voided
from trigate.framing import Framing, framing_of
from trigate.limits import Limits
from trigate.protocols import interpreter
from trigate.protocols.refusals import Refusal, refusal_frame
from trigate.response import ErrorInfo, Response
from trigate.tap.meter import Tap, cause_of
from trigate.tap.report import TapReport
from trigate.tap.watch import CALL_WORDS, Mark, Place, Watch

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Answer", "CallGate", "GateDecision"]

#: What `allow` gives: True lets the call pass. A text refuses it and says why; False refuses.
Answer: TypeAlias = bool | str
Allow: TypeAlias = Callable[[ToolCall], Answer | Awaitable[Answer]]


class GateDecision(msgspec.Struct, frozen=True):
    """What became of one call. reason: why it may not pass, "" if it may."""

    call: ToolCall
    allowed: bool
    reason: str = ""


class CallGate:
    """Takes a response's bytes, gives those that may go out.

    protocol        a name (see trigate.PROTOCOLS), or "auto"
    allow           asked once for each call that is whole, in stream order: True, or False, or the reason as a text.
                    May be asynchronous; then use afeed and afinish
    until           "call": a call waits until it is whole itself. "response": until the response is completed; then
                    `allow` gets the ReleasedCall
    max_held_bytes  bound of what waits; beyond it the stream ends as refused, with the code held_too_large
    clock, pause, limits, lenient, strict, ids   as Tap has them
    """

    def __init__(
        self,
        protocol: str,
        allow: Allow,
        *,
        until: Literal["call", "response"] = "call",
        max_held_bytes: int = 16 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
        pause: float = 1.0,
        limits: Limits | None = None,
        lenient: Iterable[str] = (),
        strict: bool = False,
        ids: Literal["wire", "generate"] = "wire",
    ) -> None:
        if not callable(allow):
            raise TypeError(f"allow must be a function that is given the call, not {allow!r}")
        if until not in ("call", "response"):
            raise ValueError(f"until must be 'call' or 'response', not {until!r}")
        if max_held_bytes < 0:
            raise ValueError(f"max_held_bytes must not be negative, but is {max_held_bytes}")
        self._watch = Watch(protocol, deltas=False, limits=limits, lenient=lenient, strict=strict, ids=ids)
        self._watch.begin()
        self._tap = Tap._of(self._watch, clock, pause)
        self._allow = allow
        self._until = until
        self._max_held = max_held_bytes
        self._held = bytearray()
        self._sent = 0  # offset in the stream of what is held
        self._last = b""  # of an array, the last byte that went out and is not blank
        self._waiting: dict[int, Place] = {}  # calls that are open or undecided, in stream order
        self._questions: deque[Mark] = deque()
        self._decisions: list[GateDecision] = []
        self._refused: Response | None = None
        self._last_words = b""
        self._is_shut = False
        self._is_finished = False
        self._is_asking = False
        self._cause: str | None = None

    # -- bytes in, bytes out -----------------------------------------------------------------------

    def feed(self, chunk: Buffer) -> bytes:
        """Takes a chunk; returns what may go out now, maybe nothing. RuntimeError after finish()."""
        if self._passes(chunk):
            return bytes(chunk)
        self._ask_all()
        return self._let_out()

    def finish(self, error: BaseException | str | None = None) -> bytes:
        """Declares the end of input; returns the last bytes. Asked again, it returns none.

        error: why the input ended, if it did not end by itself (TapReport.cause).
        """
        if not self._ends(error):
            return b""
        self._ask_all()
        return self._let_out()

    async def afeed(self, chunk: Buffer) -> bytes:
        """As feed, with an `allow` that may be asynchronous."""
        if self._passes(chunk):
            return bytes(chunk)
        await self._aask_all()
        return self._let_out()

    async def afinish(self, error: BaseException | str | None = None) -> bytes:
        """As finish, with an `allow` that may be asynchronous."""
        if not self._ends(error):
            return b""
        await self._aask_all()
        return self._let_out()

    def _check(self) -> None:
        if self._is_asking:
            raise RuntimeError("this gate waits for the answer to an earlier question")

    def _passes(self, chunk: Buffer) -> bool:
        """Reads a chunk; True if it goes out as it is. Else it is held for now."""
        self._check()
        if self._is_finished:
            raise RuntimeError("feed() after finish(): make a new CallGate for another response")
        if self._is_shut:
            return False
        watch = self._watch
        self._tap.feed(chunk)
        if watch._turn.is_faulted:
            watch.settle()
        is_free = not (self._held or self._waiting or watch.marks)
        if is_free and watch._whole == watch._fed and type(watch._framer) is not JSONArrayDecoder:
            self._sent = watch._fed
            return True
        self._held += chunk
        return False

    def _ends(self, error: BaseException | str | None) -> bool:
        self._check()
        if self._is_finished:
            return False
        self._is_finished = True
        if not self._is_shut:
            self._tap.finish(error)
        self._cause = cause_of(error)
        return True

    def _let_out(self) -> bytes:
        """What may go out, after every question is answered."""
        if not self._is_shut:
            out = self._cut_at(self._border())
            if self._is_finished:
                self._held.clear()
            elif len(self._held) > self._max_held:
                self._take_too_much()
            self._last_words = out + self._last_words
        out, self._last_words = self._last_words, b""
        return out

    def _border(self) -> int:
        """Up to where bytes may go out."""
        if self._waiting:
            return next(iter(self._waiting.values())).start
        if self._is_finished and not self._watch._turn.is_faulted:
            return self._sent + len(self._held)
        return self._watch._whole

    def _cut_at(self, border: int) -> bytes:
        """Takes what is held up to this offset of the stream."""
        size = border - self._sent
        if size <= 0:
            return b""
        out = bytes(self._held[:size])
        del self._held[:size]
        self._sent += len(out)
        if type(self._watch._framer) is JSONArrayDecoder:
            self._last = out.rstrip()[-1:] or self._last
        return out

    # -- questions and answers ---------------------------------------------------------------------

    def _ask_all(self) -> None:
        while (mark := self._next_question()) is not None:
            with self._asking(mark) as answers:
                answers.append(self._allow(_call_of(mark)))
            if inspect.isawaitable(answers[-1]):
                if inspect.iscoroutine(answers[-1]):
                    answers[-1].close()
                self._answer(mark, "the question was asked in the wrong way")
                raise TypeError("allow is asynchronous: use afeed() and afinish()")
            self._answer(mark, answers[-1])

    async def _aask_all(self) -> None:
        while (mark := self._next_question()) is not None:
            with self._asking(mark) as answers:
                answer = self._allow(_call_of(mark))
                answers.append(await answer if inspect.isawaitable(answer) else answer)
            self._answer(mark, answers[-1])

    @contextmanager
    def _asking(self, mark: Mark) -> Iterator[list[Any]]:
        """Takes the answer; a question that fails is answered, and one that is interrupted as well: no."""
        answers: list[Any] = []
        self._is_asking = True
        try:
            yield answers
        except Exception as error:
            answers.append(f"the question failed with {type(error).__name__}")
        except BaseException:
            self._answer(mark, "the question was interrupted")
            raise
        finally:
            self._is_asking = False

    def _answer(self, mark: Mark, answer: object) -> None:
        call = _call_of(mark)
        self._questions.popleft()
        if answer is True:
            self._decisions.append(GateDecision(call, True))
            if self._until == "call":
                self._waiting.pop(mark.position)
            elif not self._questions:
                self._waiting.clear()
            return
        reason = answer if isinstance(answer, str) and answer else "it is not allowed"
        self._decide(mark, reason)
        self._shut(
            "call_refused", f"the call of {call.name} may not pass: {reason}", mark.place, is_denied=True
        )

    def _decide(self, mark: Mark, reason: str) -> None:
        """The call will not pass."""
        self._decisions.append(GateDecision(_call_of(mark), False, reason))

    def _next_question(self) -> Mark | None:
        marks = self._watch.marks
        while not self._is_shut:
            if self._questions:
                return self._questions[0]
            if not marks:
                return None
            self._take(marks.popleft())
        return None

    def _take(self, mark: Mark) -> None:
        """How the stream went on."""
        match mark.kind:
            case "opened":
                self._waiting[mark.position] = mark.place
            case "whole":
                if self._until == "call":
                    self._questions.append(mark)
            case "void":
                self._take_void(mark)
            case "failed" if not (self._waiting or mark.names_call):
                pass  # the provider says so itself
            case "failed" | "broken":
                self._take_fault(mark)
            case "ended":
                self._take_end(mark)
            case "late":
                self._last_words = self._cut_at(min(mark.place.start, self._border()))
                self._close()

    def _take_void(self, mark: Mark) -> None:
        call = _call_of(mark)
        problem = call.problem or "void"
        self._decide(mark, problem)
        self._shut("call_void", f"the call of {call.name or 'a tool'} is void: {problem}", mark.place)

    def _take_fault(self, mark: Mark) -> None:
        code, message = (
            ("failed", "") if mark.error is None else (str(mark.error.code), _words_of(mark.error))
        )
        for position in self._waiting:
            call = self._watch._turn.calls[position]
            self._decisions.append(GateDecision(snapshot(call), False, code))
        self._shut(code, message, mark.place)

    def _take_end(self, mark: Mark) -> None:
        """The response ended well, or early: until="response" asks now."""
        calls = self._watch._turn.calls
        for position in self._waiting:
            call = calls[position]
            told = mark._replace(position=position, call=snapshot(call))
            if not isinstance(call, ReleasedCall):
                self._take_void(told)
                return
            self._questions.append(told)

    def _take_too_much(self) -> None:
        if self._watch.is_over and not self._waiting:
            self._close()  # the client knows how it ended: what waits is an event behind the end
            return
        message = f"more than max_held_bytes = {self._max_held} waited for a call"
        self._shut("held_too_large", message, self._here())

    # -- the refusal -------------------------------------------------------------------------------

    def _here(self) -> Place:
        return Place(self._watch._whole, self._watch._turn.lanes.sequence)

    def _shut(self, code: str, message: str, place: Place, *, is_denied: bool = False) -> None:
        """The stream ends here: before the first byte of the first call that waits, or of this place."""
        place = min([place, *self._waiting.values()], key=lambda place: place.start)
        sequence = None if place.sequence is None else place.sequence + 1
        refusal = Refusal(code, message, is_denied, sequence)
        before = self._cut_at(place.start)
        turn = self._watch._turn
        self._last_words = before + refusal_frame(turn.protocol, self._framing(), refusal, self._last)
        self._refused = self._refused_response(refusal, place.start)
        self._close()

    def _close(self) -> None:
        self._is_shut = True
        self._held.clear()
        self._waiting.clear()
        self._questions.clear()

    def _refused_response(self, refusal: Refusal, offset: int) -> Response:
        response = self._watch.response
        denied = {decision.call._position for decision in self._decisions if not decision.allowed}
        calls = tuple([_unreleased(call, call._position in denied) for call in response.calls])
        error = ErrorInfo("provider", refusal.type, refusal.code, refusal.text, offset)
        return replace(response, status="failed", calls=calls, error=error, clean_end=False)

    def _framing(self) -> Framing:
        framer = self._watch._framer
        known = None if framer is None else framing_of(framer)
        return known or interpreter(self._watch._turn.protocol).framings[0]

    # -- what became of it -------------------------------------------------------------------------

    @property
    def is_shut(self) -> bool:
        """Whether nothing more will go out: the upstream connection may be closed."""
        return self._is_shut

    @property
    def response(self) -> Response:
        """The response so far. Of a stream that the gate ended it is failed, with the code that went out."""
        return self._refused if self._refused is not None else self._watch.response

    @property
    def decisions(self) -> tuple[GateDecision, ...]:
        """Allowed and refused calls, in the order in which that was known."""
        return tuple(self._decisions)

    @property
    def held_bytes(self) -> int:
        """How many bytes wait now."""
        return len(self._held)

    def report(self) -> TapReport:
        """As Tap.report: what was read, with the gate's own verdict."""
        return self._tap._told(self.response, self._cause)


def _call_of(mark: Mark) -> ToolCall:
    assert mark.call is not None
    return mark.call


def _words_of(error: ErrorInfo) -> str:
    """What the client is told of a fault. Errors quote what contradicts itself, or is no stream, and a provider may
    quote what it likes: it may be the call that is not to leave."""
    quotes = error.layer == "structure" or error.code in ("not_a_stream", "truncated_in_body")
    if quotes or any(word in error.message for word in CALL_WORDS):
        return f"the stream is at fault at byte {error.offset or 0}"
    return error.message


def _unreleased(call: ToolCall, is_denied: bool) -> ToolCall:
    if call.state == "void":
        return call
    problem = "incomplete" if call.state == "streaming" else "response_not_completed"
    return voided(call, "refused" if is_denied else problem)
