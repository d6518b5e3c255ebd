"""The pages for people."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

router = APIRouter()


def error_page(request: Request, status: int, sentence: str) -> Response:
    """Return an error as a page."""
    return PlainTextResponse(sentence, status)
