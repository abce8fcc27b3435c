"""What completion means in a protocol, as data: read two of these side by side to compare two providers."""

from __future__ import annotations

import msgspec

from trigate.response import Status

__all__ = ["Profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The completion profile of one protocol, in its own wire words.

    closes_arguments  after this no more argument text comes for the call; empty: nothing on the wire says so
    completes_call    the provider says that the call is whole
    asks_to_run       the ends after which calls are to be run
    ends_well         the ends of a completed response that ask for no call to be run
    ends_otherwise    the other known ends, and the status each gives
    unknown_end       the status of an end word that is not known
    terminal          where the response is over: the event, or "the end of the input"
    noise             what carries nothing and may come at any time
    """

    closes_arguments: tuple[str, ...]
    completes_call: tuple[str, ...]
    asks_to_run: tuple[str, ...]
    ends_well: tuple[str, ...]
    ends_otherwise: dict[str, Status]
    unknown_end: Status
    terminal: tuple[str, ...]
    noise: tuple[str, ...]

    def status_of(self, word: str) -> Status:
        """The status that an end word of the wire gives."""
        if word in self.asks_to_run or word in self.ends_well:
            return "completed"
        return self.ends_otherwise.get(word, self.unknown_end)
