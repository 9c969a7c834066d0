"""Context sets: their links in order, whole notes and parts, and what a link may not reach."""

import pytest
from zibaldone.tools.start.session import start_session

TEA = """\
# Tea

Prose.

## Green

- Sencha. ^aaaaaa
- Matcha. [status:: stale] ^bbbbbb

## Black

- Assam. ^cccccc
"""
DOC = """\
# Guide

Intro.

## Commits

Short ones.

In Spanish. ^spain

### Deep

Below.

## End

Last.
"""
FILES = {
    "Guide.md": DOC,
    "agent-memory/tea.md": TEA,
    "projects/acme/Plan.md": "Acme plans.\n",
    "projects/other/Secret.md": "Other secrets.\n",
}


@pytest.fixture
def started(opened):
    """Start a session in a vault with a set of these lines."""

    def start(*lines, project=None, at="agent-memory/first.md", files=()):
        text = "\n".join(["---", "kind: context-set", "---", "# First", "", *lines, ""])
        vault = opened({**FILES, **dict(files), at: text})
        answer = start_session(vault, project)
        loaded = [one.title for one in answer.parts if one.kind == "context-set"]
        return loaded, [one.title for one in answer.omitted], answer.context

    return start


def test_links_are_loaded_in_their_order_and_once(started):
    loaded, left, text = started(
        "First [[tea#Black]], then ![[Guide#^spain]].",
        "- [Guide](../Guide.md)",
        "- [[Guide]] again, and [[Guide#End]] which is in it",
        "- [[tea#^aaaaaa]] `[[not a link]]` ![[photo.png]]",
    )
    assert loaded == ["Tea › Black", "Guide › ^spain", "Guide", "Tea › ^aaaaaa"]
    assert left == []
    assert "- Assam. ^cccccc · agent" in text
    assert "Sencha" in text


@pytest.mark.parametrize(
    ("link", "there", "not_there"),
    [
        ("Guide#Commits", ["Short ones.", "Below."], ["Intro.", "Last."]),
        ("Guide#^spain", ["In Spanish. ^spain"], ["Short ones.", "Below."]),
        ("tea#Green", ["Sencha"], ["Assam", "Prose", "Matcha"]),
        ("tea#^aaaaaa", ["Sencha"], ["Assam", "Prose"]),
        ("tea", ["Sencha", "Assam", "Prose"], ["Matcha"]),
    ],
)
def test_a_part_is_loaded_and_nothing_around_it(started, link, there, not_there):
    loaded, _, text = started(f"[[{link}]]")
    assert len(loaded) == 1
    text = text.partition("[2] ")[0]
    assert all(words in text for words in there)
    assert not any(words in text for words in not_there)


def test_links_to_nothing_are_named_by_their_lines_and_stop_nothing(started):
    loaded, left, text = started(
        "[[Nowhere]]", "[[Guide#No such part]]", "[[tea#^bbbbbb]]", "[[tea#^zzzzzz]]", "[[Guide]]"
    )
    assert loaded == ["Guide"]
    assert left == [f"First, line {line}" for line in (6, 7, 8, 9)]
    assert "Nowhere" not in text


@pytest.mark.parametrize(
    "link",
    ["[[Secret]]", "[[projects/other/Secret]]", "[x](../projects/other/Secret.md)",
     "[x](../../../etc/passwd)", "[[../../secret]]", "[x](/etc/passwd.md)", "[[Hushed]]",
     "[[threads/mine]]"],
)  # fmt: skip
@pytest.mark.parametrize("project", [None, "acme"])
def test_a_set_reaches_nothing_that_is_not_for_the_session(started, link, project):
    files = {
        "agent-memory/hushed.md": "---\nmuted: true\n---\nHushed words.\n",
        "agent-memory/threads/mine.md": "---\nkind: thread\ntitle: mine\n---\n- state: a secret.\n",
    }
    loaded, _, text = started(link, "[[Guide]]", project=project, files=files)
    assert loaded == ["Guide"]
    assert "secret" not in text.casefold()
    assert "Hushed" not in text


def test_a_set_of_a_project_is_for_its_sessions(started, opened):
    loaded, left, text = started(
        "[[Plan]] [[Secret]]", at="projects/acme/Sets/Start.md", project="acme"
    )
    assert (loaded, left) == (["Plan"], ["First, line 6"])
    assert "secrets" not in text
    assert not any(one.kind == "context-set" for one in start_session(opened()).parts)


def test_hidden_lines_of_a_set_are_no_links(started):
    loaded, left, _ = started(
        "- [[tea]] [status:: unreviewed] ^eeeeee",
        "- [[Guide]] [expires:: 2020-01-01]",
        "- [[Plan]]",
    )
    assert (loaded, left) == ([], ["First, line 8"])
