"""Plans, threads and rules over MCP, with the owner's edits in between."""

from agents import agent, run
from zibaldone.tools.review import accept, queue
from zibaldone.tools.vault import Vault

PLAN = "agent-memory/plans/load.md"


def edit(vault, path, before, after):
    note = vault / path
    text = note.read_text("utf-8")
    assert before in text
    note.write_text(text.replace(before, after), "utf-8")


async def walk(vault):
    async with agent(vault, "loader") as call:
        made = await call("create_progress", task="Load", steps=["ingest", "check", "publish"])
        assert (made["outcome"], made["path"]) == ("created", PLAN)
        await call("start_step", task="Load", step="ingest")
        await call("complete_step", task="Load", step="ingest", result="100 rows")
        edit(vault, PLAN, "- [ ] check\n", "- [x] check — by hand\n- [ ] weigh\n")
        at = await call("resume_point")
        assert (at["task"], at["step"]["step"], at["percent"]) == ("Load", "weigh", 50)
        await call("take_note", thread="load", text="Row 7 is empty.", kind="decision")
        await call("fail_step", task="Load", step="weigh", reason="no scales")
        unknown = await call.refused("start_step", task="Load", step="fly")
        assert unknown["code"] == "name_unknown"
        assert unknown["facts"]["known"] == ["ingest", "check", "weigh", "publish"]
        proposed = await call(
            "add_rule", name="rows", level="must", text="rows >= 100", category="load"
        )
        assert proposed["outcome"] == "pending"
        assert (await call("check_rules", category="load", context={"rows": 1}))["ok"]

    with Vault.open(vault) as owner:
        (waiting,) = queue(owner)
        accept(owner, waiting.ticket)
    (vault / "agent-memory" / "rules.md").open("a", encoding="utf-8").write(
        "- must: never remember #health ^no_health\n"
    )

    async with agent(vault, "other") as call:
        at = await call("resume_point", task="Load")
        assert (at["step"]["state"], at["step"]["remark"]) == ("failed", "no scales")
        notes = await call("read_notes", thread="load")
        assert [one["text"] for one in notes["notes"]] == ["Row 7 is empty."]
        found = await call("search", query="row 7 empty weigh scales")
        assert {hit["path"] for hit in found["results"]} <= {"agent-memory/rules.md"}
        kept = await call("consolidate", thread="load")
        (candidate,) = kept["candidates"]
        done = await call(
            "remember_about_user",
            observation="Row 7 of the load is empty.",
            derivedFrom=candidate["sources"],
        )
        assert done["outcome"] == "created"
        checked = await call("check_rules", category="load", context={"rows": 99})
        assert [one["condition"] for one in checked["violations"]] == ["rows >= 100"]
        refused = await call.refused("remember_about_user", observation="Bad knee. #health")
        assert refused["code"] == "rule_forbids"
        assert refused["facts"]["rule"] == "no_health"
    lines = (vault / PLAN).read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        "- [x] ingest — 100 rows",
        "- [x] check — by hand",
        "- [!] weigh — no scales",
        "- [ ] publish",
    ]


def test_work_goes_on_between_agents_and_the_owner(vault_dir):
    run(walk, vault_dir)
    with Vault.open(vault_dir) as owner:
        assert owner.store.ledger.journal.verify() == []
