"""Rules on the memory itself: what they stop at writing and at recalling, for whom, and no more."""

import pytest
from zibaldone.tools.lifecycle import forget, update_memory
from zibaldone.tools.notes import delete_note, edit_note, get_note, list_notes
from zibaldone.tools.plans import create_progress, progress, resume_point, start_step
from zibaldone.tools.recall import recall
from zibaldone.tools.refusals import NameUnknown, OwnerOnly, RuleForbids
from zibaldone.tools.remember import remember_about_project, remember_about_user
from zibaldone.tools.rulebook import rulebook
from zibaldone.tools.rules import add_rule, get_rules
from zibaldone.tools.search import search
from zibaldone.tools.summary import memory_summary
from zibaldone.tools.threads import consolidate, take_note
from zibaldone.tools.vault import OWNER, Caller
from zibaldone.vault.errors import InvalidArgument, NoteNotFound

RULES = "agent-memory/rules.md"
PLANNER = Caller("planner", session="s1")
WRITER = Caller("writer", session="s2")


def rules(*lines):
    return {RULES: "---\nkind: rules\n---\n" + "".join(f"- {line}\n" for line in lines)}


@pytest.fixture
def vault(opened):
    """Opens a vault with some rules, as the writer."""
    return lambda *lines, **files: opened({**rules(*lines), **files}, caller=WRITER)


def stopped(vault):
    found = rulebook(vault.with_caller(OWNER))
    return {one.name: (one.stopped, one.last_moment, one.last_agent) for one in found}


# Remembering


def test_what_may_not_be_remembered_is_refused_by_name_and_line(vault, vault_dir):
    agent = vault("must: never remember #health ^no_health")
    for words, more in [
        ("Has a bad knee. #health", {}),
        ("Has a bad knee. #Health/knee", {}),
        ("Has a bad knee.", {"tags": ["health"]}),
    ]:
        with pytest.raises(RuleForbids) as refused:
            remember_about_user(agent, words, **more)
        assert "'no_health' (agent-memory/rules.md, line 4)" in refused.value.sentence
        assert "never remember #health" in refused.value.sentence
        assert "knee" not in str(refused.value)
    assert [path.name for path in vault_dir.glob("agent-memory/*.md")] == ["rules.md"]
    assert remember_about_user(agent, "Is healthy.").outcome == "created"
    assert stopped(agent) == {"no_health": (3, "remember", "writer")}
    with pytest.raises(RuleForbids):
        take_note(agent, "t", "Knee. #health")


def test_the_owner_is_bound_by_no_rule(vault):
    agent = vault("must: never remember #health", "must: never recall #health")
    owner = agent.with_caller(OWNER)
    assert remember_about_user(owner, "Bad knee. #health").outcome == "created"
    assert "knee" in recall(owner, "knee").context
    assert recall(agent, "knee").sources == ()


@pytest.mark.parametrize(
    ("statement", "free", "bound"),
    [
        ("never remember category:gifts", ("x", "food", None, "semantic"), {}),
        ("never remember category:Gift", ("x", "food", None, "semantic"), {}),
        ("never remember type:identity", ("x", "gifts", None, "semantic"), {"type": "identity"}),
        ("remember category:gifts only agent:planner", ("x", "food", None, "semantic"), {}),
        ("never remember category:gifts agent:writer", ("x", "food", None, "semantic"), {}),
    ],
)
def test_category_type_and_agent(vault, statement, free, bound):
    agent = vault(f"must: {statement}")
    words, category, _, kind = free
    assert remember_about_user(agent, words, category=category, type=kind).outcome == "created"
    with pytest.raises(RuleForbids, match="'line 4'"):
        remember_about_user(agent, "y", category="gifts", **bound)
    planner = agent.with_caller(PLANNER)
    if "agent" in statement:
        assert remember_about_user(planner, "y", category="gifts").outcome == "created"


def test_a_project_and_the_rules_in_it(vault):
    own = {"projects/boat/agent-memory/r.md": rules("must: never remember #keel ^keel")[RULES]}
    agent = vault("must: never remember project:acme", **own)
    with pytest.raises(RuleForbids, match="project:acme"):
        remember_about_project(agent, "Acme", "x")
    with pytest.raises(RuleForbids, match="'keel'"):
        remember_about_project(agent, "boat", "Oak. #keel")
    assert remember_about_project(agent, "river", "Oak. #keel").outcome == "created"
    assert remember_about_user(agent, "Oak. #keel").outcome == "created"


def test_no_edit_gets_around_it(vault, on_disk):
    agent = vault("must: never remember #health")
    made = remember_about_user(agent, "Has a knee.")
    before = on_disk(made.path)
    for change in (
        lambda: update_memory(agent, made.observation_id, "Has a bad knee. #health"),
        lambda: edit_note(agent, made.path, "append", "- Bad knee #health"),
        lambda: edit_note(agent, made.path, "findReplace", find="knee.", content="knee. #health"),
    ):
        with pytest.raises(RuleForbids):
            change()
    assert on_disk(made.path) == before
    assert edit_note(agent, made.path, "append", "- Good knee").outcome == "edited"


# Recalling


NOTES = {
    "agent-memory/habits.md": "- Canary seeds daily. #health ^c1\n- Canary walks. ^w1\n",
    "agent-memory/trips.md": "---\ntags: [health]\n---\n- Canary trips. ^t1\n",
    "projects/acme/plan.md": "# Canary plan\n\nThe canary of Acme.\n",
    "projects/acme/agent-memory/facts.md": "- Acme canary sings. ^a1\n",
    "notes/doctor.md": "---\ntags: health\n---\nCanary pills.\n",
    "notes/birds.md": "# Birds\n\nCanary cages.\n\n## Vet\n\nCanary vet #health\n",
}


def test_a_forbidden_tag_is_neither_found_nor_recalled_nor_counted(vault):
    agent = vault("must: never recall #health ^no", **NOTES)
    answer = search(agent, "canary seeds pills vet trips")
    words = str(answer) + recall(agent, "canary seeds pills vet trips").context
    for canary in ("seeds", "pills", "vet", "Canary trips"):
        assert canary not in words
    assert answer.total == len({hit.path for hit in answer.results})
    assert "walks" in str(search(agent, "canary walks"))
    assert "cages" in recall(agent, "canary cages").context
    summary = {line.category: line for line in memory_summary(agent).user}
    assert summary["habits"].observations == 1
    assert summary["habits"].summary == "Canary walks."
    count, _, agent_name = stopped(agent)["no"]
    assert (count > 3, agent_name) == (True, "writer")


@pytest.mark.parametrize("ref", ["habits", "trips", "doctor", "birds", "habits#^c1", "habits#^w1"])
def test_a_note_that_holds_what_is_forbidden_is_not_there_to_be_read(vault, ref):
    agent = vault("must: never recall #health", **NOTES)
    for use in (get_note, delete_note, lambda v, r: edit_note(v, r, "append", "x")):
        with pytest.raises(NoteNotFound) as refused:
            use(agent, ref)
        assert refused.value.suggestions == ()
    assert get_note(agent.with_caller(OWNER), ref).content


def test_an_observation_that_is_forbidden_cannot_be_changed_by_its_id(vault):
    agent = vault("must: never recall #health", **NOTES)
    with pytest.raises(NoteNotFound):
        update_memory(agent, "c1", "x")
    with pytest.raises(NoteNotFound):
        forget(agent, "c1")
    assert update_memory(agent, "w1", "Canary flies.").outcome == "updated"


def test_what_is_forbidden_is_not_told_as_similar(vault):
    agent = vault("must: never recall #health", **NOTES)
    answer = remember_about_user(agent, "Canary seeds daily.", category="food")
    assert (answer.outcome, "health" in str(answer.similar)) == ("created", False)
    take_note(agent, "t", "Canary seeds are daily.", "decision")
    (candidate,) = consolidate(agent, "t").candidates
    assert "#health" not in str(candidate)


def test_a_project_of_one_agent(vault):
    agent = vault("must: recall project:acme only agent:planner ^acme", **NOTES)
    planner = agent.with_caller(PLANNER)
    assert "Acme canary sings" in recall(planner, "canary", project="acme").context
    assert get_note(planner, "Canary plan").content
    for ask in (
        lambda: recall(agent, "canary", project="Acme"),
        lambda: search(agent, "canary", project="acme"),
        lambda: memory_summary(agent, project="acme"),
    ):
        with pytest.raises(RuleForbids, match=r"'acme' \(agent-memory/rules.md, line 4\)"):
            ask()
    everything = (
        str(search(agent, "canary acme plan sings"))
        + recall(agent, "canary acme plan sings", depth=3).context
        + str(memory_summary(agent))
        + str(list_notes(agent))
    )
    assert "Acme" not in everything
    assert "projects/acme" not in everything
    with pytest.raises(NoteNotFound):
        get_note(agent, "Canary plan")


def test_a_note_that_is_forbidden_by_its_tags_is_not_listed(vault):
    agent = vault("must: never recall #health", **NOTES)
    assert [note.path for note in list_notes(agent).notes] == [
        "notes/birds.md",
        "projects/acme/plan.md",
    ]


def test_plans_and_rules_of_a_forbidden_project_are_not_told(vault):
    agent = vault("must: recall project:acme only agent:planner ^acme", **NOTES)
    planner = agent.with_caller(PLANNER)
    create_progress(planner, "Feed canaries", ["seeds"], project="acme")
    add_rule(agent.with_caller(OWNER), "seeds", "must", "seeds <= 3", "food", project="acme")
    assert resume_point(planner).step.step == "seeds"
    assert resume_point(agent).step is None
    assert progress(agent).plans == ()
    with pytest.raises(NameUnknown) as refused:
        start_step(agent, "Feed canaries", "seeds")
    assert refused.value.known == ()
    for ask in (
        lambda: create_progress(agent, "Feed canaries", ["seeds"], project="acme"),
        lambda: progress(agent, project="acme"),
        lambda: get_rules(agent, project="acme"),
    ):
        with pytest.raises(RuleForbids, match="'acme'"):
            ask()


def test_a_link_does_not_lead_around_it(vault):
    notes = {**NOTES, "notes/way.md": "The way to [[plan]] and [[habits]].\n"}
    agent = vault("must: never recall project:acme", "must: never recall #health", **notes)
    found = recall(agent, "way", depth=3, budget_tokens=3000).context
    assert "way" in found
    assert "Acme" not in found
    assert "seeds" not in found
    assert get_note(agent, "way").content


def test_narrowing_to_a_forbidden_category_is_refused(vault):
    agent = vault("must: never recall category:habit", **NOTES)
    with pytest.raises(RuleForbids):
        search(agent, "canary", category="Habits")
    assert "seeds" not in str(search(agent, "canary"))
    assert [line.category for line in memory_summary(agent).user] == ["trips"]


# When rules bind


def test_a_rule_binds_from_the_owners_edit_on_and_no_longer(vault, vault_dir):
    agent = vault("should: never recall #health", **NOTES)
    assert "seeds" in recall(agent, "canary seeds").context
    file = vault_dir / RULES
    for line, bound in [
        ("must: never recall #health", True),
        ("must: never recall #health [status:: unreviewed]", False),
        ("must: never recall #health [expires:: 2020-01-01]", False),
        ("Must: Never recall #HEALTH.", True),
        ("must: never recall healthy things", False),
    ]:
        file.write_text(f"---\nkind: rules\n---\n- {line}\n")
        assert ("seeds" not in recall(agent, "canary seeds").context) is bound, line


def test_a_rule_of_an_agent_binds_when_the_owner_has_accepted_it(vault, on_disk, vault_dir):
    agent = vault(**NOTES)
    made = add_rule(agent, "no", "must", "never recall #health", "memory")
    assert made.outcome == "pending"
    assert "- must: never recall #health [status:: unreviewed] ^no" in on_disk(RULES)
    assert "seeds" in recall(agent, "canary seeds").context
    file = vault_dir / RULES
    file.write_text(file.read_text().replace(" [status:: unreviewed]", ""))
    assert "seeds" not in recall(agent, "canary seeds").context
    (rule,) = get_rules(agent, "memory").rules
    assert (rule.text, rule.categories) == ("never recall #health", ("memory",))


def test_a_rule_on_the_memory_that_cannot_be_kept_is_refused_or_shown(vault):
    agent = vault("must: never recall healthy things ^vague", "must: x < 2 ^plain")
    owner = agent.with_caller(OWNER)
    with pytest.raises(InvalidArgument, match="'passwords' is none of"):
        add_rule(owner, "p", "must", "never remember passwords", "memory")
    with pytest.raises(InvalidArgument, match="about 'memory'"):
        add_rule(owner, "p", "must", "never remember #health", "health")
    shown = {one.name: one for one in rulebook(owner)}
    assert "'healthy' is none of" in shown["vague"].problem
    assert (shown["vague"].state, shown["vague"].enforced) == ("binds", False)
    assert shown["plain"].problem is None
    with pytest.raises(OwnerOnly):
        rulebook(agent)


def test_what_was_stopped_cannot_be_kept_without_a_place_and_nothing_fails(vault, vault_dir):
    agent = vault("must: never recall #health", **NOTES)
    (vault_dir / ".zibaldone").mkdir(exist_ok=True)
    (vault_dir / ".zibaldone/rules").write_text("a file in the way")
    assert "seeds" not in recall(agent, "canary seeds").context
