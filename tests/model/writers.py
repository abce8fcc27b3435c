"""Plans written in each protocol's own way, as a list of frames; quirks are what dialects of it really do.

Rules
 - Each writer knows its quirks and no others; QUIRKS lists them.
 - What is written is the plan's: right where the plan is right, and wrong in one place where a quirk says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model import frames
from model.plans import Ask, Plan, merged
from model.writers_openai import CHAT_QUIRKS, RESPONSES_QUIRKS, chat, responses

__all__ = ["QUIRKS", "WRITERS"]

Step = dict[str, Any]


# -- anthropic, bare and in frames ---------------------------------------------------------------------

ANTHROPIC_QUIRKS = (
    "interleaved",
    "ping",
    "no_names",
    "server_tool",
    "empty_piece",
    "given_input",
    "no_stop",
    "no_message_stop",
    "stray_piece",
    "late_piece",
    "index_again",
    "two_deltas",
    "sentinel",
    "unknown_event",
    "half_input",
)
_ANTHROPIC_ENDS = {
    "short": "max_tokens",
    "blocked": "refusal",
    "unknown": "terminated",
    "unasked": "end_turn",
}


def _block(index: int, block: Step, deltas: list[Step], *, stop: bool = True) -> list[Step]:
    start = {"type": "content_block_start", "index": index, "content_block": block}
    middle = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [start, *middle, *([{"type": "content_block_stop", "index": index}] if stop else [])]


def _anthropic_call(plan: Plan, ask: Ask, index: int, *, last: bool) -> list[Step]:
    pieces = ["", *ask.pieces] if plan.has("empty_piece") else list(ask.pieces)
    given: Any = {}
    if plan.has("given_input") and ask.value:
        given, pieces = ask.value, []
    if plan.has("half_input") and last:
        pieces = pieces[:-1]
    block = {"type": "tool_use", "id": ask.call_id, "name": ask.name, "input": given}
    deltas: list[Step] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return _block(index, block, deltas, stop=not (last and plan.has("no_stop")))


def _anthropic_blocks(plan: Plan) -> list[Step]:
    tracks: list[list[Step]] = []
    if plan.reasoning:
        thoughts: list[Step] = [{"type": "thinking_delta", "thinking": text} for text in plan.reasoning]
        tracks.append(_block(0, {"type": "thinking", "thinking": ""}, thoughts))
    if plan.texts:
        texts: list[Step] = [{"type": "text_delta", "text": text} for text in plan.texts]
        tracks.append(_block(len(tracks), {"type": "text", "text": ""}, texts))
    if plan.has("server_tool"):
        block = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
        tracks.append(_block(len(tracks), block, [{"type": "input_json_delta", "partial_json": '{"q":1}'}]))
    base = len(tracks)
    for number, ask in enumerate(plan.asks):
        last = number == len(plan.asks) - 1
        index = base if plan.has("index_again") else base + number
        tracks.append(_anthropic_call(plan, ask, index, last=last))
    return merged(tracks, plan.seed, interleaved=plan.has("interleaved") and not plan.has("index_again"))


def _anthropic(plan: Plan) -> list[Step]:
    message: Step = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1}}
    steps: list[Step] = [{"type": "message_start", "message": message}]
    if plan.has("ping"):
        steps.append({"type": "ping"})
    steps += _anthropic_blocks(plan)
    piece: Step = {"type": "input_json_delta", "partial_json": "1"}
    if plan.has("stray_piece"):
        steps.append({"type": "content_block_delta", "index": 9, "delta": piece})
    if plan.has("unknown_event"):
        steps.append({"type": "content_block_hint", "index": 0})
    if plan.end == "none":
        return steps
    if plan.end == "error":
        return [*steps, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}]
    reason = _ANTHROPIC_ENDS.get(plan.end, "tool_use" if plan.asks else "end_turn")
    end = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}
    steps += [end, end] if plan.has("two_deltas") else [end]
    if plan.has("late_piece") and plan.asks:
        steps.append({"type": "content_block_delta", "index": 0, "delta": piece})
    return steps if plan.has("no_message_stop") else [*steps, {"type": "message_stop"}]


def anthropic(plan: Plan) -> list[bytes]:
    written = [frames.sse(step, "" if plan.has("no_names") else step["type"]) for step in _anthropic(plan)]
    return [*written, frames.DONE] if plan.has("sentinel") else written


def invoke(plan: Plan) -> list[bytes]:
    steps = _anthropic(plan)
    if plan.end == "error":
        return [*map(frames.invoke, steps[:-1]), frames.aws_error("modelTimeoutException", "late")]
    return [frames.invoke(step) for step in steps]


# -- gemini ----------------------------------------------------------------------------------------------

GEMINI_QUIRKS = (
    "array",
    "no_ids",
    "stop_everywhere",
    "partial",
    "open_partial",
    "one_chunk",
    "unclosed",
    "crlf",
)
_GEMINI_ENDS = {"short": "MAX_TOKENS", "blocked": "SAFETY", "unknown": "MALFORMED_FUNCTION_CALL"}


def _partial(plan: Plan, ask: Ask, head: Step) -> list[Step]:
    """A call of strings as values at paths, the last one closed by an empty call unless it stays open."""
    parts: list[Step] = [{"functionCall": {**head, "willContinue": True}}]
    for number, piece in enumerate(ask.pieces):
        going_on = number < len(ask.pieces) - 1
        value = {"jsonPath": "$.a", "stringValue": piece, **({"willContinue": True} if going_on else {})}
        parts.append({"functionCall": {"partialArgs": [value], "willContinue": True}})
    return parts if plan.has("open_partial") else [*parts, {"functionCall": {}}]


def _gemini_parts(plan: Plan) -> list[Step]:
    parts: list[Step] = [{"text": text, "thought": True} for text in plan.reasoning]
    parts += [{"text": text} for text in plan.texts]
    for ask in plan.asks:
        head: Step = {"name": ask.name} if plan.has("no_ids") else {"id": ask.call_id, "name": ask.name}
        if plan.has("partial") or plan.has("open_partial"):
            parts += _partial(plan, ask, head)
        elif ask.value is None:
            parts.append({"functionCall": head})
        else:
            parts.append({"functionCall": {**head, "args": ask.value}})
    return parts


def gemini(plan: Plan) -> list[bytes]:
    parts = _gemini_parts(plan)
    groups = [parts] if plan.has("one_chunk") else [[part] for part in parts]
    chunks: list[Step] = []
    for group in groups:
        entry: Step = {"content": {"role": "model", "parts": group}, "index": 0}
        if plan.has("stop_everywhere"):
            entry["finishReason"] = "STOP"
        chunks.append({"candidates": [entry], "responseId": "r1"})
    if plan.end == "error":
        chunks.append({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})
    elif plan.end != "none":
        end = {"finishReason": _GEMINI_ENDS.get(plan.end, "STOP"), "index": 0}
        usage = {"promptTokenCount": 3, "candidatesTokenCount": 9, "totalTokenCount": 12}
        chunks.append({"candidates": [end], "usageMetadata": usage, "responseId": "r1"})
    if plan.has("array") and chunks:
        return [frames.array(chunks, closed=not plan.has("unclosed"))]
    return [frames.sse(chunk, eol="\r\n" if plan.has("crlf") else "\n") for chunk in chunks]


# -- interactions ----------------------------------------------------------------------------------------

INTERACTIONS_QUIRKS = (
    "interleaved",
    "no_stop",
    "stray_piece",
    "sentinel",
    "repeated",
    "no_completed",
    "given_input",
)
_INTERACTION_ENDS = {"short": "incomplete", "blocked": "failed", "unknown": "sleepy", "unasked": "completed"}


def _step(index: int, step: Step, deltas: list[Step], *, stop: bool = True) -> list[Step]:
    middle = [{"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas]
    end = [{"event_type": "step.stop", "index": index}] if stop else []
    return [{"event_type": "step.start", "index": index, "step": step}, *middle, *end]


def interactions(plan: Plan) -> list[bytes]:
    interaction = {"id": "i1", "object": "interaction", "model": "m", "status": "in_progress"}
    steps: list[Step] = [{"event_type": "interaction.created", "interaction": interaction}]
    tracks: list[list[Step]] = []
    if plan.texts:
        texts: list[Step] = [{"type": "text", "text": text} for text in plan.texts]
        tracks.append(_step(0, {"type": "model_output"}, texts))
    for number, ask in enumerate(plan.asks):
        whole = plan.has("given_input") and bool(ask.value)
        head = {"type": "function_call", "id": ask.call_id, "name": ask.name}
        head["arguments"] = ask.value if whole else {}  # type: ignore[assignment]
        deltas: list[Step] = [{"type": "arguments_delta", "arguments": piece} for piece in ask.pieces]
        stop = not (plan.has("no_stop") and number == len(plan.asks) - 1)
        tracks.append(_step(len(tracks), head, [] if whole else deltas, stop=stop))
    steps += merged(tracks, plan.seed, interleaved=plan.has("interleaved"))
    if plan.has("stray_piece"):
        stray = {"type": "arguments_delta", "arguments": "1"}
        steps.append({"event_type": "step.delta", "index": 9, "delta": stray})
    if plan.end == "error":
        steps.append({"event_type": "error", "error": {"code": 500, "message": "busy"}})
    elif plan.end != "none":
        status = _INTERACTION_ENDS.get(plan.end, "requires_action" if plan.asks else "completed")
        update = {"event_type": "interaction.status_update", "interaction_id": "i1", "status": status}
        usage = {"total_input_tokens": 3, "total_output_tokens": 9, "total_tokens": 12}
        end = {"event_type": "interaction.completed", "interaction": {**interaction, "status": status}}
        end["interaction"] |= {"usage": usage}  # type: ignore[operator]
        steps += [update] if plan.has("no_completed") else [update, end]
    for number, step in enumerate(steps):
        step["event_id"] = f"e{number}"
    if plan.has("repeated"):
        at = plan.seed % len(steps)
        steps.insert(at, steps[at])
    written = [frames.sse(step, step["event_type"]) for step in steps]
    return [*written, frames.DONE] if plan.has("sentinel") else written


# -- ollama ----------------------------------------------------------------------------------------------

OLLAMA_QUIRKS = ("no_ids", "calls_at_the_end", "told_twice", "one_record", "crlf", "unterminated")
_OLLAMA_ENDS = {"short": "length", "blocked": "aborted", "unknown": "odd"}


def ollama(plan: Plan) -> list[bytes]:
    records: list[Step] = [{"thinking": text, "content": ""} for text in plan.reasoning]
    records += [{"content": text} for text in plan.texts]
    calls: list[Step] = []
    for number, ask in enumerate(plan.asks):
        body = {"index": number, "name": ask.name, "arguments": ask.value or {}}
        calls.append({"function": body} if plan.has("no_ids") else {"id": ask.call_id, "function": body})
    final: Step = {"role": "assistant", "content": ""}
    if plan.has("calls_at_the_end"):
        final["tool_calls"] = calls
    elif plan.has("one_record") and calls:
        records.append({"content": "", "tool_calls": calls})
    else:
        records += [{"content": "", "tool_calls": [call]} for call in calls]
    if plan.has("told_twice"):
        final["tool_calls"] = calls
    lines = [{"model": "m", "message": {"role": "assistant", **record}, "done": False} for record in records]
    if plan.end == "error":
        lines.append({"error": "model runner has unexpectedly stopped"})
    elif plan.end != "none":
        reason = _OLLAMA_ENDS.get(plan.end, "stop")
        end = {"model": "m", "message": final, "done": True, "done_reason": reason}
        lines.append({**end, "prompt_eval_count": 3, "eval_count": 9})
    written = [frames.line(record) for record in lines]
    if plan.has("crlf"):
        written = [record[:-1] + b"\r\n" for record in written]
    if plan.has("unterminated") and written:
        written[-1] = written[-1].rstrip()
    return written


# -- bedrock converse --------------------------------------------------------------------------------------

BEDROCK_QUIRKS = (
    "interleaved",
    "no_stop",
    "stray_piece",
    "server_tool",
    "no_metadata",
    "late_piece",
    "index_again",
)
_BEDROCK_ENDS = {
    "short": "max_tokens",
    "blocked": "guardrail_intervened",
    "unknown": "odd",
    "unasked": "end_turn",
}
Frame = tuple[str, Step]


def _converse_call(plan: Plan, ask: Ask, index: int, *, last: bool, server: bool = False) -> list[Frame]:
    at = {"contentBlockIndex": index}
    tool: Step = {"toolUseId": ask.call_id, "name": ask.name}
    if server:
        tool["type"] = "server_tool_use"
    steps: list[Frame] = [("contentBlockStart", {**at, "start": {"toolUse": tool}})]
    steps += [("contentBlockDelta", {**at, "delta": {"toolUse": {"input": piece}}}) for piece in ask.pieces]
    return steps if last and plan.has("no_stop") else [*steps, ("contentBlockStop", at)]


def _converse(plan: Plan) -> list[Frame]:
    tracks: list[list[Frame]] = []
    if plan.texts:
        texts: list[Frame] = [
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}) for text in plan.texts
        ]
        tracks.append([*texts, ("contentBlockStop", {"contentBlockIndex": 0})])
    if plan.has("server_tool"):
        ask = Ask("srv_1", "search", ('{"q":1}',), None)
        tracks.append(_converse_call(plan, ask, len(tracks), last=False, server=True))
    base = len(tracks)
    for number, ask in enumerate(plan.asks):
        index = base if plan.has("index_again") else base + number
        tracks.append(_converse_call(plan, ask, index, last=number == len(plan.asks) - 1))
    mixed = plan.has("interleaved") and not plan.has("index_again")
    return [("messageStart", {"role": "assistant"}), *merged(tracks, plan.seed, interleaved=mixed)]


def converse(plan: Plan) -> list[bytes]:
    steps = _converse(plan)
    stray: Frame = ("contentBlockDelta", {"contentBlockIndex": 9, "delta": {"toolUse": {"input": "1"}}})
    if plan.has("stray_piece"):
        steps.append(stray)
    if plan.end == "error":
        return [*(frames.aws(*step) for step in steps), frames.aws_error("throttlingException", "slow down")]
    if plan.end != "none":
        reason = _BEDROCK_ENDS.get(plan.end, "tool_use" if plan.asks else "end_turn")
        steps.append(("messageStop", {"stopReason": reason}))
        if plan.has("late_piece"):
            steps.append(stray)
        if not plan.has("no_metadata"):
            usage = {"inputTokens": 3, "outputTokens": 9, "totalTokens": 12}
            steps.append(("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))
    return [frames.aws(*step) for step in steps]


# -- cohere ------------------------------------------------------------------------------------------------

COHERE_QUIRKS = ("interleaved", "no_stop", "stray_piece", "sentinel", "index_again", "plan", "no_names")
_COHERE_ENDS = {"short": "MAX_TOKENS", "blocked": "ERROR", "unknown": "ODD", "unasked": "COMPLETE"}


def _cohere_call(ask: Ask, index: int, *, stop: bool) -> list[Step]:
    head = {"id": ask.call_id, "type": "function", "function": {"name": ask.name, "arguments": ""}}
    steps: list[Step] = [
        {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": head}}}
    ]
    for piece in ask.pieces:
        body = {"tool_calls": {"function": {"arguments": piece}}}
        steps.append({"type": "tool-call-delta", "index": index, "delta": {"message": body}})
    return [*steps, {"type": "tool-call-end", "index": index}] if stop else steps


def cohere(plan: Plan) -> list[bytes]:
    steps: list[Step] = [{"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}}]
    if plan.has("plan"):
        steps.append({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will"}}})
    if plan.texts:
        content: Step = {"message": {"content": {"type": "text", "text": ""}}}
        steps.append({"type": "content-start", "index": 0, "delta": content})
        for text in plan.texts:
            delta = {"message": {"content": {"text": text}}}
            steps.append({"type": "content-delta", "index": 0, "delta": delta})
        steps.append({"type": "content-end", "index": 0})
    tracks = []
    for number, ask in enumerate(plan.asks):
        stop = not (plan.has("no_stop") and number == len(plan.asks) - 1)
        tracks.append(_cohere_call(ask, 0 if plan.has("index_again") else number, stop=stop))
    steps += merged(tracks, plan.seed, interleaved=plan.has("interleaved") and not plan.has("index_again"))
    if plan.has("stray_piece"):
        body = {"tool_calls": {"function": {"arguments": "1"}}}
        steps.append({"type": "tool-call-delta", "index": 9, "delta": {"message": body}})
    if plan.end == "error":
        steps.append({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "busy"}})
    elif plan.end != "none":
        reason = _COHERE_ENDS.get(plan.end, "TOOL_CALL" if plan.asks else "COMPLETE")
        usage = {"tokens": {"input_tokens": 3, "output_tokens": 9}}
        steps.append({"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}})
    written = [frames.sse(step, "" if plan.has("no_names") else step["type"]) for step in steps]
    return [*written, frames.DONE] if plan.has("sentinel") else written


QUIRKS: dict[str, tuple[str, ...]] = {
    "openai-responses": RESPONSES_QUIRKS,
    "openai-chat": CHAT_QUIRKS,
    "anthropic-messages": ANTHROPIC_QUIRKS,
    "bedrock-invoke": ANTHROPIC_QUIRKS,
    "gemini": GEMINI_QUIRKS,
    "gemini-interactions": INTERACTIONS_QUIRKS,
    "ollama-chat": OLLAMA_QUIRKS,
    "bedrock-converse": BEDROCK_QUIRKS,
    "cohere-chat": COHERE_QUIRKS,
}
WRITERS: dict[str, Callable[[Plan], list[bytes]]] = {
    "openai-responses": responses,
    "openai-chat": chat,
    "anthropic-messages": anthropic,
    "bedrock-invoke": invoke,
    "gemini": gemini,
    "gemini-interactions": interactions,
    "ollama-chat": ollama,
    "bedrock-converse": converse,
    "cohere-chat": cohere,
}
