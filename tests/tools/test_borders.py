"""Laws 9 and 10: what is hidden, or another project's, is told nowhere, not even by a count."""

import os

import pytest
from zibaldone.tools.notes import create_note, edit_note, get_note, list_notes
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.vault import Vault
from zibaldone.vault.errors import CategoryRefused, NoteNotFound, SectionNotFound, ZibaldoneError

BOAT = {
    "projects/boat/plan.md": "# Plan\n\nThe keel is painted in May. See [[Paints]].\n",
    "projects/boat/agent-memory/decisions.md": "- The keel is blue ^k1\n",
    "agent-memory/preferences.md": "- Prefers short reports on the keel ^p1\n",
    "Paints.md": "# Paints\n\nBlue and white.\n",
}
# Each: files in which the word zanzibar may be found by nobody who asks for the project boat.
HIDDEN = {
    "muted memory": {
        "agent-memory/secret.md": "---\nmuted: true\nsummary: zanzibar\n---\n- zanzibar keel ^c1\n"
    },
    "muted project memory": {
        "projects/boat/agent-memory/secret.md": "---\nmuted: yes\n---\n- zanzibar keel\n"
    },
    "muted memory of broken frontmatter": {
        "agent-memory/secret.md": "---\nmuted: true\nx: [\n---\n- zanzibar keel\n"
    },
    "muted user-doc": {"projects/boat/zanzibar.md": "---\nmuted: true\n---\nzanzibar keel\n"},
    "unreviewed": {
        "agent-memory/x.md": "- seen\n- zanzibar keel #zanzibar [status:: unreviewed] ^c1\n"
    },
    "superseded": {"projects/boat/agent-memory/x.md": "- zanzibar keel [status:: superseded]\n"},
    "stale": {"agent-memory/x.md": "- zanzibar keel [status:: stale]\n"},
    "expired": {
        "agent-memory/x.md": "- seen\n- zanzibar keel #zanzibar [expires:: 2020-01-31] ^c1\n"
    },
    "expired in the project": {
        "projects/boat/agent-memory/x.md": "- zanzibar keel [expires:: 2020-01-31] ^c1\n"
    },
    "trash": {".zibaldone/trash/a23456789012/plan.md": "zanzibar keel\n"},
    "another trash": {".trash/plan.md": "zanzibar keel\n"},
    "ignored": {"zibaldone.toml": 'ignore = ["drafts"]\n', "drafts/a.md": "zanzibar keel\n"},
    "another project": {
        "projects/river/plan.md": "# Zanzibar\n\nzanzibar keel [[Paints]] [[Plan]]\n",
        "projects/river/agent-memory/zanzibar.md": "- zanzibar keel [[Paints]] [[decisions]]\n",
    },
    "user memory tied by a tag": {
        "projects/river/plan.md": "a\n",
        "agent-memory/x.md": "- zanzibar keel #river ^c1\n",
    },
    "user memory tied by a nested tag in another case": {
        "projects/River Nile/plan.md": "a\n",
        "agent-memory/x.md": "- zanzibar keel #project/river-nile ^c1\n",
    },
    "user memory tied by a link": {
        "projects/river/plan b.md": "a\n",
        "agent-memory/x.md": "- zanzibar keel [[plan b]] ^c1\n",
    },
    "user memory tied by a link to a note that is gone": {
        "projects/river/plan.md": "a\n",
        "agent-memory/x.md": "- zanzibar keel [[projects/river/gone]] ^c1\n",
    },
    "user memory tied by frontmatter": {
        "projects/river/plan.md": "a\n",
        "agent-memory/x.md": "---\ntags: [river]\n---\n- zanzibar keel ^c1\n",
    },
    "a note that a hidden line links to": {
        "agent-memory/y.md": "- keel [[Hop]] [status:: unreviewed]\n- keel varnish\n",
        "Hop.md": "zanzibar\n",
    },
    "a note that an expired line links to": {
        "agent-memory/y.md": "- keel [[Hop]] [expires:: 2020-01-31]\n- keel varnish\n",
        "Hop.md": "zanzibar\n",
    },
    "a note behind a muted one": {
        "agent-memory/y.md": "---\nmuted: true\n---\n- keel [[Hop]] [[Plan]]\n",
        "Hop.md": "zanzibar\n",
    },
    "a note behind another project's": {
        "projects/river/way.md": "keel [[Hop]] [[projects/boat/plan]]\n",
        "Hop.md": "zanzibar\n",
    },
    "a note behind a line tied to another project": {
        "projects/river/plan.md": "a\n",
        "agent-memory/y.md": "- keel varnish\n- #river uses [[Hop]]\n",
        "Hop.md": "zanzibar\n",
    },
    "a note behind a conflict copy": {
        "projects/boat/plan.sync-conflict-20300102-030405-ABCDEFG.md": "keel [[Hop]] [[Paints]]\n",
        "Hop.md": "zanzibar\n",
    },
    "a conflict copy": {
        "projects/boat/plan.sync-conflict-20300102-030405-ABCDEFG.md": "zanzibar keel\n"
    },
}
# What `search` may show all the same: it is the check before a write, and has no project's walls
# for what belongs to no project.
SEARCHABLE = ("muted", "conflict copy", "behind", "links to")


def failures(vault, *calls):
    for call in calls:
        with pytest.raises(ZibaldoneError) as refused:
            call()
        yield str(refused.value) + repr(refused.value.facts())


@pytest.mark.parametrize("place", HIDDEN)
def test_no_canary_leaks_into_a_project(opened, place):
    vault = opened({**BOAT, **HIDDEN[place]})
    told = []
    for query in ("keel", "zanzibar", "zanzibar keel", "report on the keel varnish"):
        for depth in range(4):
            answer = recall(vault, query, project="boat", depth=depth, budget_tokens=20_000)
            told.append(repr(answer))
            assert answer.omitted_more == 0
    assert recall(vault, "zanzibar", project="boat").hint == "No note answers to these words."
    told.append(repr(memory_summary(vault, project="boat")))
    told.append(repr(list_notes(vault, project="boat")) if "user-doc" not in place else "")
    if not any(word in place for word in SEARCHABLE):
        for query in ("keel", "zanzibar"):
            found = search(vault, query, project="boat")
            told.append(repr(found))
            assert found.total == len({hit.path for hit in found.results})
        assert search(vault, "zanzibar", project="boat").total == 0
    told += failures(
        vault,
        lambda: remember_about_project(vault, "boat", "a", "a/b"),
        lambda: recall(vault, "zanzibar", project="../boat"),
        lambda: create_note(vault, "boat", "Plan", "x"),
    )
    assert "zanzibar" not in "".join(told).casefold()


# Without a project, the walls between projects are open; what is hidden stays so.
OPEN = ("another project", "tied")


@pytest.mark.parametrize(
    "place", [place for place in HIDDEN if not any(word in place for word in OPEN)]
)
def test_no_canary_leaks_without_a_project(opened, place):
    vault = opened({**BOAT, **HIDDEN[place]})
    told = []
    for depth in range(4):
        answer = recall(vault, "keel varnish report", depth=depth, budget_tokens=20_000)
        told.append(repr(answer))
        assert answer.omitted_more == 0
    told.append(repr(memory_summary(vault)))
    told += failures(
        vault,
        lambda: remember_about_user(vault, "a", "a/b"),
        lambda: get_note(vault, "projects/boat/zanzibaz"),
        lambda: get_note(vault, "secre"),
        lambda: edit_note(vault, "agent-memory/secrets.md", "append", "x"),
        lambda: edit_note(vault, "Paints", "append", "x", section="zanz"),
    )
    assert "zanzibar" not in "".join(told).casefold()
    assert "secret.md" not in "".join(told)


def test_muted_memory_is_searchable_and_marked(opened):
    vault = opened(HIDDEN["muted memory"])
    (hit,) = search(vault, "zanzibar").results
    assert (hit.muted, hit.path) == (True, "agent-memory/secret.md")
    assert recall(vault, "zanzibar").sources == ()


def test_what_is_not_tied_to_another_project_is_told(opened):
    vault = opened(
        {
            **BOAT,
            "projects/river/plan.md": "a\n",
            "agent-memory/mixed.md": "- keel one #river\n- keel two #sailing\n"
            "- keel three [[Paints]]\n",
            "projects/boat/agent-memory/other.md": "- keel four #river [[projects/river/plan]]\n",
        }
    )
    context = recall(vault, "keel", project="boat").context
    assert "keel one" not in context
    for word in ("keel two", "keel three", "keel four", "short reports", "is blue", "in May"):
        assert word in context
    summary = memory_summary(vault, project="boat")
    counts = {line.category: line.observations for line in summary.user}
    assert counts == {"mixed": 2, "preferences": 1}
    assert [one.project for one in summary.projects] == ["boat"]
    assert {line.category: line.observations for line in memory_summary(vault).user}["mixed"] == 3


def test_a_neighbour_may_be_a_note_of_no_project(opened):
    vault = opened(BOAT)
    answer = recall(vault, "keel painted", project="boat")
    assert ("Paints.md", 1) in [(source.path, source.hop) for source in answer.sources]
    assert "Paints.md" not in [hit.path for hit in search(vault, "blue", project="boat").results]
    assert recall(vault, "white", project="boat", depth=0).sources == ()


def test_another_vault_is_another_vault(opened, tmp_path):
    other = tmp_path / "other"
    (other / "agent-memory").mkdir(parents=True)
    (other / "agent-memory/x.md").write_text("- zanzibar keel\n")
    vault = opened(BOAT)
    with Vault.open(other) as second:
        assert search(second, "zanzibar").total == 1
        assert search(second, "reports").total == 0
    assert search(vault, "zanzibar").total == 0
    for ref in ("../other/agent-memory/x.md", str(other / "agent-memory/x.md")):
        with pytest.raises(NoteNotFound):
            get_note(vault, ref)


def test_a_refusal_tells_the_known_names_that_may_be_told(opened):
    vault = opened({**BOAT, **HIDDEN["muted memory"]})
    with pytest.raises(CategoryRefused) as refused:
        remember_about_user(vault, "a", "")
    assert refused.value.known == ("preferences",)
    with pytest.raises(SectionNotFound) as missing:
        edit_note(vault, "Paints", "append", "x", section="Reds")
    assert missing.value.headings == ("# Paints",)


def test_what_expires_at_midnight_is_hidden_after_it(opened, monkeypatch, vault_dir):
    text = "- zanzibar keel #zanzibar [[Hop]] [expires:: 2031-05-01] ^c1\n- keel\n"
    vault = opened({"Hop.md": "hop\n", "agent-memory/x.md": text})
    for file in vault_dir.rglob("*.md"):
        os.utime(file, (1_600_000_000, 1_600_000_000))

    def on(day):
        for module in ("passages", "sync", "index"):
            monkeypatch.setattr(f"zibaldone.indexer.{module}.today", lambda: day)

    on("2031-05-01")
    assert search(vault, "zanzibar").total == 1
    assert "Hop.md" in repr(recall(vault, "keel").sources)
    on("2031-05-02")
    assert search(vault, "zanzibar").total == 0
    assert search(vault, "keel").results[0].tags == ()
    assert "Hop.md" not in repr(recall(vault, "keel").sources)
    on("2031-05-01")
    assert search(vault, "zanzibar").total == 0, "a clock that is set back brings nothing back"
