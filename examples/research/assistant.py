"""The research assistant: five tools, one complete call a round, and no answer without notes that were read.

Rules
 - It only reads. What it writes is an answer for a person to review.
 - An answer cites notes that were read in this run, by name and version; else it is refused, and the model is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from notebook import Notebook, WrongVersionError

from trigate.agent import Agent, AgentLimits, AgentStatus
from trigate.agent.model import Model
from trigate.tools import Context, Tool, ToolError, Toolset, tool

__all__ = ["ENDINGS", "INSTRUCTIONS", "make_agent", "make_tools", "new_values"]

HERE = Path(__file__).resolve().parent
INSTRUCTIONS = (
    "你是研究助手，只能依据笔记回答。每一轮只调用一个工具：先用 search_notes 查找，再用 read_note 阅读，"
    "读过之后用 submit_answer 提交答案并注明所引笔记的 name 和 version。"
    "需要用户补充时用 request_input；笔记不足以回答时用 report_insufficient。不要直接用文字回答。"
)
#: The tools that end a run, and how.
ENDINGS: dict[str, AgentStatus] = {
    "submit_answer": "awaiting_review",
    "request_input": "needs_input",
    "report_insufficient": "insufficient",
}

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Citation(msgspec.Struct):
    """A note that the answer rests on."""

    name: Text
    version: Text


def new_values() -> dict[str, Any]:
    """What the tools share within one run: the versions of the notes that were read."""
    return {"read": {}}


def make_tools(notebook: Notebook) -> list[Tool]:
    @tool(read_only=True)
    def search_notes(query: Text) -> list[dict[str, str]]:
        """在允许的笔记中查找，词之间用空格分开。"""
        if not query.strip():
            raise ToolError("query is empty: give words to search for", code="not_found")
        return [
            {"name": note.name, "title": note.title, "line": line} for note, line in notebook.search(query)
        ]

    @tool(read_only=True)
    def read_note(name: Text, context: Context) -> dict[str, str]:
        """阅读一篇笔记的全文。"""
        try:
            note = notebook.read(name)
        except KeyError:
            raise ToolError(
                f"no note is named {name}", code="not_found", facts={"names": notebook.names}
            ) from None
        except WrongVersionError:
            raise ToolError(f"{name} is not the version that was allowed", code="stale_version") from None
        context.values["read"][name] = note.version
        return {"name": note.name, "version": note.version, "text": note.text}

    @tool(read_only=True)
    def submit_answer(
        answer: Text, citations: Annotated[list[Citation], msgspec.Meta(min_length=1)], context: Context
    ) -> str:
        """提交答案，交给人审阅。citations 是本次读过、答案所依据的笔记。"""
        read = context.values["read"]
        unread = [each.name for each in citations if read.get(each.name) != each.version]
        if unread:
            raise ToolError(
                "these notes were not read in this run, in that version: " + ", ".join(unread),
                code="not_found",
                facts={"read": read},
                next="Read them with read_note, then submit again.",
            )
        return answer

    @tool(read_only=True)
    def request_input(question: Text) -> str:
        """向用户提一个问题，等待补充。"""
        return question

    @tool(read_only=True)
    def report_insufficient(reason: Text) -> str:
        """说明现有笔记为什么不足以回答。"""
        return reason

    return [search_notes, read_note, submit_answer, request_input, report_insufficient]


def make_agent(
    model: Model,
    limits: AgentLimits | None = None,
    *,
    folder: Path = HERE,
    extra: Mapping[str, Any] | None = None,
) -> Agent:
    """folder: holds the manifest and the notes. extra: see trigate.agent.Agent."""
    return Agent(
        model,
        Toolset(make_tools(Notebook(folder))),
        instructions=INSTRUCTIONS,
        limits=limits,
        endings=ENDINGS,
        extra=extra,
        one_call=True,
    )
