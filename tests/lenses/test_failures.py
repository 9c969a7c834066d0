"""What failures say in Spanish: every one that the explorer can show."""

import dataclasses
from string import Formatter

import pytest
from zibaldone.lenses.spanish_failures import FAILURES, in_spanish
from zibaldone.lenses.words import Words
from zibaldone.tools import refusals
from zibaldone.vault import errors

# Their callers are agents or programs, and the explorer calls nothing that raises them.
OF_AGENTS = {
    errors.SectionNotFound, errors.SectionAmbiguous, errors.TextNotFound, errors.TextNotUnique,
    refusals.ClientReadOnly, refusals.ClientUntrusted, refusals.EventUnknown,
    refusals.MemoryNameRefused, refusals.MemoryUndeclared, refusals.ReceiptRefused,
}  # fmt: skip
KINDS = [
    kind
    for kind in {**vars(errors), **vars(refusals)}.values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in OF_AGENTS
]
SAMPLES = {"int": 3, "float": 3.0, "tuple[str, ...]": ("one", "two"), "str": "x/y.md"}


def made(kind, *, bare):
    """A failure with every fact, or with those alone that it has to have."""
    facts = {}
    for field in dataclasses.fields(kind):
        if not bare or field.default is dataclasses.MISSING:
            facts[field.name] = SAMPLES[str(field.type).removesuffix(" | None")]
    if kind is refusals.OwnerOnly:
        facts["how"] = kind.how
    return kind(**facts)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_failure_is_told_in_spanish(kind):
    for bare in (True, False):
        failure = made(kind, bare=bare)
        both = in_spanish(str(failure))
        for english in (failure.sentence, failure.next_step):
            spanish = in_spanish(english)
            assert spanish != english and spanish in both
            assert ("x/y.md" in spanish) == ("x/y.md" in english)


def test_both_languages_have_the_same_places_for_facts():
    for english, spanish in FAILURES.items():
        assert english.count("{}") == sum(
            1 for part in Formatter().parse(spanish) if part[1] is not None
        )


def test_the_reason_within_a_sentence_is_told_too():
    told = in_spanish(str(errors.CategoryRefused("a/b", "it holds one of [ ] |", ("Tea",))))
    assert (
        told == "'a/b' no puede ser una categoría: contiene uno de [ ] |. Categorías que hay: Tea."
    )
    told = in_spanish(str(errors.InvalidArgument("since", "'x' is no time like 2027-01-31T09:00")))
    assert told.startswith("El campo 'since': 'x' no es una hora como 2027-01-31T09:00. Corrígelo")
    nested = errors.NoteUnusable(
        "It. md", "the frontmatter cannot be read: it is larger than 64 KB"
    )
    assert "la cabecera no se puede leer: ocupa más de 64 KB" in in_spanish(nested.sentence)


def test_words_that_are_not_known_stay_as_they_are():
    for text in ("", "Something else.", "Something else. Call again in a moment.", "a. " * 200):
        assert in_spanish(text) == text
    assert Words("en").failure("it is blank") == "it is blank"
    assert Words("es").failure("it is blank") == "está en blanco"


def test_a_page_tells_it(explored):
    site = explored({"Odd.md": "---\nid: ddddddddddd1\na: 1\na: 2\n---\nx\n"})
    spanish = {"Accept_Language": "es"}
    assert "la cabecera tiene dos veces la clave" in site.get("/n/ddddddddddd1", **spanish).text
    site.post("/settings", language="es")
    page = site.post("/settings", theme="pink").text
    assert "Corrígelo y vuelve a intentarlo." in page and "Argument" not in page
