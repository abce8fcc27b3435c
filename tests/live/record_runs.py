"""Writes tests/runs again: `PYTHONPATH=tests python tests/live/record_runs.py`, where the server is installed."""

from __future__ import annotations

from llama_server import MODEL, serving

from agent_runs import APIS, KINDS, RUNS, asked, made
from trigate.agent import DIALECTS, LiveModel, RunRecord


def main() -> None:
    with serving() as (host, port):
        for protocol in APIS:
            model = LiveModel(MODEL, DIALECTS[protocol], base_url=f"http://{host}:{port}/v1")
            for kind in KINDS:
                path = RUNS / f"{kind}-{protocol}.jsonl"
                path.unlink(missing_ok=True)
                agent, values = made(kind, model)
                with RunRecord(path) as record:
                    result = agent.run(asked(kind), record=record, values=values)
                print(path.name, result.status, result.reason, [each.status for each in result.results])


if __name__ == "__main__":
    main()
