"""A vault that nobody here wrote: the Markdown that public packages ship.

The packages of the TypeScript client bring some 150 notes of many authors; of these, a package
with a tree of documentation is a vault of its own. They are copied, indexed, resolved and edited.
"""

import re
import shutil
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from zibaldone.tools.notes import create_note, edit_note, get_note, list_notes
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
from zibaldone.vault.settings import STATE_FOLDER

MODULES = Path(__file__).parents[1] / "clients/node_modules"
TREES = {"all packages": MODULES, "one documentation": MODULES / "undici"}
EDITED = 12
"""Notes of each tree in which every kind of edit is made."""


@pytest.fixture(scope="module", params=TREES)
def tree(request, tmp_path_factory):
    """A copy of the notes of a tree, and their bytes."""
    source = TREES[request.param]
    if not source.is_dir():
        pytest.skip(f"{source} is not here: `make test` installs it where npm is")
    folder = tmp_path_factory.mktemp("foreign") / "vault"
    for file in source.rglob("*"):
        if file.suffix.lower() == ".md" and file.is_file():
            copy = folder / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return folder


@pytest.fixture(scope="module")
def vault(tree, tmp_path_factory):
    environment = pytest.MonkeyPatch()
    environment.setenv("ZIBALDONE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    with Vault.open(tree) as opened:
        environment.undo()
        yield opened


def contents(folder):
    """The bytes of every file but those of the program's own folder, where the journal grows."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and STATE_FOLDER not in path.parts
    }


def notes(folder):
    visible = (path for path in contents(folder) if not re.search(r"(^|/)\.", path))
    return sorted(visible)


def written_links(text, path, folder):
    """What the Markdown links of a note name, by another parser: only notes that are there."""
    tokens = MarkdownIt().parse(text)
    for token in (child for one in tokens for child in one.children or ()):
        target = str(token.attrs.get("href", "")) if token.type == "link_open" else ""
        target = unquote(target.partition("#")[0])
        if target.lower().endswith(".md") and ":" not in target:
            base = "" if target.startswith("/") else dirname(path)
            named = normpath(join(base, target.lstrip("/")))
            if (folder / named).is_file():
                yield named


def test_every_note_is_indexed_and_read_as_it_is(vault, tree):
    paths = notes(tree)
    assert len(paths) >= 30
    page = list_notes(vault, limit=500)
    assert sorted(note.path for note in page.notes) == paths
    assert page.index.fresh
    assert [note.path for note in page.notes if note.problem] == []
    for path in paths:
        note = get_note(vault, path)
        assert (tree / path).read_bytes().decode().endswith(note.content) or note.truncated


def test_every_link_between_its_notes_is_resolved(vault, tree):
    resolved = 0
    for path in notes(tree):
        expected = list(written_links((tree / path).read_bytes().decode(), path, tree))
        found = [link.path for link in get_note(vault, path).links if link.kind == "markdown"]
        for target in expected:
            assert target in found, path
            backlinks = {one.path for one in get_note(vault, target).backlinks}
            assert path in backlinks or path == target
            resolved += 1
    # Most packages ship their README alone, whose links lead out of what they ship.
    assert resolved >= (0 if (tree / "undici").exists() or not (tree / "docs").exists() else 50)


def test_its_words_are_found(vault, tree):
    for path in notes(tree):
        words = re.findall(r"[A-Za-z]{4,}", (tree / path).read_bytes().decode())[:12]
        hits = search(vault, f"{path} {' '.join(words)}", limit=20).results
        assert path in {hit.path for hit in hits}
        assert recall(vault, " ".join(words), budget_tokens=600).tokens <= 600


def shared(one, other):
    """How many bytes two texts have in common from their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def only_difference(before, after):
    """The bytes that were taken out and put in, between what is the same at both ends."""
    head = shared(before, after)
    before, after = before[head:], after[head:]
    tail = shared(before[::-1], after[::-1])
    return before[: len(before) - tail], after[: len(after) - tail]


def edits_of(text):
    """An edit of each kind, with what it may take out and put in."""
    words = [word for word in re.findall(r"[A-Za-z]{6,}", text) if text.count(word) == 1]
    if words:
        word = words[len(words) // 2]
        edit = {"mode": "findReplace", "find": word, "content": f"<{word}>"}
        yield edit, word.encode(), f"<{word}>".encode()
    for mode in ("append", "prepend"):
        yield {"mode": mode, "content": "A line of mine."}, b"", b"A line of mine."


def test_an_edit_changes_the_text_that_it_names_and_nothing_else(vault, tree):
    paths = [path for path in notes(tree) if (tree / path).stat().st_size > 500]
    made = 0
    for path in paths[:: max(1, len(paths) // EDITED)]:
        for edit, removed, added in edits_of((tree / path).read_bytes().decode()):
            before = contents(tree)
            answer = edit_note(vault, path, **edit)
            after = contents(tree)
            assert answer.path == path
            assert before.keys() == after.keys()
            changed = [name for name in before if before[name] != after[name]]
            assert changed == [path]
            taken, put = only_difference(before[path], after[path])
            assert taken in removed
            assert put.strip() in added or added in put
            assert len(put) <= len(added) + 4, "no more than a line end before and after"
            if not removed:
                undo = {"mode": "findReplace", "find": "A line of mine.", "content": ""}
                edit_note(vault, path, **undo)
            made += 1
    assert made >= 2 * EDITED


def test_memory_and_new_notes_stand_beside_it(vault, tree):
    before = contents(tree)
    fact = remember_about_user(vault, "Reads the documentation of packages on trains", "habits")
    made = create_note(vault, "reading", "What I read", "Many pages.")
    after = contents(tree)
    assert after.keys() - before.keys() == {fact.path, made.path}
    assert before.items() <= after.items()
    assert "on trains" in recall(vault, "what is read on trains").context
