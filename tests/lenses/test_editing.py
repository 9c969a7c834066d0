"""Editing a whole note in the page: its bytes, conflicts, and what must never be lost."""

import os
import re
from html import unescape

import pytest
from zibaldone.lenses import editing
from zibaldone.tools.history import history
from zibaldone.vault.errors import NoteChanged, StorageFailed

NOTE = "eeeeeeeeeee1"
TEXT = (
    f"---\r\nid: {NOTE}\r\ntags: [one,  two]  # mine\r\n---\r\n\r\n# Body\r\n\r\nSome *text*.\r\n"
)
FILES = {
    "Editor.md": "\ufeff" + TEXT,
    "Broken.md": "---\nid: eeeeeeeeeee2\ntags: [one\n---\nText.",
    "Binary.md": b"---\nid: eeeeeeeeeee3\n---\n" + bytes(range(9)) * 900,
    "agent-memory/tea.md": "---\nid: eeeeeeeeeee4\n---\n- Green.\n",
}


@pytest.fixture
def site(explored):
    return explored(FILES)


def on_disk(site, path="Editor.md"):
    return (site.vault.layout.root / path).read_bytes().decode()


def read(page):
    """What a browser sends of the form of a page."""
    text = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)[1]
    token = re.search(r'name="read" value="(\w+)"', page)[1]
    return {"text": unescape(text), "read": token}


def form(site, note=NOTE):
    page = site.get(f"/n/{note}/edit")
    assert page.status == 200
    return read(page.text)


def save(site, form, change=str, note=NOTE, **more):
    text = change(form["text"]).replace("\n", "\r\n")  # As browsers send it.
    return site.post(f"/n/{note}/edit", **{**form, "text": text, **more})


def test_the_page_of_a_note_leads_to_its_form(site):
    assert f'href="/n/{NOTE}/edit"' in site.get(f"/n/{NOTE}").text
    assert form(site)["text"] == TEXT.replace("\r\n", "\n")


def test_a_save_writes_what_was_changed_and_is_the_owners(site):
    file = site.vault.layout.root / "Editor.md"
    file.chmod(0o640)
    reply = save(site, form(site), lambda text: text.replace("*text*", "*words*\nand more"))
    assert reply.status == 303
    assert "It is written." in site.get(reply.header("location")).text
    assert on_disk(site) == "\ufeff" + TEXT.replace("*text*", "*words*\r\nand more")
    assert os.stat(file).st_mode & 0o777 == 0o640  # noqa: PTH116
    last = history(site.vault, NOTE).revisions[-1]
    assert (last.op, last.agent, last.origin) == ("edit", "explorer", "owner")


def test_a_save_of_nothing_writes_nothing(site):
    file = site.vault.layout.root / "Editor.md"
    before = file.stat().st_mtime_ns, file.stat().st_ino
    reply = save(site, form(site))
    assert "nothing was written" in site.get(reply.header("location")).text
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert on_disk(site) == "\ufeff" + TEXT


def test_a_conflict_shows_both_and_loses_neither(site):
    given = form(site)
    theirs = TEXT.replace("Some", "Theirs")
    (site.vault.layout.root / "Editor.md").write_bytes(theirs.encode())
    reply = save(site, given, lambda text: text.replace("Some", "Mine"))
    assert reply.status == 409 and "both texts are here" in reply.text
    assert "<del>Theirs</del>" in reply.text and "<ins>Mine</ins>" in reply.text
    assert "Theirs *text*." in re.search(r'id="now"[^>]*>(.*?)</textarea>', reply.text, re.S)[1]
    assert "Mine *text*." in read(reply.text)["text"]
    assert on_disk(site) == theirs
    merged = save(site, read(reply.text), lambda text: text.replace("Mine", "Ours"))
    assert merged.status == 303
    assert on_disk(site) == TEXT.replace("Some", "Ours")
    assert len(history(site.vault, NOTE).revisions) >= 2


def test_comparing_writes_nothing(site):
    given = form(site)
    reply = save(site, given, lambda text: text + "More.\n", compare="1")
    assert reply.status == 200 and "More." in reply.text and "nothing is written yet" in reply.text
    assert on_disk(site) == "\ufeff" + TEXT
    same = save(site, given, compare="1")
    assert "No words differ." in same.text
    assert save(site, read(reply.text)).status == 303
    assert on_disk(site) == "\ufeff" + TEXT + "More.\r\n"


def test_a_note_that_is_gone_leaves_what_was_typed(site):
    given = form(site)
    (site.vault.layout.root / "Editor.md").unlink()
    reply = save(site, given, lambda text: text + "My <words>.")
    assert reply.status == 409 and "My &lt;words&gt;." in reply.text
    assert not (site.vault.layout.root / "Editor.md").exists()


def test_a_disk_that_fails_leaves_what_was_typed(site, monkeypatch):
    given = form(site)

    def full(*_, **__):
        raise StorageFailed("Editor.md", "No space left on device")

    monkeypatch.setattr(editing, "rewrite", full)
    reply = save(site, given, lambda text: text + "My words.")
    assert reply.status == 503 and "No space left" in reply.text
    assert read(reply.text)["text"].endswith("My words.")


def test_a_vault_that_is_gone_leaves_what_was_typed(site):
    given, csrf = form(site), site.csrf()
    root = site.vault.layout.root
    root.rename(root.with_name("away"))
    reply = save(site, given, lambda text: text + "My words.", csrf=csrf)
    assert reply.status in (404, 503) and "My words." in reply.text


def test_a_note_that_changes_and_then_goes_leaves_what_was_typed(site, monkeypatch):
    given = form(site)

    def late(*_, **__):
        (site.vault.layout.root / "Editor.md").unlink()
        raise NoteChanged("Editor.md", "")

    monkeypatch.setattr(editing, "rewrite", late)
    reply = save(site, given, lambda text: text + "My words.")
    assert reply.status == 409 and "My words." in reply.text


def test_broken_frontmatter_is_shown_and_mended(site):
    page = site.get("/n/eeeeeeeeeee2/edit").text
    assert "cannot be used in full" in page
    reply = save(site, read(page), lambda text: text.replace("[one", "[one]"), note="eeeeeeeeeee2")
    assert reply.status == 303
    assert on_disk(site, "Broken.md") == "---\nid: eeeeeeeeeee2\ntags: [one]\n---\nText."
    assert "cannot be used" not in site.get("/n/eeeeeeeeeee2").text


def test_a_change_of_the_id_leads_to_the_note_all_the_same(site):
    reply = save(site, form(site), lambda text: text.replace(NOTE, "eeeeeeeeeee9"))
    assert reply.header("location").startswith("/n/eeeeeeeeeee9?")
    assert site.get(reply.header("location")).status == 200


def test_memory_and_what_is_no_text_have_no_form(site, monkeypatch):
    site.open_lens()
    assert site.get("/n/eeeeeeeeeee4/edit").status == 404
    assert save(site, {"text": "x", "read": "x"}, note="eeeeeeeeeee4").status == 409
    assert on_disk(site, "agent-memory/tea.md") == FILES["agent-memory/tea.md"]
    assert site.get("/n/eeeeeeeeeee3/edit").status == 403
    monkeypatch.setattr(editing, "LONGEST", 10)
    assert "too large" in site.get(f"/n/{NOTE}/edit").text


def test_a_page_of_another_start_gives_back_what_was_typed(site):
    reply = save(site, form(site), lambda text: text + "My words.", csrf="old")
    assert reply.status == 403 and "My words." in reply.text
    assert on_disk(site) == "\ufeff" + TEXT
