"""Plans written as OpenAI's two streams; see writers.py for the others and for the rules."""

from __future__ import annotations

from typing import Any

from model import frames
from model.plans import Ask, Plan, merged

__all__ = ["CHAT_QUIRKS", "RESPONSES_QUIRKS", "chat", "responses"]

Step = dict[str, Any]

RESPONSES_QUIRKS = (
    "interleaved",
    "no_numbers",
    "no_pieces",
    "no_copy",
    "empty_list",
    "late_identity",
    "sentinel",
    "keepalive",
    "other_copy",
    "other_item",
    "other_list",
    "cut_item",
    "short_list",
    "hidden_status",
    "repeated",
    "gap",
    "custom",
    "unknown_event",
)
_RESPONSES_ENDS = {"short": "max_output_tokens", "blocked": "content_filter", "unknown": "odd"}


def _item(plan: Plan, ask: Ask, text: str, status: str) -> Step:
    if plan.has("custom"):
        return {"type": "custom_tool_call", "call_id": ask.call_id, "name": ask.name, "input": text}
    item = {"type": "function_call", "id": "fc_" + ask.call_id, "call_id": ask.call_id}
    return {**item, "name": ask.name, "arguments": text, "status": status}


def _responses_call(plan: Plan, ask: Ask, index: int, *, last: bool) -> list[Step]:
    kind = "response.custom_tool_call_input" if plan.has("custom") else "response.function_call_arguments"
    where = {"output_index": index, "item_id": "fc_" + ask.call_id}
    added = _item(plan, ask, "", "in_progress")
    if plan.has("late_identity"):
        added |= {"call_id": "", "name": ""}
    steps: list[Step] = [{"type": "response.output_item.added", "output_index": index, "item": added}]
    if not plan.has("no_pieces"):
        steps += [{"type": kind + ".delta", **where, "delta": piece} for piece in ask.pieces]
    member = "input" if plan.has("custom") else "arguments"
    if not plan.has("no_copy"):
        copy = ask.arguments + (" " if plan.has("other_copy") and last else "")
        steps.append({"type": kind + ".done", **where, member: copy})
    status = "incomplete" if plan.has("cut_item") and last else "completed"
    done = _item(plan, ask, ask.arguments + (" " if plan.has("other_item") and last else ""), status)
    return [*steps, {"type": "response.output_item.done", "output_index": index, "item": done}]


def _responses_end(plan: Plan, output: list[Step]) -> Step:
    response: Step = {"id": "resp_1", "object": "response", "status": "completed", "output": output}
    response["usage"] = {"input_tokens": 3, "output_tokens": 9, "total_tokens": 12}
    if plan.end in _RESPONSES_ENDS:
        response |= {"status": "incomplete", "incomplete_details": {"reason": _RESPONSES_ENDS[plan.end]}}
        kind = "response.completed" if plan.has("hidden_status") else "response.incomplete"
        return {"type": kind, "response": response}
    return {"type": "response.completed", "response": response}


def responses(plan: Plan) -> list[bytes]:
    start = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    steps: list[Step] = [{"type": "response.created", "response": start}]
    tracks: list[list[Step]] = []
    output: list[Step] = []
    if plan.texts:
        where = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
        part = {"type": "output_text", "text": "".join(plan.texts)}
        item: Step = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        output.append({**item, "status": "completed", "content": [part]})
        track: list[Step] = [{"type": "response.output_item.added", "output_index": 0, "item": item}]
        track += [{"type": "response.output_text.delta", **where, "delta": text} for text in plan.texts]
        track.append({"type": "response.output_text.done", **where, "text": part["text"]})
        tracks.append([*track, {"type": "response.output_item.done", "output_index": 0, "item": output[0]}])
    for number, ask in enumerate(plan.asks):
        last = number == len(plan.asks) - 1
        tracks.append(_responses_call(plan, ask, len(tracks), last=last))
        if not (plan.has("short_list") and last):
            text = ask.arguments + (" " if plan.has("other_list") and last else "")
            output.append(_item(plan, ask, text, "completed"))
    steps += merged(tracks, plan.seed, interleaved=plan.has("interleaved"))
    for quirk, kind in (("keepalive", "keepalive"), ("unknown_event", "response.hint")):
        if plan.has(quirk):
            steps.insert(plan.seed % len(steps), {"type": kind})
    if plan.end == "error":
        steps.append({"type": "error", "error": {"type": "server_error", "code": "e", "message": "busy"}})
    elif plan.end != "none":
        steps.append(_responses_end(plan, [] if plan.has("empty_list") else output))
    return _numbered(plan, steps)


def _numbered(plan: Plan, steps: list[Step]) -> list[bytes]:
    at = plan.seed % len(steps)
    if not plan.has("no_numbers"):
        for number, step in enumerate(steps):
            step["sequence_number"] = number + (plan.has("gap") and number > at)
        if plan.has("repeated"):
            steps = [*steps[: at + 1], steps[at], *steps[at + 1 :]]
    written = [frames.sse(step, step["type"]) for step in steps]
    return [*written, frames.DONE] if plan.has("sentinel") else written


# -- chat ------------------------------------------------------------------------------------------------

CHAT_QUIRKS = (
    "interleaved",
    "no_index",
    "all_zero",
    "one_based",
    "head_repeated",
    "empty_head",
    "null_head",
    "late_id",
    "whole",
    "object",
    "finish_with_call",
    "no_sentinel",
    "finish_twice",
    "usage",
    "stop",
    "comment",
    "late_piece",
    "snapshot",
    "name_in_pieces",
    "stray_piece",
    "two_choices",
    "empty_choices",
    "placeholder",
)
_CHAT_ENDS = {"short": "length", "blocked": "content_filter", "unknown": "odd"}


def _chunk(delta: Step, finish: str | None = None, index: int = 0) -> Step:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def _rest_of_head(plan: Plan, ask: Ask) -> Step:
    """What later fragments say about id and name."""
    if plan.has("head_repeated"):
        return {"id": ask.call_id, "type": "function", "function": {"name": ask.name}}
    if plan.has("empty_head"):
        return {"id": "", "function": {"name": ""}}
    if plan.has("null_head"):
        return {"id": "null", "function": {"name": None}}
    return {"id": ask.call_id, "function": {}} if plan.has("no_index") else {"function": {}}


def _fragments(plan: Plan, ask: Ask, number: int) -> list[Step]:
    at: Step = {} if plan.has("no_index") else {"index": number + plan.has("one_based")}
    if plan.has("all_zero"):
        at = {"index": 0}
    head: Step = {**at, "id": ask.call_id, "type": "function", "function": {"name": ask.name}}
    if plan.has("object") and ask.value is not None:
        head["function"] = {"name": ask.name, "arguments": ask.value}
        return [head]
    if plan.has("whole"):
        head["function"] = {"name": ask.name, "arguments": ask.arguments}
        return [head]
    head["function"]["arguments"] = "{}" if plan.has("placeholder") else ""
    if plan.has("name_in_pieces") and len(ask.name) > 2:
        head["function"]["name"] = ask.name[:2]
    if plan.has("late_id"):
        head["id"] = None
    rest = []
    for place, piece in enumerate(ask.pieces):
        fragment = {**at, **_rest_of_head(plan, ask)}
        fragment["function"] = {**fragment["function"], "arguments": piece}
        if plan.has("late_id") and place == 0:
            fragment["id"] = ask.call_id
        if plan.has("name_in_pieces") and len(ask.name) > 2 and place == 0:
            fragment["function"]["name"] = ask.name[2:]
        rest.append(fragment)
    if plan.has("snapshot") and ask.value is not None:
        copy = {"name": ask.name, "arguments": ask.arguments}
        rest.append({**at, "id": ask.call_id, "type": "function", "function": copy})
    return [head, *rest]


def _chat_choice(plan: Plan, index: int) -> list[Step]:
    steps = [_chunk({"role": "assistant", "content": ""}, index=index)]
    steps += [_chunk({"reasoning_content": text}, index=index) for text in plan.reasoning]
    steps += [_chunk({"content": text}, index=index) for text in plan.texts]
    tracks = [_fragments(plan, ask, number) for number, ask in enumerate(plan.asks)]
    mixed = plan.has("interleaved") and not plan.has("all_zero")
    calls = merged(tracks, plan.seed, interleaved=mixed)
    if plan.has("stray_piece"):
        calls.append({"index": 9, "function": {"arguments": "1"}})
    steps += [_chunk({"tool_calls": [fragment]}, index=index) for fragment in calls]
    if plan.end in ("none", "error"):
        return steps
    good = "tool_calls" if plan.asks and not plan.has("stop") else "stop"
    finish = _CHAT_ENDS.get(plan.end, good)
    if plan.has("finish_with_call") and calls:
        steps[-1]["choices"][0]["finish_reason"] = finish
    else:
        steps.append(_chunk({}, finish, index))
    if plan.has("finish_twice"):
        steps.append(_chunk({"content": ""}, finish, index))
    if plan.has("late_piece") and calls:
        steps.append(_chunk({"tool_calls": [{"index": 0, "function": {"arguments": "1"}}]}, index=index))
    return steps


def chat(plan: Plan) -> list[bytes]:
    tracks = [_chat_choice(plan, index) for index in range(2 if plan.has("two_choices") else 1)]
    steps = merged(tracks, plan.seed, interleaved=True)
    if plan.has("empty_choices"):
        steps.insert(0, {"id": "", "choices": [], "prompt_filter_results": []})
    if plan.has("usage"):
        usage = {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}
        steps.append({"id": "c1", "choices": [], "usage": usage})
    if plan.end == "error":
        steps.append({"error": {"message": "busy", "type": "server_error", "code": 503}})
    written = [frames.sse(step) for step in steps]
    if plan.has("comment"):
        written.insert(plan.seed % len(written), b": keep-alive\n\n")
    return written if plan.has("no_sentinel") or plan.end == "error" else [*written, frames.DONE]
