"""A tool's definition: the schema from types, the strict reading of arguments, and what is refused when it is made."""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pytest

from tool_calls import custom, judged, run, told
from trigate.tools import Context, Tool, Toolset, judge, tool


class Line(msgspec.Struct):
    """Allows unknown members by itself: the tools do not."""

    sku: str
    count: Annotated[int, msgspec.Meta(ge=1)]


@dataclasses.dataclass
class Address:
    city: str
    zip: str = ""


class Extra(TypedDict, total=False):
    gift: bool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square"):
    side: float
    lines: list[Line] = []


class Point(NamedTuple):
    x: int
    y: int


ORIGIN = Point(0, 0)


class Node(msgspec.Struct):
    value: int
    below: list[Node] = []


@tool(read_only=True)
def order(
    lines: Annotated[list[Line], msgspec.Meta(description="what to send")],
    to: Address,
    unit: Literal["kg", "lb"] = "kg",
    note: str | None = None,
    extra: Extra | None = None,
    *,
    context: Context,
) -> str:
    """Orders things."""
    return f"{len(lines)} to {to.city} in {unit}, {note}, {extra}, {context.scope}"


@tool
def shape(of: Circle | Square, colour: Colour = Colour.RED, at: Point = ORIGIN) -> Any:
    return of, colour, at


@tool
def tree(root: Node, weights: dict[str, float] | None = None) -> Any:
    return root, weights


# -- the schema ----------------------------------------------------------------------------------------


def test_the_schema_is_that_of_the_types() -> None:
    assert order.name == "order"
    assert order.description == "Orders things."
    schema = order.parameters
    assert schema["type"] == "object"
    assert schema["required"] == ["lines", "to"]
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ["lines", "to", "unit", "note", "extra"]
    assert schema["properties"]["lines"]["description"] == "what to send"
    assert schema["properties"]["unit"] == {"enum": ["kg", "lb"], "default": "kg"}
    for name in ("Line", "Address", "Extra"):
        assert schema["$defs"][name]["additionalProperties"] is False


def test_the_schemas_are_ones_and_take_what_the_types_take() -> None:
    validators = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    good = {"lines": [{"sku": "a", "count": 1}], "to": {"city": "Bonn"}}
    validator = validators.Draft202012Validator(order.parameters)
    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"x": 1})
    assert not validator.is_valid({"lines": [{"sku": "a", "count": 1, "x": 1}], "to": {"city": "Bonn"}})
    assert validators.Draft202012Validator(tree.parameters).is_valid(
        {"root": {"value": 1, "below": [{"value": 2}]}}
    )


def test_a_function_runs_with_what_was_given() -> None:
    arguments = {"lines": [{"sku": "a", "count": 2}], "to": {"city": "Bonn"}, "note": "soon"}
    judgment = judged(order, arguments)
    assert judgment.allowed
    assert judgment.arguments == {"lines": [Line("a", 2)], "to": Address("Bonn"), "note": "soon"}
    assert order.run(judgment.arguments, Context(scope="me")) == "1 to Bonn in kg, soon, None, me"


def test_types_are_read_as_such() -> None:
    arguments = {"of": {"type": "square", "side": 1}, "colour": "blue", "at": [1, 2]}
    assert run(shape, **arguments) == (Square(1.0), Colour.BLUE, Point(1, 2))
    assert run(tree, root={"value": 1, "below": [{"value": 2}]}, weights={"a": 1})[0].below[0].value == 2


def test_a_recursive_type_as_the_parameters() -> None:
    made = Tool(name="t", function=lambda node: node, parameters=Node)
    assert made.parameters["properties"]["below"]["items"] == {"$ref": "#/$defs/Node"}
    assert run(made, value=1, below=[{"value": 2}]) == Node(1, [Node(2)])
    assert (
        told(judged(made, {"value": 1, "below": [{"value": 2, "x": 1}]}))["problems"][0]["path"]
        == "$.below[0].x"
    )


# -- strictness ----------------------------------------------------------------------------------------

LINE = {"sku": "a", "count": 1}


def order_of(count: Any) -> dict[str, Any]:
    return {"lines": [{"sku": "a", "count": count}], "to": {"city": "x"}}


MISFITS: list[tuple[Tool, Any, list[tuple[str, str, str]]]] = [
    (order, {"lines": [LINE]}, [("$.to", "object, with city", "nothing: the member is missing")]),
    (
        order,
        {"lines": [{"sku": 5, "count": 1}], "to": {"city": "x"}, "unit": "st", "more": 1},
        [
            ("$.more", "only the members lines, to, unit, note, extra", "an unknown member"),
            ("$.lines[0].sku", "string", "5"),
            ("$.unit", 'one of "kg", "lb"', '"st"'),
        ],
    ),
    (
        order,
        {"lines": [LINE | {"x": 1}], "to": {"city": "x", "street": "y"}, "extra": {"gift": True, "z": 0}},
        [
            ("$.lines[0].x", "only the members sku, count", "an unknown member"),
            ("$.to.street", "only the members city, zip", "an unknown member"),
            ("$.extra.z", "only the members gift", "an unknown member"),
        ],
    ),
    *(
        (order, order_of(count), [("$.lines[0].count", "integer, at least 1", found)])
        for count, found in ((0, "0"), ("1", '"1"'), (True, "true"), (1.5, "1.5"), (None, "null"))
    ),
    (
        order,
        {"lines": {}, "to": []},
        [
            ("$.lines", "array", "an object with 0 members"),
            ("$.to", "object, with city", "an array of 0 items"),
        ],
    ),
    (
        order,
        {"lines": None, "to": {"city": None}},
        [("$.lines", "array", "null"), ("$.to.city", "string", "null")],
    ),
    (
        shape,
        {"of": {"type": "square", "side": 1, "lines": [LINE | {"y": 1}]}},
        [("$.of.lines[0].y", "only the members sku, count", "an unknown member")],
    ),
    (
        tree,
        {"root": {"value": 1, "below": [{"value": 1, "below": [{"value": 2, "q": 0}]}]}},
        [("$.root.below[0].below[0].q", "only the members value, below", "an unknown member")],
    ),
]


@pytest.mark.parametrize(("made", "arguments", "findings"), MISFITS)
def test_what_does_not_fit_is_told(made: Tool, arguments: Any, findings: list[tuple[str, str, str]]) -> None:
    judgment = judged(made, arguments)
    assert not judgment.allowed
    assert judgment.arguments is None
    assert judgment.valid.answer == "no"
    assert judgment.permitted.answer == "not_asked"
    message = told(judgment)
    assert message["error"] == "invalid_arguments"
    assert [(each["path"], each["expected"], each["found"]) for each in message["problems"]] == findings


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        (shape, {"of": {"type": "triangle"}}),
        (shape, {"of": {"side": 1}}),
        (shape, {"of": 5}),
        (shape, {"of": {"type": "circle", "radius": 1}, "colour": "green"}),
        (shape, {"of": {"type": "circle", "radius": 1}, "at": [1]}),
        (shape, {"of": {"type": "circle", "radius": 1}, "at": {"x": 1, "y": 1}}),
        (tree, {"root": {"value": 1}, "weights": {"a": "x"}}),
        (tree, {"root": {"value": 1}, "weights": {"a.b[0]": "x"}}),
        (tree, {"root": {"value": 1, "below": {}}}),
    ],
)
def test_other_misfits_are_told_with_a_place_and_words(made: Tool, arguments: Any) -> None:
    (finding,) = told(judged(made, arguments))["problems"]
    assert finding["path"].startswith("$.")
    assert finding["expected"]
    assert finding["found"]


def test_findings_are_bounded() -> None:
    message = told(judged(order, {f"x{number}": 1 for number in range(50)}))
    assert len(message["problems"]) == 10
    assert message["more_problems"] == 42  # fifty unknown ones and two that are missing


def test_values_are_shortened_and_secrets_not_shown() -> None:
    @tool
    def login(password: int, text: int, api_key: Literal["a"], count: int) -> None:
        """Logs in."""

    big = 10**400
    arguments = {"password": "hunter2", "text": "x" * 5000, "api_key": "sk-1", "count": [big]}
    found = [each["found"] for each in told(judged(login, arguments))["problems"]]
    assert found == [
        "a string, not shown",
        f'"{"x" * 20}"... (5000 characters)',
        "a string, not shown",
        "an array of 1 item",
    ]
    assert "hunter2" not in str(told(judged(login, arguments)))


def test_a_type_s_own_check_is_a_misfit() -> None:
    made = Tool(name="t", function=lambda value: value, parameters=Checked)
    (finding,) = told(judged(made, {"low": 2, "high": 1}))["problems"]
    assert finding["path"] == "$"
    assert "low is above high" in finding["expected"]


class Checked(msgspec.Struct):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


# -- plain JSON Schema -----------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": ["integer", "null"], "maximum": 14},
        "where": {"$ref": "#/$defs/where"},
        "unit": {"const": "C"},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"where": {"type": "array", "prefixItems": [{"type": "number"}], "items": {"type": "string"}}},
}


def test_a_plain_schema_is_checked() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    made = Tool(name="weather", function=lambda arguments: arguments, parameters=SCHEMA)
    assert made.parameters == SCHEMA
    assert made.parameters is not SCHEMA
    assert run(made, city="Bonn", days=None) == {"city": "Bonn", "days": None}
    message = told(judged(made, {"days": 15, "where": ["x", 2], "unit": "F", "z": 0}))
    assert {(each["path"], each["expected"], each["found"]) for each in message["problems"]} == {
        ("$.city", "string, length at least 1", "nothing: the member is missing"),
        ("$.days", "integer or null, at most 14", "15"),
        ("$.where[0]", "number", '"x"'),
        ("$.where[1]", "string", "2"),
        ("$.unit", '"C"', '"F"'),
        ("$.z", "only the members city, days, where, unit", "an unknown member"),
    }


def test_a_keyword_without_plain_words_is_told_too() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    made = Tool(
        name="t",
        function=print,
        parameters={"type": "object", "not": {"required": ["a"]}, "propertyNames": {"maxLength": 3}},
    )
    assert {each["path"] for each in told(judged(made, {"a": 1, "long name": 2}))["problems"]} >= {"$"}
    itself: Any = {"type": "object", "anyOf": [{"$ref": "#"}, True, {"type": "object"}], "maxProperties": 0}
    assert (
        told(judged(Tool(name="t", function=print, parameters=itself), {"a": 1}))["problems"][0]["path"]
        == "$"
    )
    slashed = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y"}},
        "$defs": {"x/y": {"type": "null"}},
    }
    named = Tool(name="t", function=print, parameters=slashed)
    assert told(judged(named, {"a": 1}))["problems"][0]["expected"] == "null"
    hidden = Tool(name="t", function=print, parameters={"type": "object", "properties": {"a": False}})
    assert told(judged(hidden, {"a": 1}))["problems"][0]["path"] == "$.a"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {},
        {"type": "object", "properties": {"a": {"type": "word"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_wrong_schema_is_found_when_the_tool_is_made(schema: Any) -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    with pytest.raises(ValueError, match=r"(?i)schema"):
        Tool(name="t", function=print, parameters=schema)


def test_a_reference_out_of_the_schema_is_not_fetched() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    for place in ("https://127.0.0.1:9/x.json", "file:///etc/passwd"):
        schema = {"type": "object", "properties": {"a": {"$ref": place}}}
        with pytest.raises(ValueError, match="nothing is fetched"):
            Tool(name="t", function=print, parameters=schema)


def test_without_jsonschema_rs_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(ImportError, match=r"trigate\[schema\]"):
        Tool(name="t", function=print, parameters=SCHEMA)


def test_large_arguments_that_are_wrong_all_over_cost_little() -> None:
    """The first fault is told; with each of a million told, it would be minutes."""
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    items = {"type": "array", "items": {"type": "integer"}}
    made = Tool(name="t", function=print, parameters={"type": "object", "properties": {"a": items}})
    text = '{"a":[' + '"x",' * 500_000 + '"x"]}'
    message = told(judged(made, text))
    assert message["problems"] == [{"path": "$.a[0]", "expected": "integer", "found": '"x"'}]
    typed = Tool(name="t", function=lambda value: value, parameters=Node)
    message = told(judged(typed, '{"value":1,"below":[' + '{"value":1,"x":1},' * 50_000 + '{"value":1}]}'))
    assert (len(message["problems"]), message["more_problems"]) == (10, 990)


def test_a_pattern_that_goes_back_without_end_is_bounded() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    word = {"type": "string", "pattern": "^(?=(a+)+$)b"}
    made = Tool(name="t", function=print, parameters={"type": "object", "properties": {"a": word}})
    assert not judged(made, {"a": "a" * 5000 + "!"}).allowed


# -- custom tools ----------------------------------------------------------------------------------------


def test_a_custom_tool_takes_free_text() -> None:
    made = Tool(name="shell", kind="custom", function=lambda text: text.upper(), read_only=True)
    judgment = judge(custom("shell", "not { json"), Toolset([made]))
    assert judgment.allowed
    assert made.run(judgment.arguments, Context()) == "NOT { JSON"


def test_half_a_character_of_free_text_is_refused() -> None:
    made = Tool(name="shell", kind="custom", function=print, read_only=True)
    judgment = judge(custom("shell", "rm \ud83d"), Toolset([made]))
    assert told(judgment)["problems"] == [
        {"path": "$", "expected": "whole characters", "found": "half of a surrogate pair"}
    ]


def test_a_custom_tool_where_the_provider_has_none() -> None:
    made = Tool(name="shell", kind="custom", function=lambda text: text)
    assert run(made, input="ls") == "ls"
    paths = [each["path"] for each in told(judged(made, {"text": "ls"}))["problems"]]
    assert paths == ["$.text", "$.input"]
    assert told(judged(made, {"input": 5}))["problems"][0]["expected"] == "string"


def test_free_text_for_a_function_is_not_well_formed() -> None:
    judgment = judge(custom("order", "{}"), Toolset([order]))
    assert judgment.well_formed.answer == "no"
    assert told(judgment)["problems"] == [{"path": "$", "expected": "one JSON object", "found": "free text"}]


# -- what cannot be a tool -------------------------------------------------------------------------------


def test_functions_that_cannot_be_tools() -> None:
    def untyped(city) -> None:  # type: ignore[no-untyped-def]
        del city

    def starred(*cities: str) -> None:
        del cities

    def positional(city: str, /) -> None:
        del city

    def opaque(thing: type[Any]) -> None:
        del thing

    for function in (untyped, starred, positional, opaque):
        with pytest.raises(TypeError, match=function.__name__):
            tool(function)

    class Here(msgspec.Struct):
        a: int

    def local(here: Here) -> None:
        del here

    with pytest.raises(TypeError, match="level of the module"):
        tool(local)
    with pytest.raises(TypeError, match="level of the module"):
        Tool(name="t", function=order.function, fresh=local)
    with pytest.raises(TypeError, match="one JSON object"):
        Tool(name="t", function=print, parameters=list[int])
    with pytest.raises(TypeError, match="one JSON object"):
        Tool(name="t", function=print, parameters=Point)


@pytest.mark.parametrize(
    ("members", "error", "words"),
    [
        ({"name": "has space"}, ValueError, "name is 1 to 64"),
        ({"name": "9lives"}, ValueError, "name is 1 to 64"),
        ({"name": "x" * 65}, ValueError, "name is 1 to 64"),
        ({"name": "名"}, ValueError, "name is 1 to 64"),
        ({"kind": "other"}, ValueError, "kind"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"timeout": float("nan")}, ValueError, "timeout"),
        ({"max_result_bytes": True}, ValueError, "max_result_bytes"),
        ({"max_depth": -1}, ValueError, "max_depth"),
        ({"max_depth": 501}, ValueError, "at most 500"),
        ({"function": 5}, TypeError, "callable"),
        ({"kind": "custom", "parameters": {"type": "object"}}, ValueError, "free text"),
    ],
)
def test_members_that_are_refused(members: dict[str, Any], error: type[Exception], words: str) -> None:
    made: Any = {"name": "t", "function": order.function} | members
    with pytest.raises(error, match=words):
        Tool(**made)


def test_reconcile_and_fresh_are_plain_functions() -> None:
    async def later() -> None: ...

    members: Any
    for members in ({"reconcile": later}, {"fresh": later}):
        with pytest.raises(TypeError, match="plain function"):
            Tool(name="t", function=order.function, **members)


def test_a_tool_does_not_change() -> None:
    with pytest.raises(AttributeError):
        order.name = "other"  # type: ignore[misc]
