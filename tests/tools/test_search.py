"""Search: plain words of any language find passages; no character of a query is an operator."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from zibaldone.tools.search import SNIPPET, search, snippet
from zibaldone.tools.vault import Vault
from zibaldone.vault.errors import CategoryRefused

NOTES = {
    "agent-memory/food.md": "---\nid: a23456789012\n---\n- likes quince jelly #sweet ^q1\n"
    "- quince by hand\n",
    "projects/boat/agent-memory/plans.md": "- quince wood for the keel [origin:: owner] ^k1\n",
    "projects/boat/Hull.md": "---\ntags: [wood]\n---\n# Hull\n\n## Keel\n\nNo quince but oak.\n",
    "Orchard.md": "# Orchard\n\nQuince and pear.\n\n## Winter\n\nQuince again.\n",
}


def paths(answer):
    return [hit.path for hit in answer.results]


def test_memory_is_among_the_hits_with_all_that_is_known_of_it(opened):
    vault = opened(NOTES)
    answer = search(vault, "quince jelly")
    best = answer.results[0]
    assert (best.observation_id, best.snippet, best.origin) == (
        "q1",
        "likes quince jelly #sweet",
        "agent",
    )
    assert (best.note_class, best.category, best.project) == ("agent-memory", "food", None)
    assert best.note_id == "a23456789012"
    assert "sweet" in best.tags
    assert answer.total == 4
    assert not answer.more
    by_hand = next(hit for hit in answer.results if hit.snippet == "quince by hand")
    assert (by_hand.observation_id, by_hand.origin) == (None, "owner")
    section = next(hit for hit in answer.results if hit.heading == "Winter")
    assert (section.path, section.note_class, section.category) == ("Orchard.md", "user-doc", None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", section.modified_at)


def test_project_class_and_category_narrow(opened):
    vault = opened(NOTES)
    assert set(paths(search(vault, "quince", project="BOAT"))) == {
        "projects/boat/agent-memory/plans.md",
        "projects/boat/Hull.md",
    }
    assert set(paths(search(vault, "quince", note_class="user-doc"))) == {
        "Orchard.md",
        "projects/boat/Hull.md",
    }
    assert set(paths(search(vault, "quince", category="Foods"))) == {"agent-memory/food.md"}
    assert paths(search(vault, "quince", project="boat", note_class="agent-memory")) == [
        "projects/boat/agent-memory/plans.md"
    ]
    assert search(vault, "quince", project="nowhere").total == 0
    assert search(vault, "quince", category="nothing").total == 0


@pytest.mark.parametrize("label", ["", "../x", "a/b", "a\nb", "[x]", ".", "x\0"])
def test_sc_01_a_category_that_is_a_path_is_refused(opened, label):
    with pytest.raises(CategoryRefused):
        search(opened(NOTES), "quince", category=label)


def test_the_cut_is_stated(opened):
    vault = opened({"a.md": "".join(f"## Part {n}\n\nquince {n}\n\n" for n in range(5))})
    one = search(vault, "quince", limit=1)
    assert (len(one.results), one.total, one.more) == (1, 1, True)
    assert search(vault, "quince", limit=5).more is False


def test_scores_fall_and_equal_input_gives_equal_output(opened):
    vault = opened(NOTES)
    answers = [search(vault, "quince wood") for _ in range(3)]
    scores = [hit.score for hit in answers[0].results]
    assert scores == sorted(scores, reverse=True)
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("resume noel", "Le résumé de Noël"),
        ("árboles", "Un arbol en el patio"),
        ("canciones", "La canción del mar"),
        ("berries", "One berry pie"),
        ("running", "She runs at dawn"),
        ("C++", "ask about C++ templates"),
        ("max_retry_count", "set max_retry_count to 3"),
        ("retry", "set max_retry_count to 3"),
        ("parseHarbourLog", "call parseHarbourLog then stop"),
        ("harbour", "call parseHarbourLog then stop"),
        ("charts/readme.md", "see charts/readme.md for it"),
        ("km/h", "wind at 30 km/h"),
        ("can't", "can't rely on it"),
        ("4711", "the code is 4711"),
        ("3.14", "pi is 3.14 or so"),
        ("抹茶", "昨日は京都で抹茶を飲みました"),
        ("自行车", "我们在北京买了自行车"),
        ("서울", "오늘은 서울에서 회의"),
        ("MOSCOW", "a letter from Moscow"),
        ("москва", "письмо из Москвы и Москва"),
    ],
)
def test_words_of_many_kinds_are_found(opened, query, text):
    vault = opened({"a.md": f"{text}\n", "b.md": "Something else entirely.\n"})
    assert paths(search(vault, query)) == ["a.md"]


def test_words_that_are_too_common_are_told(opened):
    vault = opened(NOTES)
    assert "too common" in search(vault, "to be or not to be").hint
    assert "no words" in search(vault, "¡!").hint
    assert search(vault, "").results == ()
    assert search(vault, "quince").hint is None


@pytest.fixture(scope="module")
def one_vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queries")
    (folder / "a.md").write_text("# Quince\n\nquince C++ km/h can't *x* [[b]] 100%\n")
    environment = pytest.MonkeyPatch()
    environment.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    with Vault.open(folder) as vault:
        environment.undo()
        yield vault


SIGNS = "\"'()[]{}<>*?~^:+-&|!\\/%$#@.,;=`\0\n\t "


@hypothesis_settings(max_examples=150)
@given(st.text(st.one_of(st.sampled_from(SIGNS), st.characters()), max_size=60))
def test_any_query_has_an_answer(one_vault, query):
    answer = search(one_vault, query)
    assert answer.index.fresh
    assert len(answer.results) <= 1
    assert search(one_vault, f"quince {query}").results or "quince" not in f"quince {query}".split()


@pytest.mark.parametrize(
    "query", ["*" * 300, "quince " * 20_000, "(" * 5000, "a" * 100_000, "\U0001f331" * 5000]
)
def test_sc_11_no_query_takes_long(one_vault, query):
    began = time.process_time()
    search(one_vault, query)
    assert time.process_time() - began < 2


def test_a_snippet_shows_the_word_that_was_asked_for():
    text = "First words. " * 60 + "The quince is here. " + "Last words. " * 60
    cut = snippet(text, "Quinces")
    assert "quince is here" in cut
    assert cut.startswith("…") and cut.endswith("…")
    assert len(cut) <= SNIPPET + 2
    assert snippet("short\n\ntext", "x") == "short text"
    assert len(snippet("x" * 5000, "x")) <= SNIPPET + 2
    assert snippet("字" * 5000, "猫").startswith("字")


def test_an_answer_says_when_the_index_is_not_complete(opened):
    vault = opened(NOTES)
    answer = search(vault, "quince")
    assert (answer.index.fresh, answer.index.notes, answer.index.behind) == (True, 4, 0)
