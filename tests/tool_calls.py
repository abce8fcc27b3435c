"""Released calls for the tests of tools, made the only way there is: by the parser, from bytes."""

from __future__ import annotations

import json
from typing import Any

import trigate
from streams import PROTOCOL, Framing, Script
from trigate.tools import Context, Judgment, Policy, Tool, Toolset, judge

__all__ = ["custom", "judged", "released", "run", "told"]


def released(name: str, arguments: Any, **options: Any) -> trigate.ReleasedCall:
    """A function call; arguments: a JSON text, or what becomes one."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    (call,) = Script().created().call(text, name=name).end().parse(**options).released
    return call


def custom(name: str, text: str) -> trigate.ReleasedCall:
    """A call with free text."""
    item = {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_1", "name": name, "input": text}
    script = Script().created().added(0, item | {"input": ""})
    script.add("response.custom_tool_call_input.delta", item_id="ct_1", output_index=0, delta=text)
    script.add("response.custom_tool_call_input.done", item_id="ct_1", output_index=0, input=text)
    (call,) = trigate.parse(script.done(0, item).end().data(Framing(escaped=True)), PROTOCOL).released
    return call


def judged(tool: Tool, arguments: Any, policy: Policy | None = None) -> Judgment:
    """One call of one tool, judged; a policy that permits all where none is given."""
    granted = [tool.permission] if tool.permission else []
    return judge(
        released(tool.name, arguments), Toolset([tool]), policy or Policy(granted, side_effects=True)
    )


def run(tool: Tool, **arguments: Any) -> Any:
    """Judged and run, as a runner would. A problem is raised."""
    judgment = judged(tool, arguments).raise_for_problem()
    return tool.run(judgment.arguments, Context(call=judgment.call))


def told(judgment: Judgment) -> dict[str, Any]:
    """What the model is told of a refusal."""
    assert judgment.problem is not None
    message: dict[str, Any] = json.loads(judgment.problem.to_model())
    return message
