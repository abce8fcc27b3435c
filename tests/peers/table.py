"""The peers whose own tests run against our faces, and the tests that are to fail there, each with its reason.

Rules
 - A deviation names one test, the clause of the WHATWG HTML standard that it contradicts, and what the clause says.
   It must fail: one that passes is an error of this table.
 - `private` names tests of the peer's inner parts, which a face does not have. They are not run, and counted.
 - A name that ends in * stands for all tests that begin so.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PEERS", "Deviation", "Peer"]

DISPATCH = "9.2.6, dispatching, step 2"


@dataclass(frozen=True)
class Deviation:
    """A test of the peer that asks for something other than the standard."""

    test: str
    clause: str
    why: str


@dataclass(frozen=True)
class Peer:
    """One distribution.

    name, version   as the package index has them; its sdist is what is fetched
    place           the module of this folder that puts our face in the peer's place, loaded as a pytest plugin
    tests           paths of its tests in its sdist or checkout; those that are not there are passed over
    page            the page under docs/compat that lists the deviations
    options         for pytest
    private         tests that are not run
    unshipped       why its sdist holds no tests, "" if it does. Then `--from NAME=FOLDER` names a checkout
    """

    name: str
    version: str
    place: str
    tests: tuple[str, ...]
    page: str
    options: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    private: tuple[str, ...] = ()
    unshipped: str = ""


#: What the SDKs' own settings say, so that their asynchronous tests run.
ASYNCIO = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=session")
#: The SDKs ask for events of blocks that hold a type alone.
NO_DATA = (
    Deviation(
        "tests/test_streaming.py::test_event_missing_data*", DISPATCH, "a block without data gives no event"
    ),
    Deviation(
        "tests/test_streaming.py::test_multiple_events[*", DISPATCH, "the same, for each of two blocks"
    ),
)

PEERS = (
    Peer(
        "httpx-sse",
        "0.4.3",
        "as_httpx_sse",
        ("tests",),
        "httpx_sse.md",
        deviations=(
            Deviation(
                "tests/test_event_source.py::test_iter_sse_id_retry",
                DISPATCH,
                "a block without data gives no event; its retry is `reconnection_time`",
            ),
        ),
        private=(
            "tests/test_decoders.py::*",
            "tests/test_api.py::test_iter_sse_lines_basic",
            "tests/test_api.py::test_iter_sse_lines_with_flush",
            "tests/test_api.py::test_aiter_sse_lines_with_flush",
        ),
    ),
    Peer(
        "httpx2",
        "2.16.2",
        "as_httpx2",
        ("tests/httpx2/test_sse.py",),
        "httpx2.md",
        deviations=(
            Deviation(
                "tests/httpx2/test_sse.py::test_id_only_block_is_dispatched",
                DISPATCH,
                "a block without data gives no event; its id is `last_event_id`",
            ),
        ),
        unshipped="its sdist holds no tests",
    ),
    Peer(
        "sseclient-py",
        "1.8.0",
        "as_sseclient",
        ("tests/test_sseclient.py", "tests/unittests.py"),
        "sseclient.md",
        unshipped="its sdist holds no tests",
    ),
    Peer(
        "openai",
        "3.57.0",
        "as_openai",
        ("tests/test_streaming.py", "tests/test_sse_framing.py"),
        "openai.md",
        options=ASYNCIO,
        deviations=NO_DATA,
        private=(
            "tests/test_sse_framing.py::test_unterminated_event*",
            "tests/test_sse_framing.py::test_ignored_lines_are_discarded_incrementally*",
            "tests/test_sse_framing.py::test_partial_line_uses_mutable_buffer",
            "tests/test_sse_framing.py::test_sync_interruption_closes_response",
            "tests/test_sse_framing.py::test_async_interruption_closes_response",
            "tests/test_sse_framing.py::test_cancellation_clears_partial_event_and_closes_response",
        ),
    ),
    Peer(
        "anthropic",
        "2.14.0",
        "as_anthropic",
        ("tests/test_streaming.py",),
        "anthropic.md",
        options=(*ASYNCIO, "-p", "tests._alias_httpx"),
        deviations=NO_DATA,
    ),
)
