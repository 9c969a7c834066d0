"""Telling open pages what has changed, as server-sent events, within a second."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from ..vault.errors import ZibaldoneError
from .visit import House

LOOK_SECONDS = 0.25
BEAT_LOOKS = 60
"""Time between two looks, and looks after which a sign of life is sent."""


def stream(request: Request, house: House, *, lens: bool) -> StreamingResponse:
    """Return the news since the state that the request names, and all that follows."""
    given = request.headers.get("last-event-id") or request.query_params.get("since", "")
    since = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else -1
    events = _events(house, since, lens=lens)
    return StreamingResponse(events, media_type="text/event-stream")


async def _events(house: House, since: int, *, lens: bool) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    looks = 0
    while not house.ending.is_set():
        try:
            news = await run_in_threadpool(house.news.since, since)
            now = news[0] if news else await run_in_threadpool(house.news.now)
        except ZibaldoneError:  # An unmounted disk, say: the page itself will tell of it.
            news, now = (since, frozenset(), frozenset()), since
        told = sorted(news[1] | news[2] if lens else news[1]) if news else ["*"]
        if told:
            yield f"id: {now}\ndata: {json.dumps({'notes': told})}\n\n"
        elif looks % BEAT_LOOKS == 0:
            yield f"id: {now}\n: still here\n\n"
        since = now
        looks += 1
        await anyio.sleep(LOOK_SECONDS)
