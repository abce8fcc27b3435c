"""Other libraries' faces over trigate's decoder: same names, same signatures, the events of the standard.

One module for each face, none of them loaded by `import trigate`:

httpx_sse   httpx-sse's EventSource, connect_sse and aconnect_sse; over httpx and httpx2
httpx2      httpx2's own EventSource, and clients whose sse() gives it
sseclient   sseclient-py's SSEClient and Event
aiohttp     an async iterator over an aiohttp response
openai      patch() puts the decoder under the openai SDK's clients; anthropic and mcp do so for theirs
shadow      two decoders on the same bytes, and what differs
"""

from __future__ import annotations
