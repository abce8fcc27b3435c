"""Rows of the Responses reference, read against it: errors in any dress, ends that deny themselves, retries."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from streams import PROTOCOL, Script, codes, function_item, verdict

GO = '{"a":1}'
ERRORS = [
    b'event: error\ndata: {"type":"server_error","code":"c","message":"boom"}\n\n',
    b'event: error\ndata: {"code":"c","message":"boom"}\n\n',
    b'data: {"type":"server_error","code":"c","message":"boom"}\n\n',
    b'data: {"type":"problem","error":{"code":"c","message":"boom"}}\n\n',
    b'data: {"type":"response.in_progress","error":{"code":"c","message":"boom"}}\n\n',
    b'data: {"object":"error","code":"c","message":"boom"}\n\n',
    b'data: {"code":"c","message":"boom","sequence_number":0}\n\n',
]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("protocol", [PROTOCOL, "auto"])
def test_an_error_is_heard_in_any_dress(error: bytes, protocol: str) -> None:
    script = Script().created().call(GO)
    response = trigate.parse(script.data() + error + Script().end().data(), protocol)
    assert response.error is not None
    assert (response.status, response.error.code, response.error.message) == ("failed", "c", "boom")
    assert response.released == ()


def test_progress_of_a_server_tool_is_no_error_of_the_response() -> None:
    script = Script().created().call(GO).add("response.mcp_call.failed", error={"message": "x"})
    assert script.end().parse().status == "completed"


@pytest.mark.parametrize(
    ("beside", "status"),
    [
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "incomplete"),
        ({"error": {"code": "x", "message": "m"}}, "failed"),
    ],
)
def test_a_completed_response_that_denies_it(beside: dict[str, Any], status: str) -> None:
    response = Script().created().call(GO).end(**beside).parse()
    assert (response.status, response.released, codes(response)) == (status, (), ["status_differs"])


def test_a_call_that_is_denied_after_its_early_release() -> None:
    script = Script().created().call(GO)
    denied = function_item(GO, status="incomplete")
    response = script.end(output=[denied]).parse(release_on="call")
    assert [call.arguments for call in response.released] == [GO]
    assert response.error is not None
    assert (response.status, response.error.code) == ("conflict", "released_call_denied")
    assert script.parse(release_on="response").released == ()


@pytest.mark.parametrize("output", [[], ...])
def test_a_retry_that_counts_from_0_again_is_another_response(output: Any) -> None:
    first = Script().created().call(GO)
    retry = Script().created(id="resp_2").call(GO, call_id="other_1", item_id="fc_8")
    retry.call(GO, index=1, call_id="other_2", item_id="fc_9").end(id="resp_2", output=output)
    response = trigate.parse(first.data() + retry.data(), PROTOCOL)
    assert response.error is not None
    assert (response.status, response.error.code) == ("conflict", "response_restarted")
    assert response.released == ()


def test_a_resumed_stream_is_the_same_response() -> None:
    whole = Script().created().call(GO).end()
    response = trigate.parse(Script().created().data() + whole.data(), PROTOCOL)
    assert (response.status, verdict(response)) == ("completed", verdict(whole.parse()))
    assert codes(response) == ["repeated_event"]


@pytest.mark.parametrize(
    ("first", "status"), [("", "completed"), ("{}", "completed"), ('{"a":2}', "conflict")]
)
def test_arguments_with_which_the_item_begins(first: str, status: str) -> None:
    script = Script().created().added(0, function_item(first, status="in_progress"))
    response = script.closed(0, GO).done(0, function_item(GO)).end().parse()
    assert (response.status, len(response.released)) == (status, status == "completed")


def test_a_copy_that_is_empty_is_a_copy() -> None:
    script = Script().created().added(0, function_item("", status="in_progress")).closed(0, "")
    response = script.done(0, function_item(GO)).end().parse()
    assert (response.status, response.released) == ("conflict", ())


def test_one_id_for_a_cut_call_and_a_whole_one_releases_nothing_early() -> None:
    script = Script().created().call('{"a"').call(GO, index=1, item_id="fc_2")
    assert script.parse(release_on="call").released == ()
    response = script.end().parse(release_on="call")
    assert (response.status, response.released) == ("conflict", ())


def test_a_namespace_is_told() -> None:
    (call,) = Script().created().call(GO, namespace="crm").end().parse().released
    assert call.flags == ("namespaced",)


def test_a_gap_in_the_output_indices_is_told() -> None:
    response = Script().created().call(GO, index=1).end().parse()
    assert (response.status, codes(response)) == ("completed", ["index_gap"])


def test_tokens_without_anything_to_show_for_them() -> None:
    response = Script().created().end(usage={"input_tokens": 1, "output_tokens": 9}).parse()
    assert (response.status, codes(response)) == ("completed", ["usage_without_content"])
