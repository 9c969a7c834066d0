"""What counts beside words: the type that a question asks for, age, and whose words it is."""

import datetime as dt

import pytest
from zibaldone.indexer.catalog import Names
from zibaldone.indexer.index import Hit
from zibaldone.indexer.passages import Passage
from zibaldone.tools.bundle.weights import FADING, HALF_LIFE, authority, types_asked, weight
from zibaldone.tools.provenance import Provenance

DAY = dt.date(2026, 11, 15)
HOW, WHO, NEITHER = {"procedural"}, {"identity"}, set()


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("How do we deploy?", HOW),
        ("I forgot how to deploy", HOW),
        ("steps: how and who", HOW | WHO),
        ("Who is Rosa", WHO),
        ("whose turn is it", WHO),
        ("¿Cómo se despliega?", HOW),
        ("como se despliega", HOW),
        ("¿Quién lleva la caja?", WHO),
        ("Comment déployer ?", HOW),
        ("Qui est Rosa ?", WHO),
        ("Wie wird ausgeliefert?", HOW),
        ("Wer ist Rosa", WHO),
        ("Como se publica?", HOW),
        ("Quem é a Rosa?", WHO),
        ("怎么部署", HOW),
        ("罗莎是谁", WHO),
        ("how many replicas", NEITHER),
        ("wie viele Server", NEITHER),
        ("trabaja como carpintera", NEITHER),
        ("deploy to production", NEITHER),
        ("show the shower", NEITHER),
        ("", NEITHER),
    ],
)
def test_the_words_of_a_question_tell_which_type_it_asks_for(query, asked):
    assert types_asked(query) == asked


def hit(row, *, is_observation=True, **facts):
    passage = Passage("", 0, 1, 0, is_observation=is_observation, **facts)
    return Hit(row, 1, passage, "words", 1.0)


class Row:
    """What `weights` wants of a row of the catalog."""

    kind = ""
    names = str(Names(True, rests=(("d1", "a1"),)))


def weigh(asked=(), date="2026-11-15T00:00:00Z", **facts):
    return weight(hit(Row, **facts), date, frozenset(asked), DAY)


def test_a_type_that_is_asked_for_counts_more_and_nothing_else_does():
    assert weigh(HOW, type="procedural") > 1
    assert weigh(HOW, type="identity") == weigh(WHO, type="procedural") == 1
    assert weigh(HOW, is_observation=False) == weigh(HOW, type="another") == 1


def test_only_the_episodic_fades_and_never_wholly():
    old = "2026-08-17T00:00:00Z"
    assert (DAY - dt.date(2026, 8, 17)).days == HALF_LIFE
    assert weigh(type="episodic") == 1
    assert weigh(type="episodic", date=old) == pytest.approx(1 - FADING / 2)
    assert weigh(type="episodic", date="1990-01-01T00:00:00Z") == pytest.approx(1 - FADING)
    assert weigh(type="episodic", date="2030-01-01T00:00:00Z") == 1, "a clock may go ahead"
    assert weigh(type="semantic", date=old) == weigh(type="procedural", date=old) == 1


def test_what_expires_within_days_counts_a_little_less():
    assert weigh(expires="2026-11-16") == 0.9
    assert weigh(expires="2027-11-16") == weigh(expires="") == 1


def test_authority_falls_from_the_owner_to_nobody():
    def rank(origin, observation="", kind="", **facts):
        row = type("Ruled", (Row,), {"kind": kind})
        return authority(hit(row, observation=observation, **facts), Provenance(origin, "", 1))

    ranks = [
        rank("owner"), rank("system"), rank("agent", "a1"), rank("agent", "d1"),
        rank("untrusted", "a1"),
    ]  # fmt: skip
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    assert rank("agent", "r1", kind="rules") == rank("owner", "d1") == rank("owner")
    assert rank("agent", kind="rules", is_observation=False) == rank("agent"), "no rule"
    assert rank("untrusted", "d1") == rank("untrusted", "a1")
