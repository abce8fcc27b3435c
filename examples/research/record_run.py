"""Writes runs/answered.jsonl again: the run that cli.py replays. Needed after a change of the notes or the tools."""

from __future__ import annotations

from assistant import HERE, make_agent, new_values
from notebook import Notebook
from scripted import ScriptedModel, round_of

from trigate.agent import RunRecord

QUESTION = "延时任务 故障 恢复"
ANSWER = (
    "执行者倒下后，租约到期而没有结果的任务状态是“不明”，不能自动重跑：没有副作用的可以重做，有副作用的要先查证。"
    "领取时发递增的令牌，写入只认最新的，结果与状态在同一事务里写。恢复时先清点“不明”的任务，"
    "再按到期时间从早到晚限速放出积压。"
)


def main() -> None:
    path = HERE / "runs" / "answered.jsonl"
    path.unlink(missing_ok=True)
    note = Notebook(HERE).read("failure-and-recovery")
    cited = [{"name": note.name, "version": note.version}]
    model = ScriptedModel(
        [
            round_of(1, ("toolu_1", "search_notes", {"query": QUESTION})),
            round_of(2, ("toolu_2", "read_note", {"name": note.name})),
            round_of(3, ("toolu_3", "submit_answer", {"answer": ANSWER, "citations": cited})),
        ]
    )
    with RunRecord(path) as record:
        result = make_agent(model).run(QUESTION, record=record, values=new_values())
    print(result.status, path.name)


if __name__ == "__main__":
    main()
