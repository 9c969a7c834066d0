"""The explorer as a web application: which page answers to which address, and how it is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, get_args
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..vault.errors import ZibaldoneError
from . import (
    audit,
    browsing,
    context,
    editing,
    journal,
    memory,
    reading,
    reviewing,
    ruling,
    settings,
)
from .guard import FILE_POLICY, Door, Guard, cookie_header
from .live import stream
from .pages import Pages
from .status import status_of
from .visit import Answer, File, Handler, House, Language, Page, Theme, Visit
from .words import preferred

LONGEST_FORM = 10 * 1024 * 1024
FIELDS = 40
"""Bytes and fields of a form at most."""

GET: Final[dict[str, Handler]] = {
    "/": browsing.feed_page,
    "/tree": browsing.tree_page,
    "/tree/{folder:path}": browsing.tree_page,
    "/tags": browsing.tags_page,
    "/tags/{tag:path}": browsing.tag_page,
    "/search": browsing.search_page,
    "/n/{id}": reading.note_page,
    "/n/{id}/edit": editing.edit_page,
    "/file/{file:path}": browsing.file_page,
    "/m": memory.lens_page,
    "/m/{id}": memory.category_page,
    "/m/{id}/{observation}": memory.fact_page,
    "/journal": journal.journal_page,
    "/journal/{id}": journal.note_journal_page,
    "/journal/{id}/{revision}": journal.revision_page,
    "/review": reviewing.review_page,
    "/trash": journal.trash_page,
    "/purge": journal.purge_page,
    "/agents/context": context.context_page,
    "/agents/audit": audit.audit_page,
    "/agents/audit/{moment}": audit.moment_page,
    "/agents/questions": audit.questions_page,
    "/agents/rules": ruling.rules_page,
    "/help": settings.help_page,
}
POST: Final[dict[str, Handler]] = {
    "/settings": settings.change,
    "/n/{id}/edit": editing.save_note,
    "/m/{id}/mute": memory.mute_category,
    "/m/{id}/name": memory.name_fact,
    "/m/{id}/rename": memory.rename_label,
    "/m/{id}/{observation}/edit": memory.edit_fact,
    "/m/{id}/{observation}/forget": memory.forget_fact,
    "/m/{id}/{observation}/confirm": memory.confirm_fact,
    "/m/{id}/{observation}/restore": journal.restore_fact,
    "/journal/{id}/restore": journal.restore_revision,
    "/review/accept": reviewing.accept_proposal,
    "/review/reject": reviewing.reject_proposal,
    "/agents/context/pin": context.pin_note,
    "/agents/context/unpin": context.unpin_note,
    "/agents/context/mute": context.mute_note,
    "/revert": journal.revert_agent,
    "/purge": journal.purge_words,
}


def application(house: House, door: Door) -> ASGIApp:
    """Return the explorer of one vault, guarded."""
    site = _Site(house, door, Pages())
    routes = [Route(path, site.shows(page), methods=["GET"]) for path, page in GET.items()]
    routes += [Route(path, site.does(action), methods=["POST"]) for path, action in POST.items()]
    routes.append(Route("/static/{version}/{name}", site.static, methods=["GET"]))
    routes.append(Route("/live", site.live, methods=["GET"]))
    failures: dict[Any, Any] = {HTTPException: site.http_failure, Exception: site.failure}
    app = Starlette(routes=routes, exception_handlers=failures)
    return Guard(app, door)


class _Site:
    """Makes visits of requests, and responses of answers."""

    def __init__(self, house: House, door: Door, pages: Pages) -> None:
        self._house, self._door, self._pages = house, door, pages

    def shows(self, page: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that shows a page and changes nothing."""

        async def endpoint(request: Request) -> Response:
            visit = self._visit(request, {})
            return await run_in_threadpool(self._answered, page, visit)

        return endpoint

    def does(self, action: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that takes a form of ours, and no other."""

        async def endpoint(request: Request) -> Response:
            form = await _form(request)
            visit = self._visit(request, form)
            if form.get("csrf") != visit.csrf:
                return await run_in_threadpool(self._answered, _stale, visit)
            return await run_in_threadpool(self._answered, action, visit)

        return endpoint

    async def static(self, request: Request) -> Response:
        """Send a file that comes with the explorer; its address changes with its content."""
        file = self._pages.static.get(request.path_params["name"])
        if file is None or request.path_params["version"] != self._pages.version:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(file.data, media_type=file.media_type, headers=headers)

    async def live(self, request: Request) -> Response:
        """Tell a page what changes, for as long as it is open."""
        return stream(request, self._house, lens=self._kept(request, "lens") == "on")

    async def http_failure(self, request: Request, failure: Exception) -> Response:
        """Answer an address that is none, or a method that it does not know."""
        status = failure.status_code if isinstance(failure, HTTPException) else 500
        page = failure_page(status)
        return await run_in_threadpool(self._answered, lambda _: page, self._visit(request, {}))

    async def failure(self, request: Request, _failure: Exception) -> Response:
        """Answer a fault of the explorer itself, which the server logs."""
        page = failure_page(HTTPStatus.INTERNAL_SERVER_ERROR)
        return await run_in_threadpool(self._answered, lambda _: page, self._visit(request, {}))

    def _visit(self, request: Request, form: dict[str, str]) -> Visit:
        kept = {name: self._kept(request, name) for name in settings.CHOICES}
        language = kept["language"] or preferred(request.headers.get("accept-language", ""))
        query = request.url.query
        return Visit(
            house=self._house,
            path=dict(request.path_params),
            query=dict(request.query_params),
            form=form,
            lens=kept["lens"] == "on",
            language=_chosen(Language, language, "en"),
            theme=_chosen(Theme, kept["theme"], "auto"),
            csrf=request.scope["zib.csrf"],
            address=quote(request.url.path) + (f"?{query}" if query else ""),
        )

    def _kept(self, request: Request, name: str) -> str:
        cookies: dict[str, str] = request.scope["zib.cookies"]
        return cookies.get(self._door.cookie(name), "")

    def _answered(self, handler: Handler, visit: Visit) -> Response:
        if visit.lens:
            self._house.uses.warm()
        try:
            visit = replace(visit, change=self._house.news.now())
            answer = handler(visit)
        except ZibaldoneError as error:
            answer = error_page(error)
        return self._response(answer, visit)

    def _response(self, answer: Answer, visit: Visit) -> Response:
        if isinstance(answer, Page):
            return HTMLResponse(self._pages.render(answer, visit), status_code=answer.status)
        if isinstance(answer, File):
            return _file(answer)
        response = RedirectResponse(answer.address, status_code=HTTPStatus.SEE_OTHER)
        for name, value in answer.keep.items():
            cookie = cookie_header(self._door.cookie(name), value, keep=True)
            response.raw_headers.append((b"set-cookie", cookie))
        return response


def _chosen(choices: Any, value: str, default: str) -> Any:
    return value if value in get_args(choices) else default


def _file(answer: File) -> Response:
    return FileResponse(
        answer.path,
        media_type=answer.media_type,
        filename=answer.name,
        content_disposition_type="inline" if answer.inline else "attachment",
        headers={"content-security-policy": FILE_POLICY, "cache-control": "no-cache"},
    )


async def _form(request: Request) -> dict[str, str]:
    """Read a form as browsers send it by default. Raises `HTTPException` for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > LONGEST_FORM:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    try:
        pairs = parse_qsl(
            data.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict"
        )
    except ValueError as problem:
        raise HTTPException(HTTPStatus.BAD_REQUEST) from problem
    # Browsers send line ends as CR LF, whatever a note has.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _stale(_visit: Visit) -> Page:
    return Page("stale.html", {}, HTTPStatus.FORBIDDEN)


def error_page(error: ZibaldoneError) -> Page:
    """Return the page that says what failed and what to do."""
    return failure_page(status_of(error), error)


def failure_page(status: int, error: ZibaldoneError | None = None) -> Page:
    """Return the page of a failure. What is hidden and what is not there read the same."""
    shown = None if status == HTTPStatus.NOT_FOUND else error
    return Page("failure.html", {"status": int(status), "error": shown}, int(status))
