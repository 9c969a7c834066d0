"""Plans are task lists: read as the owner writes them, and changed by one box and its remark."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from zibaldone.vault.errors import InvalidArgument, NoteUnusable
from zibaldone.vault.plan import mark, new_plan_source, percent, resume, steps
from zibaldone.vault.source import Source

LINE = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp")), max_size=40
).map(lambda text: " ".join(text.split()))
STATES = ("open", "started", "done", "failed", "skipped")


def shown(body):
    return [(step.name, step.state, step.remark) for step in steps(body)]


def test_each_state_is_read_from_its_box():
    body = (
        "# Load\n\n- [x] ingest — 100 rows\n- [X] check\n- [/] validate\n"
        "- [!] load — the disk is full\n- [-] mail — nobody reads it\n- [ ] publish\n"
    )
    assert shown(body) == [
        ("ingest", "done", "100 rows"),
        ("check", "done", ""),
        ("validate", "started", ""),
        ("load", "failed", "the disk is full"),
        ("mail", "skipped", "nobody reads it"),
        ("publish", "open", ""),
    ]


def test_what_the_owner_writes_besides_is_no_step():
    body = (
        "Before the list.\n\n- a plain item\n- []  no box\n- [x]glued\n- [ ] \n\n"
        "1. [ ] a numbered one\n   - [x] below it\n\n* [?] a mark of some theme\n"
        "```\n- [ ] in code\n```\n"
    )
    assert shown(body) == [
        ("a numbered one", "open", ""),
        ("a mark of some theme", "open", ""),
    ]


def test_fields_and_a_block_id_behind_a_step_are_not_its_words():
    body = "- [!] load — full [due:: 2027-01-31] ^load\n- [ ] mail ^m1\n"
    assert shown(body) == [("load", "failed", "full"), ("mail", "open", "")]


def test_work_resumes_with_what_was_begun_before_what_is_open():
    assert resume(steps("- [ ] a\n- [x] b\n- [!] c\n- [/] d\n")).name == "c"
    assert resume(steps("- [x] a\n- [-] b\n- [ ] c\n")).name == "c"
    assert resume(steps("- [x] a\n- [-] b\n")) is None


def test_percent_counts_done_and_skipped_and_is_rounded_down():
    assert percent(steps("- [x] a\n- [-] b\n- [ ] c\n")) == 66
    assert percent(()) == 100


def test_a_change_touches_one_box_and_one_remark():
    before = (
        "\ufeff---\r\nkind: progress # mine\r\n---\r\nBefore.\r\n\r\n* [ ]   one\t^a\r\n"
        "  more of it\r\n* [!] two — the disk\r\n\r\n<!-- kept -->"
    )
    source = Source.from_text(before)
    one, two = steps(source.body_text)
    after = mark(source, one, "done", "went well")
    assert after.text == before.replace("[ ]   one\t^a", "[x]   one — went well\t^a")
    assert mark(source, two, "started").text == before.replace("[!] two — the disk", "[/] two")


def test_a_change_that_changes_nothing_gives_the_same_source():
    source = Source.from_text("- [x] a — b\n")
    assert mark(source, steps(source.text)[0], "done", "b") is source


def test_a_step_that_is_no_longer_there_is_refused():
    (step,) = steps("- [ ] a\n")
    with pytest.raises(NoteUnusable):
        mark(Source.from_text("\n- [ ] a\n"), step, "done")


@given(st.lists(LINE.filter(bool), min_size=1, max_size=5), st.data())
@example(["[x] a", "# b", "c ^id", "[status:: stale] d"], None)
def test_any_names_and_remarks_read_back(names, data):
    names = [name for name in names if " — " not in f"{name} "] or ["a"]
    source = new_plan_source("A plan", names, "abcdefgh1234", "2027-01-31T09:00:00Z")
    assert [step.name for step in steps(source.body_text)] == names
    if data is None:
        return
    number = data.draw(st.integers(0, len(names) - 1))
    state, remark = data.draw(st.sampled_from(STATES)), data.draw(LINE)
    changed = mark(source, steps(source.body_text)[number], state, remark)
    wanted = [(name, "open", "") for name in names]
    wanted[number] = (names[number], state, remark)
    assert shown(changed.body_text) == wanted
    restored = mark(changed, steps(changed.body_text)[number], "open")
    assert restored.text == source.text


def test_a_name_that_would_not_read_back_is_refused():
    with pytest.raises(InvalidArgument, match="cannot be a step"):
        new_plan_source("A", ["a — b"], "abcdefgh1234", "2027-01-31T09:00:00Z")
