"""Which language a request is answered in: the person's choice (``?lang=de``, then kept in a cookie), or the browser's."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reap import language
from reap.service.settings import Settings

COOKIE = "reap_language"


def of(request: Request) -> str:
    """Return the language of a request: what the person chose, what the browser asks for, English."""
    for given in (request.query_params.get("lang"), request.cookies.get(COOKIE)):
        if given in language.LANGUAGES:
            return str(given)
    return language.chosen(request.headers.get("accept-language", "")) or "en"


class Speaker:
    """ASGI middleware: what is done inside a request is said in its language."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request in its language; a choice made by link is kept."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        spoken = of(request)
        kept = request.query_params.get("lang") == spoken != request.cookies.get(COOKIE)

        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", []), (b"content-language", spoken.encode())]
                if kept:
                    headers.append((b"set-cookie", self.settings.cookie(COOKIE, spoken, 365).encode()))
                message["headers"] = headers
            await send(message)

        with language.speaking(spoken):
            await self.app(scope, receive, said)
