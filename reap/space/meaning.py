"""What is decided, in plain words: who the person is, what they applied for, and what a yes means.

In a file it stands under ``[space]``, in other languages in a table beside it::

    [space]
    about = "You asked a bank for a loan, and it said no."
    yes = "the bank would lend you the money"
    ready = "Ask the bank again {time}"

    [space.de]
    title = "Kredit in Deutschland"
    yes = "würde Ihnen die Bank den Kredit geben"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reap._errors import InputError, unknown
from reap.language import LANGUAGES, _, current, ngettext

WORDS = ("about", "yes", "ready")


@dataclass(frozen=True)
class Meaning:
    """The words for a decision, in the language in use where it has some.

    Parameters
    ----------
    about : str
        A sentence or two to the person: who they are, what they applied for.
    yes : str
        What a yes means, as a clause without a full stop: "the bank would lend you the money". Something stands before it
        ("either way"), so that in German it begins with its verb.
    ready : str
        What the person does once all is done, in a few words without a full stop, with ``{time}`` ("in 3 months", "at
        once") where the time stands: "Ask the bank again {time}".
    translations : mapping of language to words
        The same words, and the ``title`` of the space.

    Examples
    --------
    >>> from reap.language import speaking
    >>> loan = Meaning(yes="you would get the loan", translations={"es": {"yes": "obtendría el préstamo"}})
    >>> with speaking("es"):
    ...     print(loan.said("yes"))
    obtendría el préstamo
    """

    about: str = ""
    yes: str = ""
    ready: str = ""
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("[space]", {word: getattr(self, word) for word in WORDS})
        for language, words in self.translations.items():
            if language not in LANGUAGES:
                raise unknown("language of [space]", language, LANGUAGES)
            _check(f"[space.{language}]", words, ("title", *WORDS))

    def said(self, word: str) -> str:
        """Return "about", "yes" or "ready" in the language in use, else as the file has it; empty where it says nothing."""
        own: str = getattr(self, word)
        return self.translations.get(current(), {}).get(word, own)

    def after(self, months: int) -> str:
        """Return what the person does after so many months; where the space does not say, how long that takes.

        Examples
        --------
        >>> Meaning(ready="Ask the bank again {time}").after(3), Meaning().after(1)
        ('Ask the bank again in 3 months', 'This takes 1 month')
        """
        if said := self.said("ready"):
            return said.replace("{time}", in_time(months))
        if not months:
            return _("This can be done at once")
        return ngettext("This takes {n} month", "This takes {n} months", months).format(n=months)


def in_time(months: int) -> str:
    """Return "in 3 months", or "at once"."""
    return ngettext("in {n} month", "in {n} months", months).format(n=months) if months else _("at once")


def _check(where: str, words: object, known: Sequence[str] = WORDS) -> None:
    if not isinstance(words, Mapping):
        raise InputError(f"{where} is {words!r}; it must be a table")
    for word, said in words.items():
        if word not in known:
            raise unknown(f"word in {where}", word, known)
        if not isinstance(said, str):
            raise InputError(f"{word} in {where} is {said!r}; it must be text")
        if word == "ready" and said and said.count("{time}") != 1:
            raise InputError(f"ready in {where} is {said!r}; say where the time stands, once, by {{time}}")
