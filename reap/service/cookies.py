"""Cookies as headers: for this site alone, or for a frame on the operator's own site, which is another site to the browser."""

from __future__ import annotations

from reap.service.settings import Settings


def written(name: str, value: str, days: int, settings: Settings) -> str:
    """Return a cookie that scripts cannot read.

    Browsers send a cookie to a frame of another site only over TLS, and most only where it is kept apart for that site.

    Examples
    --------
    >>> written("a", "b", 1, Settings())
    'a=b; Path=/; Max-Age=86400; HttpOnly; SameSite=lax'
    >>> written("a", "b", 1, Settings(secure_cookies=True, frame_ancestors=["https://bank.example"]))
    'a=b; Path=/; Max-Age=86400; HttpOnly; SameSite=none; Secure; Partitioned'
    """
    made = f"{name}={value}; Path=/; Max-Age={86400 * days}; HttpOnly"
    if not settings.secure_cookies:
        return f"{made}; SameSite=lax"
    return (
        f"{made}; SameSite=none; Secure; Partitioned"
        if settings.frame_ancestors
        else f"{made}; SameSite=lax; Secure"
    )
