"""Words, plurals, numbers and dates by language; no message without its translation."""

import io
import re
import string
from datetime import date

import pytest

import reap
from reap import language
from reap.language import LANGUAGES, speaking
from reap.space import Clocks
from scripts import messages

FOREIGN = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(scope="module")
def extracted():
    return messages.extracted()


@pytest.mark.parametrize("code", FOREIGN)
def test_every_message_is_translated(code, extracted):
    known = messages.catalogue(code)
    missing = []
    for message in extracted:
        found = known.get(message.id, message.context) if message.id else None
        given = found.string if found is not None else ""
        if message.id and not (all(given) if isinstance(given, tuple) else given):
            missing.append(message.id)
    assert missing == []  # `make messages`, then fill in reap/locale/<language>.po


@pytest.mark.parametrize("code", FOREIGN)
def test_translations_mention_the_same_things(code, extracted):
    """A translation with another placeholder would fail, or say nothing, when it is shown."""

    def fields(text):
        brace = (
            {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
            if "{" in text
            else set()
        )
        percent = {part.split(")")[0] for part in text.split("%(")[1:]}
        return brace | percent

    for message in messages.catalogue(code):
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        given = message.string if isinstance(message.string, tuple) else (message.string,)
        for place, text in enumerate(given):  # the form for one may do without its number
            assert fields(text) == fields(ids[min(place, len(ids) - 1)]), text


#: What may follow a label: then it is what the sentence is about, not what does something.
AFTER_A_LABEL = {"de": {"von", "bei", "höher", "niedriger"}, "es": {"de", "en"}}


@pytest.mark.parametrize("code", FOREIGN)
def test_a_label_is_never_the_subject_of_a_sentence(code):
    """Labels are singular or plural: "Laufzeit bleibt" is right, "Ersparnisse bleibt" is not; neither has an article."""
    wrong = []
    for message in messages.catalogue(code):
        for text in message.string if isinstance(message.string, tuple) else (message.string,):
            after = re.findall(r"(?:\{label\}|%\(label\)s) (\w+)", text)
            wrong += [text for word in after if word not in AFTER_A_LABEL[code]]
    assert wrong == []


@pytest.mark.parametrize("code", FOREIGN)
def test_quotation_marks_are_those_of_the_language(code):
    opening, closing = {"de": "„“", "es": "«»"}[code]
    with speaking(code):
        assert language.quoted("x") == f"{opening}x{closing}"
    for message in messages.catalogue(code):
        for text in message.string if isinstance(message.string, tuple) else (message.string,):
            assert "”" not in text, text
            assert text.count(opening) == text.count(closing), text


def test_the_language_belongs_to_the_task():
    assert language.current() == "en"
    with speaking("de"):
        assert language.number(1234567.891, 2) == "1.234.567,89"
        with speaking("es"):
            assert language.listed(["a", "b"]) == "a y b"
        assert language.listed(["a", "b"], "or") == "a oder b"
    assert language.number(1234567.891, 2) == "1,234,567.89"


def test_an_unknown_language_is_refused():
    with pytest.raises(reap.InputError, match="there is no language 'fr'"), speaking("fr"):
        pass


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr-CH, es;q=0.5", "es"),
        ("en;q=0.1, es;q=0.2", "es"),
        ("", None),
        ("fr", None),
        ("de;q=0", None),
        ("de;q=much", None),
        (";;;,,,", None),
    ],
)
def test_the_browsers_language(header, code):
    assert language.chosen(header) == code


def test_dates():
    given = date(2027, 3, 5)
    said = {}
    for code in LANGUAGES:
        with speaking(code):
            said[code] = language.month(2027, 3), language.day(given)
    assert said == {
        "en": ("March 2027", "5 March 2027"),
        "de": ("März 2027", "5. März 2027"),
        "es": ("marzo de 2027", "5 de marzo de 2027"),
    }


def test_deadlines():
    """Something is done by a month, not until it."""
    said = {}
    for code in LANGUAGES:
        with speaking(code):
            said[code] = Clocks.when(3, date(2026, 12, 5))
    assert said == {"en": "by March 2027", "de": "bis März 2027", "es": "para marzo de 2027"}


def test_messages_in_f_strings_are_found():
    """Babel's own extractor passes over them: eight of ours were never translated."""
    source = b'print(f"{_(\'in a picture\')}", language.gettext("by name"), ngettext("{n} day", "{n} days", n), _(word))'
    found = [
        message for _, _, message, _ in messages.of_python(io.BytesIO(source), messages.KEYWORDS, [], {})
    ]
    assert sorted(map(str, found)) == sorted(["in a picture", "by name", "('{n} day', '{n} days', None)"])
