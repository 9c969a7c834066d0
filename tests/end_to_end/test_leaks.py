"""Canaries in every hidden place of a vault: no tool sings, whatever an agent asks it.

Two vaults are alike but for the canaries. Every tool that there is gets the same calls in both,
over real pipes: questions on the same subject, names that are nearly a canary's, and guesses that
are exactly one. No answer has a canary's word, and no answer tells the two vaults apart.
"""

import json
import re

import pytest
from agents import run, session
from zibaldone.tools.api import forget, remember_about_user, update_memory
from zibaldone.tools.definition import TOOLS
from zibaldone.tools.notes import create_note, delete_note
from zibaldone.tools.threads import take_note
from zibaldone.tools.vault import OWNER, Caller, Vault

HIDDEN = (
    *("muted", "trashed", "superseded", "forgotten", "expired", "unreviewed", "stale"),
    *("forbidden", "proposed", "thread", "vault", "far"),
)
CANARIES = {place: f"qv{place}x" for place in HIDDEN}
BIRDS = "b1rdsb1rds01"


def fact(place):
    return f"The heron nests by the quay at {CANARIES[place]}."


def visible():
    """The notes that both vaults have.

    What is `far` is hidden from a question about `harbour`; what is forbidden is no secret by its
    number, for an agent may read the rule.
    """
    far, hush = CANARIES["far"], CANARIES["forbidden"]
    return {
        "agent-memory/birds.md": f"---\nid: {BIRDS}\ncategory: Birds\n---\n# Birds\n\n"
        "- The heron nests by the quay in May. ^vis001\n"
        "- The heron nests late, they said. ^sup001\n"
        "- The diary tells of every nest. ^vis002\n",
        "agent-memory/rules.md": "---\nid: r1r1r1r1r101\nkind: rules\n---\n# Rules\n\n"
        "- must: never recall #hush ^hush\n- must: herons <= 3 #birds ^max_herons\n",
        "projects/harbour/Heron diary.md": "---\nid: d1aryd1ary01\n---\n# Heron diary\n\n"
        "The heron nests by the quay.\n\n## April\n\nTwo eggs. [[birds#^vis001]]\n",
        "projects/harbour/agent-memory/birds.md": "---\nid: h1rdsh1rds01\ncategory: Birds\n---\n"
        "# Birds\n\n- The quay of the heron is closed in May. ^har001\n",
        f"agent-memory/{hush}.md": "---\nid: h0shh0shh001\n"
        f"category: {hush}\ntags: [hush, always-load]\n---\n- {fact('forbidden')} ^for001\n",
        f"projects/far/{far} nest.md": "---\nid: farn0tefar01\n---\n"
        f"# {far} nest\n\n{fact('far')} [[Heron diary]] #{far} #always-load\n",
        "projects/far/agent-memory/birds.md": "---\nid: farb1rdsfa01\ncategory: Birds\n---\n"
        f"- {fact('far')} [[Heron diary]] ^far001\n",
        f"projects/far/agent-memory/plans/{far}.md": "---\nid: farp1anfar01\nkind: progress\n"
        f"---\n# {far}\n\n- [ ] {fact('far')}\n",
    }


def hide(root):
    """Put canaries into a vault, behind the lines that are there and into notes of their own."""
    word = CANARIES
    more = {
        "agent-memory/birds.md": f"- {fact('expired')} #{word['expired']} "
        f"[[Heron diary]] [expires:: 2000-01-01] ^exp001\n"
        f"- {fact('unreviewed')} [[Heron diary]] [status:: unreviewed] ^rev001\n"
        f"- {fact('stale')} [[Heron diary]] [status:: stale] ^sta001\n",
        "agent-memory/rules.md": f"- avoid: {fact('proposed')} #birds [status:: unreviewed] "
        f"^{word['proposed']}\n",
        f"agent-memory/{word['muted']}.md": "---\nid: m0tedm0ted01\nmuted: true\n"
        "tags: [always-load]\n"
        f"category: {word['muted']}\nsummary: {fact('muted')}\naliases: [{word['muted']} nest]\n"
        f"---\n# {word['muted']}\n\n- {fact('muted')} [[Heron diary]] ^mut001\n",
    }
    for path, text in more.items():
        with (root / path).open("a", encoding="utf-8") as note:
            note.write(text)
    with Vault.open(root, caller=OWNER) as owner:
        made = remember_about_user(owner, fact("forgotten"), CANARIES["forgotten"])
        forget(owner, made.observation_id)
        delete_note(owner, made.note_id)
        made = create_note(owner, "harbour", f"{CANARIES['trashed']} nest", fact("trashed"))
        delete_note(owner, made.note_id)
        other = owner.with_caller(Caller("other", origin="agent"))
        take_note(other, CANARIES["thread"], fact("thread"), "decision")


def build(root, *, hidden):
    """Make a vault, with the canaries when there is to be something `hidden`."""
    root.mkdir()
    (root / "zibaldone.toml").write_text('write_gate = "off"\n')
    for path, text in visible().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    with Vault.open(root, caller=OWNER) as owner:
        update_memory(owner, "sup001", fact("superseded") if hidden else "The heron nests early.")
        update_memory(owner, "sup001", "The heron nests from April on.")
    if hidden:
        hide(root)
    return root


# What is asked

NEAR = tuple(word[:-1] for word in CANARIES.values())
GUESSED = (
    *(CANARIES[each] for each in ("trashed", "forgotten", "thread", "proposed", "expired")),
    *(f"{CANARIES['trashed']} nest", f"{BIRDS}#^exp001", f"{BIRDS}#^rev001", f"{BIRDS}#^sta001"),
    *("exp001", "rev001", f"rules#^{CANARIES['proposed']}"),
)


def values(word):
    """What each argument may be, by its name; None leaves it out. `word` is a guess."""
    text = f"The heron nests by the quay at {word}"
    return {
        "query": (text, "heron nest quay", word),
        "observation": (text,),
        "text": (text,),
        "reason": (text,),
        "ref": (word, BIRDS, "Heron diary", f"{BIRDS}#^{word}", "vis001"),
        "project": (None, "harbour", word),
        "category": (word, "birds", None),
        "thread": (word if word != CANARIES["thread"] else "mine", "mine"),
        "task": (word, "Watch"),
        "step": (word, "look"),
        "steps": (["look", "write"],),
        "name": (word,),
        "level": ("avoid",),
        "context": ({"herons": 4, word: 1},),
        "title": (word, "Nest"),
        "body": (text,),
        "content": (text,),
        "find": (word,),
        "section": (None, word),
        "mode": ("append", "findReplace"),
        "folder": (None, word, "projects/harbour"),
        "tag": (None, word, "hush"),
        "from_agent": (None, "*", "other"),
        "derived_from": (None, [word]),
        "verdict": (None, f"supersedes:{word}"),
        "type": (None,),
    }


def calls(one, words):
    """A call of a tool for each word. An argument that is required has to have examples above."""
    required = {each.name for each in one.arguments if each.required}
    assert required <= values("").keys(), f"{one.name} needs examples"
    for at, word in enumerate(words):
        known = values(word)
        if one.name == "delete_note":  # A note that holds what waits for review is refused.
            known["ref"] = (word,)
        some = {each.wire: known[each.name] for each in one.arguments if each.name in known}
        # One choice goes on at each call, and the next one after a whole round of it.
        picked, turn = {}, at
        for name, choices in some.items():
            picked[name] = choices[turn % len(choices)]
            turn = turn // len(choices) + at
        yield {name: value for name, value in picked.items() if value is not None}


# What is answered

MARKED = ("search", "remember_about_user", "remember_about_project")
"""Tools that look before a write: they may show what is muted, and say that it is."""

RANDOM = re.compile(r"</?recalled \d+>|(?<=like it: ).*")
ID = re.compile(r"\b[0-9a-hjkmnp-tv-z]{12}\b")
DIFFERENT = {
    *("versionToken", "score", "modifiedAt", "date", "receipt", "observationId"),
    "similar",  # How rare a word is, which what is hidden may change, decides what is mentioned.
}


def compared(found, ids):
    """An answer without what differs between any two vaults; ids are numbered as they come."""
    if isinstance(found, dict):
        kept = {name: each for name, each in found.items() if name not in DIFFERENT}
        return {name: compared(each, ids) for name, each in kept.items()}
    if isinstance(found, list):
        return [compared(each, ids) for each in found if not is_muted(each)]
    if isinstance(found, str):
        numbered = ID.sub(lambda each: str(ids.setdefault(each[0], len(ids))), found)
        return RANDOM.sub("", numbered).rstrip()
    return found


def is_muted(found):
    return isinstance(found, dict) and bool(found.get("muted"))


def sung(told, places):
    """The places whose canary is in a text."""
    return [place for place in places if CANARIES[place] in told.casefold()]


def hidden_from(tool, arguments):
    """The places of which a call may tell nothing."""
    shown = {"muted"} if tool in MARKED else set()
    if arguments.get("project") != "harbour":
        shown.add("far")
    return [place for place in HIDDEN if place not in shown]


async def offered(client):
    """All that a client may read without a tool, as text."""
    can, told = client.initialize_result.capabilities, []
    if can.resources:
        listed = await client.list_resources()
        told += [listed, *[await client.read_resource(one.uri) for one in listed.resources]]
        told.append(await client.list_resource_templates())
    if can.prompts:
        listed = await client.list_prompts()
        told += [listed, *[await client.get_prompt(one.name) for one in listed.prompts]]
    return repr(told)


async def drive(hiding, bare):
    """Call everything in both vaults; returns what was wrong."""
    wrong, ids, other_ids = [], {}, {}
    readers = [one for one in TOOLS if one.read_only]
    writers = [one for one in TOOLS if not one.read_only]
    rounds = (
        (readers, NEAR, True),
        (readers, GUESSED, False),
        (writers, NEAR[1::2], True),
        (writers, GUESSED[::3], False),
    )
    async with session(hiding, "scout") as client, session(bare, "scout") as twin:
        wrong += sung(await offered(client), HIDDEN[:-1])
        for tools, words, listened in rounds:
            for one, arguments in ((each, given) for each in tools for given in calls(each, words)):
                answer = await client.call_tool(one.name, arguments)
                other = (await twin.call_tool(one.name, arguments)).structured_content
                found = answer.structured_content
                if compared(found, ids) != compared(other, other_ids):
                    wrong.append((one.name, arguments, found, other))
                told = answer.content[0].text + json.dumps(found, ensure_ascii=False)
                if listened and (places := sung(told, hidden_from(one.name, arguments))):
                    wrong.append((one.name, arguments, places, told))
    return wrong


@pytest.mark.slow
def test_laws_9_and_10_no_answer_has_what_is_hidden_or_tells_that_it_is_there(tmp_path):
    vaults = build(tmp_path / "hiding", hidden=True), build(tmp_path / "bare", hidden=False)
    with Vault.open(build(tmp_path / "other", hidden=False), caller=OWNER) as other:
        remember_about_user(other, fact("vault"), CANARIES["vault"])
    wrong = run(drive, *vaults)
    print(*wrong, sep="\n")
    assert wrong == [], f"{len(wrong)} answers are wrong"
