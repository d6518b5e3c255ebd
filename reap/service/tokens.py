"""Secrets: the token in a person's link, and the signature in a form."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_token() -> str:
    """Return 128 random bits for a link."""
    return secrets.token_urlsafe(16)


def fingerprint(token: str) -> str:
    """Return what is stored of a token: its hash, from which it cannot be guessed.

    Examples
    --------
    >>> len(fingerprint("abc"))
    64
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def sign(secret: str, nonce: str) -> str:
    """Return the signature that a form carries for the browser that holds ``nonce`` in a cookie."""
    return hmac.new(secret.encode(), nonce.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def signed(secret: str, nonce: str, signature: str) -> bool:
    """Return whether a signature is right, in constant time.

    Examples
    --------
    >>> signed("s", "n", sign("s", "n")), signed("s", "n", "guess")
    (True, False)
    """
    return hmac.compare_digest(sign(secret, nonce).encode(), signature.encode("utf-8", "surrogatepass"))


def same(given: str, wanted: str) -> bool:
    """Return whether two secrets are equal, in constant time; an empty one never is."""
    return bool(wanted) and hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
