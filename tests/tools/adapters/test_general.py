"""The general form: `remember(content, path, memory_type)`, over the owner's notes."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zibaldone.tools.adapters.general import Place, place_of, recall, remember, search
from zibaldone.tools.audit import Wanted, audit
from zibaldone.tools.refusals import SecretRefused
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.rules import add_rule
from zibaldone.tools.vault import Caller
from zibaldone.vault.errors import (
    CategoryRefused,
    InvalidArgument,
    PathRefused,
    Refused,
)

TYPES = ("semantic", "episodic", "procedural", "working", "identity")


def contents(found):
    return [one.content for one in found.memories]


@pytest.mark.parametrize("kind", TYPES)
def test_a_fact_of_each_type_is_a_line_of_its_category(kind, declared, on_disk):
    declared()
    kept = remember("Prefers short reports.", "user/preferences", kind)
    assert (kept.outcome, kept.path) == ("created", "agent-memory/preferences.md")
    field = "" if kind == "semantic" else f" [type:: {kind}]"
    assert on_disk(kept.path).endswith(f"\n- Prefers short reports.{field} ^{kept.id}\n")
    assert [one.type for one in search("short reports", memory_type=kind).memories] == [kind]
    others = [other for other in TYPES if other != kind]
    assert [search("short reports", memory_type=other).memories for other in others] == [()] * 4


def test_what_is_working_is_found_only_when_it_is_asked_for(declared):
    declared()
    remember("Halfway down the list of ropes.", "user", "working")
    assert search("list of ropes").memories == ()
    assert contents(search("list of ropes", memory_type="working"))


def test_a_path_is_a_place_of_memory(declared):
    declared()
    known = {
        "user": "agent-memory/general.md",
        "user/Coding style": "agent-memory/coding-style.md",
        "projects/acme": "projects/acme/agent-memory/general.md",
        "Projects/acme/decisions/": "projects/acme/agent-memory/decisions.md",
    }
    for number, (path, note) in enumerate(known.items()):
        assert remember(f"Fact {number} stands alone.", path).path == note


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "/user/preferences",
        "..",
        "../user/preferences",
        "user/../../etc",
        "user/..",
        "projects/../agent-memory",
        "projects/acme/../../x",
        "projects/.zibaldone/journal",
        "user/%2e%2e%2fetc",
        "user/..\\..\\etc",
        "C:\\user\\x",
        "user/pre\0ferences",
        "user/preferences.md",
        "user/a/b",
        "projects/acme/a/b",
        "preferences",
        "projects",
        "agent-memory/preferences",
        "user//preferences",
        "user/a#b",
        "user/[[x]]",
        "projects/a\\b/decisions",
        "projects/acme\u2215x/decisions",
    ],
)
def test_a_path_that_names_no_place_is_refused_and_nothing_is_written(path, declared, vault_dir):
    declared()
    with pytest.raises((PathRefused, CategoryRefused)):
        remember("Prefers short reports.", path)
    with pytest.raises((PathRefused, CategoryRefused)):
        search("reports", path)
    assert list(vault_dir.rglob("*.md")) == []


@given(path=st.text(alphabet="usermojcta/.\\% -#:~\0é２", max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_path_is_a_plain_place_or_is_refused(path):
    try:
        place = place_of(path)
    except Refused:
        return
    for part in (place.project, place.category):
        assert part is None or (part.strip(".") and "/" not in part and "\0" not in part)


def test_a_wrong_path_says_what_a_path_is():
    with pytest.raises(PathRefused, match="projects/<project>/<category>"):
        place_of("work/preferences")
    assert place_of("projects/acme") == Place("acme", None)


def test_the_same_fact_again_is_known_and_one_like_it_is_judged(declared, on_disk):
    declared()
    first = remember("Deploys happen on Tuesday at noon.", "projects/acme/decisions")
    again = remember("deploys happen on tuesday at noon", "projects/acme/decisions")
    assert (again.outcome, again.id) == ("skipped", first.id)
    new = "Deploys happen on Thursday at noon."
    held = remember(new, "projects/acme/decisions")
    assert (held.outcome, held.id) == ("needs_verdict", None)
    assert [one.observation_id for one in held.similar] == [first.id]
    verdict = f"supersedes:{first.id}"
    done = remember(new, "projects/acme/decisions", receipt=held.receipt, verdict=verdict)
    assert (done.outcome, done.id) == ("appended", first.id)
    assert "Tuesday" not in on_disk(first.path)
    assert search("deploys").memories[0].version == 2


def test_a_program_that_has_just_searched_judges_at_once(declared):
    declared()
    first = remember("Deploys happen on Tuesday at noon.", "projects/acme/decisions")
    search("when do deploys happen")
    verdict = f"supersedes:{first.id}"
    new = remember(
        "Deploys happen on Thursday at noon.", "projects/acme/decisions", verdict=verdict
    )
    assert new.id == first.id


def test_the_write_policy_is_that_of_the_tools(declared, vault_dir):
    owner = declared()
    add_rule(owner, "no_health", "must", "never remember #health", "memory")
    with pytest.raises(Refused, match="no_health"):
        remember("Has a cold. #health")
    with pytest.raises(SecretRefused):
        remember("The password is hunter2hunter2!Q")
    with pytest.raises(InvalidArgument, match="memory_type"):
        remember("A fact.", memory_type="long-term")
    assert [path.name for path in vault_dir.rglob("*.md")] == ["rules.md"]


def test_the_owner_edits_between_and_the_next_answer_shows_it(declared, vault_dir):
    declared({"Home.md": "# Home\n"})
    kept = remember("Prefers short reports.", "user/preferences")
    note = vault_dir / kept.path
    note.write_text(note.read_text().replace("short reports", "one page reports"))
    with note.open("a") as file:
        file.write("- Reads reports on paper\n")
    found = search("reports", "user/preferences")
    assert {(one.id, one.content, one.origin) for one in found.memories} == {
        (kept.id, "Prefers one page reports.", "agent"),
        (None, "Reads reports on paper", "owner"),
    }
    assert "Reads reports on paper" in recall("reports").context
    note.unlink()
    assert search("reports").memories == ()


def test_search_is_narrowed_to_the_user_to_a_project_and_to_a_category(declared):
    declared()
    remember("Likes quick tests.", "user/preferences")
    remember("Cooks quick lentils on Mondays.", "user/food")
    remember("Acme wants quick answers.", "projects/acme/decisions")
    remember("Globex wants quick refunds.", "projects/globex/decisions")
    assert len(search("quick").memories) == 4
    assert set(contents(search("quick", "user"))) == {
        "Likes quick tests.",
        "Cooks quick lentils on Mondays.",
    }
    assert contents(search("quick", "user/Food")) == ["Cooks quick lentils on Mondays."]
    assert contents(search("quick", "projects/acme")) == ["Acme wants quick answers."]
    assert search("quick", "projects/acme/food").memories == ()
    assert search("quick", limit=2).more
    with pytest.raises(InvalidArgument, match="limit"):
        search("quick", limit=0)


def test_recall_is_the_bundle_of_the_tools_in_a_project(declared):
    declared({"projects/acme/Plan.md": "# Plan\n\nThe launch is in May.\n"})
    remember("The launch needs a quick rollback.", "projects/acme/decisions")
    remember("The launch of Globex is secret-free.", "projects/globex/decisions")
    answer = recall("launch", "projects/acme", budget_tokens=500)
    assert {one.path for one in answer.sources} == {
        "projects/acme/Plan.md",
        "projects/acme/agent-memory/decisions.md",
    }
    assert answer.tokens <= 500
    for path in ("user", "user/preferences", "projects/acme/decisions"):
        with pytest.raises(PathRefused, match="narrowed"):
            recall("launch", path)


def test_what_may_not_be_recalled_is_not_found(declared, another, vault_dir):
    owner = declared(
        {
            "agent-memory/gifts.md": "---\nmuted: true\n---\n- A canary for her sister.\n",
            "agent-memory/old.md": "- A canary of old. [expires:: 2020-01-01]\n"
            "- A canary waits. [status:: unreviewed] ^waits1\n",
            "agent-memory/threads/t.md": "---\nkind: thread\n---\n# T\n\n- state: a canary\n",
            "projects/acme/agent-memory/secrets.md": "- A canary of acme.\n",
        }
    )
    add_rule(owner, "acme", "must", "recall project:acme only agent:planner", "memory")
    assert search("canary").memories == ()
    with pytest.raises(Refused, match="acme"):
        search("canary", "projects/acme")
    found = another(Caller("planner"), lambda vault: remember_about_user(vault, "A canary sings."))
    assert [one.id for one in search("canary").memories] == [found.observation_id]


def test_the_owner_sees_in_the_audit_what_was_asked(declared):
    owner = declared()
    remember("Prefers short reports.", "user/preferences")
    search("reports", "user/preferences", limit=3)
    recall("reports")
    asked = audit(owner, Wanted(agent="support-agent"), 10).retrievals
    assert [one.tool for one in asked] == ["recall", "search"]
    assert asked[1].filters == {"category": "preferences", "limit": 3}
    assert asked[1].given[0].observation is not None
