"""The google-genai SDK: generate_content_stream, chunk by chunk."""

from __future__ import annotations

from google import genai
from google.genai import types
from seen import Call, Cell, Seen, serve

HOW = {
    "gemini": "`client.models.generate_content_stream()`; a function call with `name` and "
    "`args` runs: the SDK's automatic function calling runs each of them as its chunk comes"
}


def ask(cell: Cell, seen: Seen) -> None:
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=cell.url, timeout=10_000))
    for chunk in client.models.generate_content_stream(model="m", contents="Hi"):
        for call in chunk.function_calls or []:
            if call.name is not None:
                runs = call.args is not None
                why = "" if runs else "no `args`"
                seen.calls.append(Call(call.id, call.name, call.args, "runs" if runs else "marked", why))
        for candidate in chunk.candidates or []:
            if candidate.finish_reason is not None:
                seen.finish = str(candidate.finish_reason.value)


if __name__ == "__main__":
    serve(ask, ("google-genai",), HOW)
