"""From templates to pages, what forms send, the signature that each of them carries, and the language of a request."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Annotated, Any

from fastapi import Depends, Request
from itsdangerous import Signer
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reap import language
from reap._errors import InputError
from reap.language import N_, _
from reap.service import charts
from reap.service.schemas import KEY
from reap.service.settings import Settings
from reap.space import Feature

COOKIE, LANGUAGE = "reap_browser", "reap_language"
_TITLES = {
    401: N_("Please sign in"),
    403: N_("This page was open too long"),
    404: N_("We could not find that"),
    409: N_("Something has changed"),
    422: N_("That did not work"),
    429: N_("One moment, please"),
    503: N_("That did not work just now"),
}
NOTES = {
    "moved": N_("This question was answered already, perhaps in another window. Here is where you are now."),
    "stale": N_("You said something else in the meantime, so this was not taken. Here is where you are now."),
    "undone": N_("What you said last was taken back."),
    "revised": N_("Your answer was changed."),
    "wished": N_("Your wish is noted. No plan will break it."),
    "noted": N_("Noted. We take that into account."),
    "lifted": N_("The limit is lifted."),
    "chosen": N_("Your choice is noted. Here is your plan."),
    "asked": N_("Your request is noted. Somebody will look at it, and the answer will stand here."),
    "refused": N_("Noted: none of these plans is for you. We show them again only if there is nothing else."),
    "reported": N_("Thank you, that is noted. This is where you stand now."),
    "welcome": N_("Your new situation is noted, and we remember everything you told us."),
}


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("reap.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_callables(  # type: ignore[attr-defined]
        language.gettext, language.ngettext, newstyle=True, pgettext=language.pgettext
    )
    made.globals["LANGUAGES"] = language.LANGUAGES
    made.globals["charts"] = charts
    made.globals["number"] = language.number
    made.filters["typed"] = _typed
    made.filters["sentence"] = as_sentence
    return made


def _typed(value: Any, feature: Feature) -> str:
    """Return a number as it stands in a field; what the person typed wrongly stays as it was."""
    return value or "" if value is None or isinstance(value, str) else language.typed(value)


def as_sentence(text: str) -> str:
    """Return a phrase as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


_pages = _environment()


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page; a browser seen for the first time gets the cookie that its forms are signed for."""
    settings = request.app.state.settings
    nonce = request.cookies.get(COOKIE) or secrets.token_urlsafe(16)
    body = _pages.get_template(template).render(
        csrf=_signer(request).get_signature(nonce).decode(),
        key=secrets.token_urlsafe(12),
        note=language.gettext(NOTES.get(request.query_params.get("note", ""), "")),
        title=request.app.state.desk.case.heading,
        brand=settings.brand,
        failed=status >= 400,
        here=_here(request, template),
        language=language.current(),
        **{"scale": request.app.state.desk.case.scale, **values},
    )
    answer = HTMLResponse(body, status)
    if COOKIE not in request.cookies:
        answer.headers.append("set-cookie", settings.cookie(COOKIE, nonce, 30))
    return answer


def _here(request: Request, template: str) -> str | None:
    """Return where the same is said in another language: this very page (empty); of a form that failed, where it leads back to.

    None for a form that is shown again: what was typed would be lost.
    """
    if request.method in ("GET", "HEAD"):
        return ""  # a link "?lang=de" stays at the address, whatever that is
    return (session_of(request) or "/") if template == "error.html" else None


def error_page(
    request: Request, status: int, sentence: str, headers: dict[str, str] | None = None, over: bool = False
) -> Response:
    """Return an error as a page with one sentence and a way on: to the session, or to its file and deletion where it is over."""
    made = page(
        request,
        "error.html",
        status,
        heading=language.gettext(_TITLES.get(status, N_("Something went wrong"))),
        sentence=as_sentence(sentence),
        session=session_of(request) if status != 404 else "",
        over=over,
        active="",
    )
    made.headers.update(headers or {})
    return made


def session_of(request: Request) -> str:
    """Return the path of the session that a page belongs to; empty where it belongs to none."""
    found = re.match("/s/[A-Za-z0-9_-]+", request.url.path)
    return found[0] if found else ""


def _signer(request: Request) -> Signer:
    """Return what signs the forms of a browser, known by the nonce in its cookie."""
    return Signer(request.app.state.settings.secret, salt="form", digest_method=hashlib.sha256)


async def checked(request: Request) -> FormData:
    """Return a form that this service sent to this browser; refuse any other."""
    form = await request.form(max_files=0, max_fields=500)
    nonce, given = request.cookies.get(COOKIE, ""), form.get("csrf", "")
    if not nonce or not isinstance(given, str) or not _signer(request).verify_signature(nonce, given):
        raise HTTPException(
            403, _("For your safety we did not accept this form. Go back, reload the page and try again.")
        )
    return form


Form = Annotated[FormData, Depends(checked)]


def text(form: FormData, name: str) -> str:
    """Return one field as text; empty where it was not sent."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def texts(form: FormData, name: str) -> list[str]:
    """Return every value of a field, as text."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


def key_of(form: FormData) -> str | None:
    """Return the name of the request that a form makes; one that we cannot have given is refused."""
    given = text(form, "key")
    if given and re.fullmatch(KEY, given) is None:
        raise InputError(_("the key of this form is not one we gave; reload the page and try again"))
    return given or None


def number(form: FormData, name: str) -> int:
    """Return a field as a whole number, −1 where it is none."""
    value = text(form, name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else -1


def go(path: str, note: str = "") -> Response:
    """Send the browser on after a form (POST, redirect, GET)."""
    return RedirectResponse(f"{path}?note={note}" if note else path, 303)


#: Where somebody goes on whose form was overtaken by something said elsewhere; other forms are shown again.
_BACK = {"answer": "questions", "undo": "questions", "revise": "questions", "release": "wishes"}
_BACK |= {"choose": "plan", "refuse": "plan"}


def moved_on(request: Request) -> Response:
    """Send somebody on whose form belongs to a state that has changed since."""
    form = request.url.path.rsplit("/", 1)[-1]
    note = "moved" if form == "answer" else "stale"
    return go(f"{session_of(request)}/{_BACK.get(form, form)}", note)


def link(request: Request, token: str) -> str:
    """Return the link to a session."""
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return f"{base}/s/{token}"


def sent(made: BaseModel, status: int = 200) -> Response:
    """Return a model as the answer; left to the framework, it is checked again first, in one more thread."""
    return Response(made.model_dump_json(), status, media_type="application/json")


def download(content: str | bytes, kind: str, name: str) -> Response:
    """Return a file to keep."""
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


# languages ----------------------------------------------------------------------------------------------


class Speaker:
    """ASGI middleware: what is done inside a request is said in its language.

    That is the person's choice (``?lang=de``, then kept in a cookie), or the browser's, or English.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request in its language; a choice made by link is kept."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        picked, kept = request.query_params.get("lang"), request.cookies.get(LANGUAGE)
        wished = language.chosen(request.headers.get("accept-language", "")) or "en"
        spoken = next((code for code in (picked, kept) if code in language.LANGUAGES), wished)

        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", []), (b"content-language", spoken.encode())]
                if picked == spoken != kept:
                    headers.append((b"set-cookie", self.settings.cookie(LANGUAGE, spoken, 365).encode()))
                message["headers"] = headers
            await send(message)

        with language.speaking(spoken):
            await self.app(scope, receive, said)
