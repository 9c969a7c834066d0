"""The start of a session in a large vault: its budgets hold, and the owner's order."""

import pytest
from zibaldone.tools.start.session import NAMED, start_session
from zibaldone.tools.tokens import count_tokens

PINS, CATEGORIES = 500, 5000


@pytest.mark.slow
def test_budgets_hold_with_500_pins_and_5000_memory_notes(opened):
    files = {
        f"pins/Pin {n:03}.md": f"{'A pinned word. ' * 20}#always-load/{PINS - n}\n"
        for n in range(PINS)
    }
    for n in range(CATEGORIES):
        place = "agent-memory" if n % 2 else "projects/acme/agent-memory"
        files[f"{place}/c{n}.md"] = f"# c{n}\n\n- Fact {n} about rain. #t{n % 300} ^a00001\n"
    files["projects/other/Note.md"] = "Another project.\n"
    vault = opened(files)
    for project in (None, "acme"):
        answer = start_session(vault, project)
        assert answer.tokens == count_tokens(answer.context) <= answer.budget_tokens
        assert answer.tokens > answer.budget_tokens * 0.6
        pins = [one.title for one in answer.parts if one.kind == "pin"]
        assert pins == [f"Pin {PINS - 1 - n:03}" for n in range(len(pins))]
        cut = sum(one.cut or 0 for one in answer.parts if one.kind == "pin")
        left = [one for one in answer.omitted if one.part == "personal"]
        assert len(left) == NAMED
        assert all(one.kind == "pin" and one.tokens > 0 for one in left)
        behind = PINS - len(pins) + cut - NAMED
        assert answer.omitted_more >= behind
        assert sum(one.part == "work" for one in answer.parts) == 1
