"""openai's decoder, replaced: a decoder for the SDK's `_make_sse_decoder` point, and patch() that puts it in.

Rules
 - What an event is, the WHATWG standard says; where the SDK says otherwise stands in docs/compat/openai.md.
 - The SDK is imported by the first patch, and by nothing else here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trigate.compat.sdk_events import Decoder, ServerSentEvent
from trigate.compat.sdk_point import SDKPoint, made_by

if TYPE_CHECKING:
    from trigate.compat.patching import Patch
    from trigate.compat.shadow import Report
    from trigate.limits import Limits

__all__ = ["Decoder", "ServerSentEvent", "patch", "unpatch"]

_POINT = SDKPoint("openai")


def patch(
    client: object | None = None,
    *,
    errors: Literal["replace", "strict"] = "strict",
    limits: Limits | None = None,
    shadow: Report | None = None,
) -> Patch:
    """Puts trigate's decoder in; as a context manager, until the end of the block.

    client   an OpenAI or AsyncOpenAI client (or a subclass): that client and its with_options() copies. None: every
             client of the process, those that are there already too
    errors   "strict" or "replace": see Decoder
    limits   bounds of memory; see Decoder
    shadow   called with each Difference: then the SDK's own decoder goes on giving the events, and trigate's reads
             the same bytes beside it

    TypeError: no client of openai. RuntimeError: this version or this client has no place for another decoder.
    ImportError: openai is not installed.
    """
    return _POINT.patch(client, made_by(lambda: Decoder(errors=errors, limits=limits), shadow))


def unpatch(client: object | None = None) -> None:
    """Takes out the latest patch of the client, or of the process; RuntimeError if there is none."""
    _POINT.unpatch(client)
