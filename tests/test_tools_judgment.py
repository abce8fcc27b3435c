"""Five questions in their order, the first no ends it, and every no tells the model what to do next."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import trigate
from streams import Script, function_item
from tool_calls import judged, released, told
from trigate.tools import (
    CODES,
    Cancellation,
    Context,
    Policy,
    Problem,
    Progress,
    Tool,
    ToolError,
    Toolset,
    judge,
    problem_of,
    problem_of_void,
    tool,
)

QUESTIONS = ("known", "well_formed", "valid", "permitted", "fresh")


@tool(read_only=True)
def look(where: str, far: float = 0.0) -> str:
    """Looks."""
    return f"{where} {far}"


@tool(permission="mail.send")
def send(to: str) -> str:
    """Sends."""
    raise AssertionError(f"judging must not run it: {to}")


def answers(judgment: Any) -> list[str]:
    return [getattr(judgment, name).answer for name in QUESTIONS]


# -- the order of the questions --------------------------------------------------------------------------


def test_all_yes() -> None:
    judgment = judge(released("look", {"where": "here"}), Toolset([look]))
    assert judgment.allowed
    assert answers(judgment) == ["yes"] * 5
    assert judgment.problem is None
    assert judgment.tool is look
    assert judgment.arguments == {"where": "here"}
    assert judgment.raise_for_problem() is judgment


def test_the_first_no_ends_it() -> None:
    def gone(to: str) -> Problem:
        return Problem(code="not_found", message=f"no {to}")

    late = Tool(name="send", function=send.function, permission="mail.send", fresh=gone)
    granted = Policy({"mail.send"})
    cases: list[tuple[str, Any, Policy, str, str]] = [
        ("sned", {"to": "x"}, granted, "known", "unknown_tool"),
        ("send", '{"to":"\\ud800"}', granted, "well_formed", "invalid_arguments"),
        ("send", {"to": 5}, granted, "valid", "invalid_arguments"),
        ("send", {"to": "x"}, Policy(), "permitted", "permission_denied"),
        ("send", {"to": "x"}, granted, "fresh", "not_found"),
    ]
    for number, (name, arguments, policy, question, code) in enumerate(cases):
        judgment = judge(released(name, arguments), Toolset([late]), policy)
        assert answers(judgment) == ["yes"] * number + ["no"] + ["not_asked"] * (4 - number), question
        assert not judgment.allowed
        assert judgment.problem is not None
        assert judgment.problem.code == code
        assert getattr(judgment, question).reason == judgment.problem.message
        with pytest.raises(trigate.TrigateError) as caught:
            judgment.raise_for_problem()
        assert (caught.value.code, caught.value.layer) == (code, CODES[judgment.problem.code].layer)


def test_only_a_released_call_is_judged() -> None:
    (draft,) = Script().created().added(0, function_item("")).delta(0, '{"to":"x"}').parse().calls
    for thing in (draft, "send", None):
        with pytest.raises(TypeError, match="only a ReleasedCall is judged"):
            judge(thing, Toolset([send]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a Toolset, .* not a list"):
        judge(released("send", {"to": "x"}), [send])  # type: ignore[arg-type]


def test_a_record_is_plain_and_holds_no_arguments() -> None:
    for arguments in ({"to": "someone@example.org"}, {"to": 5}):
        record = judged(send, arguments, Policy()).to_record()
        text = json.dumps(record)
        assert "someone" not in text
        assert record["allowed"] is False
        assert record["problem"]["code"] in CODES
    record = judge(released("look", {"where": "x"}), Toolset([look])).to_record()
    assert (record["call_id"], record["name"], record["problem"]) == ("call_1", "look", None)
    assert record["known"] == {"answer": "yes", "reason": ""}


def test_a_tool_in_a_namespace_is_another_tool() -> None:
    (call,) = Script().created().call("{}", name="look", namespace="elsewhere").end().parse().released
    assert call.flags == ("namespaced",)
    message = told(judge(call, Toolset([look])))
    assert (message["error"], message["message"]) == ("unknown_tool", "no tool named look is in a namespace")


# -- values that JSON can write and no tool should take --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "path", "found"),
    [
        ('{"where":"a","far":1e400}', {}, "$.far", "inf"),
        ('{"where":"a","far":-1e400}', {}, "$.far", "-inf"),
        ('{"where":"a","far":NaN}', {"lenient": ["nan"]}, "$.far", "nan"),
        ('{"where":"a","far":[1,-Infinity]}', {"lenient": ["nan"]}, "$.far[1]", "-inf"),
        ('{"where":"\\udc00"}', {}, "$.where", "half of a surrogate pair"),
        ('{"\\ud83d":1}', {}, '["?"]', "half of a surrogate pair"),
        ('{"where":{"far":["\\ud83d"]}}', {}, "$.where.far[0]", "half of a surrogate pair"),
    ],
)
def test_impossible_values_are_not_well_formed(
    text: str, options: dict[str, Any], path: str, found: str
) -> None:
    judgment = judge(released("look", text, **options), Toolset([look]))
    assert judgment.well_formed.answer == "no"
    (finding,) = told(judgment)["problems"]
    assert (finding["path"].removeprefix("$") if path[0] == "[" else finding["path"], finding["found"]) == (
        path,
        found,
    )


def test_nesting_is_bounded() -> None:
    @tool(read_only=True, max_depth=5)
    def take(value: Any) -> None:
        del value

    def nested(levels: int) -> str:
        return '{"value":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"

    assert judge(released("take", nested(5)), Toolset([take])).allowed
    judgment = judge(released("take", nested(6)), Toolset([take]))
    assert told(judgment)["problems"] == [
        {"path": "$", "expected": "at most 5 levels", "found": "deeper nesting"}
    ]


def test_a_schema_meets_no_deeper_nesting_than_it_can_bear() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
    deep = Tool(name="deep", function=print, parameters=schema, read_only=True)
    text = '{"a":' * 99 + "{}" + "}" * 99
    assert judge(released("deep", text), Toolset([deep])).allowed
    text = '{"a":' * 900 + "{}" + "}" * 900
    assert judge(released("deep", text), Toolset([deep])).well_formed.answer == "no"


class Odd(msgspec.Struct):
    value: int

    def __post_init__(self) -> None:
        if self.value == 1:
            raise OverflowError("/srv/odd.py: what msgspec does not take for a misfit")
        if self.value == 2:
            raise RecursionError


def test_a_type_that_breaks_is_the_tool_s_own_failure() -> None:
    made = Tool(name="odd", function=print, parameters=Odd, read_only=True)
    judgment = judge(released("odd", {"value": 1}), Toolset([made]))
    assert judgment.problem is not None
    assert (judgment.problem.code, judgment.valid.answer) == ("tool_error", "no")
    assert "odd.py" in judgment.problem.record
    assert "odd.py" not in judgment.problem.to_model()
    deep = judge(released("odd", {"value": 2}), Toolset([made]))
    assert told(deep)["problems"][0]["expected"] == "less nesting"
    assert judge(released("odd", {"value": 3}), Toolset([made])).allowed


# -- permission ------------------------------------------------------------------------------------------


def test_what_policies_permit() -> None:
    plain = Tool(name="plain", function=send.function)
    secret = Tool(name="secret", function=send.function, read_only=True, permission="see")

    def allowed(made: Tool, policy: Any) -> bool:
        return judge(released(made.name, {"to": "x"}), Toolset([made]), policy).allowed

    assert not allowed(plain, None)
    assert not allowed(send, None)
    assert not allowed(secret, None)
    assert allowed(plain, Policy(side_effects=True))
    assert not allowed(send, Policy(side_effects=True))
    assert allowed(send, Policy(["mail.send"]))
    assert not allowed(plain, Policy(["mail.send"]))
    assert allowed(secret, Policy({"see"}))
    assert not allowed(secret, Policy({"seeing"}))
    assert repr(Policy({"b", "a"})) == "Policy(['a', 'b'], side_effects=False)"
    with pytest.raises(TypeError, match="not one str"):
        Policy("mail.send")


def test_a_policy_is_any_function_of_tool_arguments_and_context() -> None:
    seen: list[Any] = []

    def friends_only(made: Tool, arguments: Any, context: Context) -> bool | str:
        seen.append((made.name, context.scope))
        return arguments["to"] == "friend" or "only friends get mail"

    toolset, context = Toolset([send]), Context(scope="me")
    assert judge(released("send", {"to": "friend"}), toolset, friends_only, context).allowed
    refused = judge(released("send", {"to": "foe"}), toolset, friends_only, context)
    assert told(refused)["message"] == "only friends get mail"
    assert seen == [("send", "me")] * 2


@pytest.mark.parametrize("answer", [False, None, "", 0, 1])
def test_what_is_not_true_is_no(answer: Any) -> None:
    judgment = judge(released("send", {"to": "x"}), Toolset([send]), lambda *_: answer)
    assert judgment.permitted.answer == "no"
    assert told(judgment)["message"] == "send is not permitted"


def test_a_policy_that_raises_permits_nothing() -> None:
    def broken(*_: Any) -> bool:
        raise RuntimeError("/etc/policy.toml is missing")

    judgment = judge(released("send", {"to": "x"}), Toolset([send]), broken)
    assert judgment.problem is not None
    assert judgment.problem.code == "permission_denied"
    assert "policy.toml" in judgment.problem.record
    assert "policy.toml" not in judgment.problem.to_model()


# -- freshness -------------------------------------------------------------------------------------------


def test_fresh_is_asked_last_with_the_arguments() -> None:
    asked: list[Any] = []

    def is_fresh(to: str, context: Context) -> Problem | None:
        asked.append((to, context.scope))
        if to == "raise":
            raise ToolError("it changed", code="stale_version", facts={"version": "2"})
        if to == "break":
            raise KeyError("secret")
        return "soon" if to == "odd" else None  # type: ignore[return-value]

    made = Tool(name="send", function=send.function, fresh=is_fresh, read_only=True)

    def ask(to: Any) -> Any:
        return judge(released("send", {"to": to}), Toolset([made]), None, Context(scope="s"))

    assert ask("x").allowed
    assert not ask(5).allowed
    assert asked == [("x", "s")]
    assert told(ask("raise")) == {
        "error": "stale_version",
        "message": "it changed",
        "version": "2",
        "next": CODES["stale_version"].next,
    }
    for to in ("break", "odd"):
        judgment = ask(to)
        assert told(judgment)["error"] == "tool_error"
        assert "secret" not in judgment.problem.to_model()
        assert judgment.problem.record


# -- problems --------------------------------------------------------------------------------------------


def test_every_code_says_what_to_do() -> None:
    for code, each in CODES.items():
        problem = Problem(code=code, message="m")
        message = json.loads(problem.to_model())
        assert (message["error"], message["next"]) == (code, each.next)
        error = problem.to_error()
        assert (error.code, error.layer, error.message) == (code, each.layer, "m")
        assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    with pytest.raises(ValueError, match="unknown problem code"):
        Problem(code="other", message="m")  # type: ignore[arg-type]


def test_the_error_s_class_is_that_of_its_layer() -> None:
    kinds: dict[str, type[trigate.TrigateError]] = {
        "unknown_tool": trigate.ModelError,
        "permission_denied": trigate.AuthorizationError,
        "stale_version": trigate.EnvironmentStateError,
        "timeout_unknown": trigate.UnknownOutcomeError,
        "too_large": trigate.LimitError,
        "duplicate": trigate.StructureError,
    }
    for code, kind in kinds.items():
        assert type(Problem(code=code, message="m").to_error()) is kind  # type: ignore[arg-type]


def test_a_tool_s_own_words_go_to_the_model_and_others_do_not() -> None:
    own = problem_of(
        ToolError("no such city", code="not_found", next="Try a bigger one.", facts={"near": "Bonn"})
    )
    assert json.loads(own.to_model()) == {
        "error": "not_found",
        "message": "no such city",
        "near": "Bonn",
        "next": "Try a bigger one.",
    }
    try:
        raise ValueError("password=hunter2 in /srv/app/secret.py")
    except ValueError as error:
        other = problem_of(error)
    assert other.code == "tool_error"
    assert "hunter2" in other.record
    assert "test_tools_judgment" in other.record
    for word in ("hunter2", "/srv", "Traceback", "ValueError", ".py"):
        assert word not in other.to_model()


def test_a_record_is_bounded_and_so_is_what_the_model_is_told() -> None:
    other = problem_of(ValueError("x" * 1_000_000))
    assert len(other.record) <= 8000
    assert len(problem_of(ToolError("y" * 1_000_000)).to_model()) < 2000


def test_cancellation_is_told_apart() -> None:
    import asyncio

    assert problem_of(asyncio.CancelledError()).code == "cancelled"


def test_facts_do_not_overwrite_what_was_found() -> None:
    problem = Problem(code="not_found", message="m", facts={"error": "x", "message": "y", "place": 1})
    message = json.loads(problem.to_model())
    assert (message["error"], message["message"], message["place"]) == ("not_found", "m", 1)


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        (Script().created().call('{"a":1,"a":2}').end(), "invalid_arguments", "duplicate_key"),
        (Script().created().call('{"a":NaN}').end(), "invalid_arguments", "malformed"),
        (Script().created().call('{"a":').end(), "invalid_arguments", "incomplete"),
        (Script().created().call("{}", call_id=None).end(), "conflict", "no_call_id"),
        (Script().created().call("{}").end("response.incomplete"), "cancelled", "response_not_completed"),
    ],
)
def test_a_void_call_s_problem(script: Script, code: str, reason: str) -> None:
    (call,) = script.parse().calls
    problem = problem_of_void(call)
    assert (problem.code, problem.facts["reason"]) == (code, reason)
    assert json.loads(problem.to_model())["reason"] == reason


def test_only_a_void_call_has_one() -> None:
    with pytest.raises(TypeError, match="released"):
        problem_of_void(released("look", {}))


# -- the context -----------------------------------------------------------------------------------------


def test_a_token_is_for_good() -> None:
    token = Cancellation()
    assert not token.is_cancelled
    assert not token.wait(0)
    token.cancel("the user left")
    token.cancel("later")
    assert (token.is_cancelled, token.reason, token.wait()) == (True, "the user left", True)


def test_checks_between_steps() -> None:
    context = Context()
    context.check()
    assert context.remaining() is None
    context.cancellation.cancel("enough")
    with pytest.raises(ToolError, match="enough") as caught:
        context.check()
    assert caught.value.code == "cancelled"
    late = Context(deadline=0.0)
    assert late.remaining() == 0
    with pytest.raises(ToolError, match="time"):
        late.check()


def test_progress_is_told_to_who_listens() -> None:
    heard: list[Progress] = []
    Context().report("nobody")
    Context(on_progress=heard.append).report("half", 1, 2)
    assert heard == [Progress("half", 1, 2)]
