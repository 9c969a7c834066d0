"""Whose words a note holds: the first who brought them in, wherever they have moved since."""

import pytest
from zibaldone.vault.authorship import RUN, Authorship
from zibaldone.vault.ledger import OWNER, SYSTEM
from zibaldone.vault.revision import Actor

AGENT = Actor("planner", origin="agent")
WEB = Actor("web-reader", origin="untrusted")
HERS = b"The harbour log is kept by hand in the blue book.\n"
ITS = b"Deploys wait for the tide table of the coming week.\n"


def authorship(teller, *states):
    """Who wrote a note that had these states, each a pair of its maker and its bytes."""
    told = Authorship()
    for actor, data, *op in states:
        told.add(teller.tell(data, actor=actor, op=op[0] if op else "edit"))
    return told


def test_what_no_record_tells_of_is_the_owners():
    assert Authorship().origin_of("Words.\n\nMore words.") == "owner"
    assert Authorship().weakest == "owner"


def test_each_line_has_the_origin_of_whoever_wrote_it(teller):
    told = authorship(teller, (OWNER, HERS, "baseline"), (AGENT, HERS + ITS))
    assert told.origin_of(HERS.decode()) == "owner"
    assert told.origin_of(ITS.decode()) == "agent"
    assert told.origin_of((HERS + ITS).decode()) == "agent", "the least of all counts"
    assert told.weakest == "agent"
    news = b"A page says that the gates open at noon.\n"
    assert authorship(teller, (WEB, news)).origin_of(news.decode()) == "untrusted"


@pytest.mark.parametrize(
    "edited",
    [
        HERS.replace(b"hand", b"machine"),
        HERS.replace(b"is kept", b"is not kept"),
        HERS.replace(b"by hand ", b""),
        HERS.replace(b".\n", b". Obey.\n"),
        HERS.replace(b"The ", b""),
        HERS.replace(b" in the blue book.", b""),
        HERS.replace(b".", b"?"),
        HERS.replace(b"by hand", b"(by hand)"),
    ],
)
def test_a_line_of_the_owners_that_an_agent_has_changed_is_the_agents(teller, edited):
    told = authorship(teller, (OWNER, HERS), (AGENT, edited), (OWNER, ITS + edited))
    assert told.origin_of(edited.decode()) == "agent"
    assert told.origin_of(HERS.decode()) == told.origin_of(ITS.decode()) == "owner"


def test_an_owner_who_corrects_a_word_of_an_agents_line_does_not_make_it_hers(teller):
    corrected = ITS.replace(b"Deploys", b"Releases")
    told = authorship(teller, (AGENT, ITS), (OWNER, corrected))
    assert told.origin_of(corrected.decode()) == "agent"
    assert told.origin_of("Releases go out on Friday, whatever the tide.") == "owner"


def test_an_owner_who_sets_an_agents_line_in_other_signs_does_not_make_it_hers(teller):
    told = authorship(teller, (AGENT, b"Obey at once.\n"), (OWNER, b"- **Obey** at once!\n"))
    assert told.origin_of("- **Obey** at once!") == "agent"


def test_words_that_come_back_or_move_stay_whose_they_were(teller):
    both = HERS + ITS
    told = authorship(
        teller, (OWNER, HERS), (AGENT, both), (OWNER, b"\n"), (OWNER, both), (AGENT, ITS + HERS)
    )
    assert told.origin_of(HERS.decode()) == "owner"
    assert told.origin_of(ITS.decode()) == "agent"


def test_a_part_of_a_long_line_is_known(teller):
    long = " ".join(f"word{n}" for n in range(400))
    told = authorship(teller, (AGENT, long.encode()))
    assert told.origin_of(long[1001:1600]) == "agent"
    assert told.origin_of(" ".join(long.split()[:RUN])) == "agent"


def test_chinese_is_looked_at_sign_by_sign(teller):
    told = authorship(teller, (OWNER, "港口日志记在蓝色的本子里。\n".encode()))
    told.add(teller.tell("港口日志记在红色的本子里。\n".encode(), actor=AGENT))
    assert told.origin_of("港口日志记在红色的本子里。") == "agent"
    assert told.origin_of("港口日志记在蓝色的本子里。") == "owner"


def test_a_new_beginning_where_words_were_redacted_makes_nothing_the_owners(teller):
    told = authorship(teller, (AGENT, ITS), (SYSTEM, ITS + HERS, "baseline"))
    assert told.origin_of(HERS.decode()) == "agent"
    plain = authorship(teller, (OWNER, ITS), (SYSTEM, ITS + HERS, "baseline"))
    assert plain.origin_of(HERS.decode()) == "owner"
    first = authorship(teller, (OWNER, HERS, "baseline"))
    assert first.origin_of(HERS.decode()) == "owner"
