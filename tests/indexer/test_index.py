"""One index: what it finds after writes, renames, deletions, damage and on other processes."""

import base64
import logging
import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from zibaldone.indexer import index as index_module
from zibaldone.indexer import sync
from zibaldone.indexer.catalog import Names
from zibaldone.indexer.view import Scope
from zibaldone.vault.errors import VaultEmptied, VaultNotFound
from zibaldone.vault.store import Store

QUESTIONS = ["gooseberry", "tea deadline", "prefers informes", "café", "C++ snake_case", "a"]


# What is found


def test_ix_06_a_renamed_note_is_found_once(notes, asker):
    notes.write(
        "Once.md", "---\ntitle: Cardamom\n---\n# Cardamom\n\ncardamom here, cardamom there\n"
    )
    for _ in range(3):
        asker.index.refresh(rebuild=True)
    assert asker.paths("cardamom") == ["Once.md"]
    (notes.root / "Once.md").rename(notes.root / "Twice.md")
    found = asker.find("cardamom")
    assert [hit.row.path for hit in found.hits] == ["Twice.md"]
    assert found.notes == 1


def test_ix_18_a_nul_and_bytes_that_are_not_utf_8_do_no_harm(notes, asker):
    notes.write("Nul.md", base64.b64decode("YmVmb3JlAGFmdGVyIHBlcHBlcgo="))
    notes.write("Latin.md", base64.b64decode("Y2Fm6SBwZXBwZXIK"))
    notes.write("Other.md", "pepper\n")
    before = notes.state()
    assert sorted(asker.paths("pepper")) == ["Latin.md", "Nul.md", "Other.md"]
    assert "caf\ufffd pepper" in asker.texts("pepper")
    assert notes.state() == before


def test_sc_08_a_bomb_of_aliases_is_only_a_problem_of_its_note(notes, asker):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    notes.write("Bomb.md", "---\n{}\n---\n\nBody with word quartz.\n".format("\n".join(lines)))
    notes.write("Other.md", "quartz too\n")
    before, start = notes.state(), time.monotonic()
    assert sorted(asker.paths("quartz")) == ["Bomb.md", "Other.md"]
    ((path, problem),) = asker.index.ask(asker.index.problems)
    assert (path, problem.kind) == ("Bomb.md", "frontmatter")
    assert time.monotonic() - start < 5
    assert notes.state() == before


def test_sc_05_symlinks_lead_nowhere_and_name_nothing_twice(notes, open_index, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("quince\n")
    notes.write("real.md", "quince\n")
    (notes.root / "file.md").symlink_to(outside / "secret.md")
    (notes.root / "folder").symlink_to(outside)
    (notes.root / "loop").symlink_to(notes.root)
    (notes.root / "inside.md").symlink_to(notes.root / "real.md")
    (tmp_path / "way").symlink_to(notes.root)
    asker = open_index(tmp_path / "way")
    assert asker.paths("quince") == ["real.md"]
    names = ["file.md", "folder/secret.md", "loop/real.md", "inside.md", "real.md"]
    asker.index.touched(names)
    assert asker.paths("quince") == ["real.md"]
    assert [row.path for row in asker.index.ask(lambda: asker.index.rows(Scope()))] == ["real.md"]


def test_sy_01_conflict_copies_are_found_behind_and_listed(notes, asker):
    copies = [
        "Plan.sync-conflict-20300102-030405-ABCDEFG.md",
        "Plan (Kim's conflicted copy 2030-01-02).md",
    ]
    notes.write("Plan.md", "version one plum\n")
    notes.write(copies[0], "version two plum\n")
    notes.write(copies[1], "version three plum\n")
    notes.write("Plan (1).md", "a real note plum\n")
    notes.write("Src.md", "[[Plan]]\n")
    found = asker.paths("plum")
    assert set(found[:2]) == {"Plan.md", "Plan (1).md"}
    assert sorted(found[2:]) == sorted(copies)
    assert asker.links("Src.md")[0] == ("Plan.md",)
    problems = asker.index.ask(asker.index.problems)
    assert {path: problem.kind for path, problem in problems} == dict.fromkeys(
        copies, "conflict-copy"
    )


def test_sy_05_what_is_in_the_trash_stays_deleted(notes, open_index):
    notes.write("Gone.md", "gooseberry\n")
    notes.write("Kept.md", "gooseberry\n")
    asker = open_index()
    assert len(asker.paths("gooseberry")) == 2
    Store(asker.index.layout).trash("Gone.md", "somenoteid12")
    asker.index.touched(["Gone.md"])
    assert asker.paths("gooseberry") == ["Kept.md"]
    again = open_index()
    again.index.refresh(rebuild=True)
    assert again.paths("gooseberry") == ["Kept.md"]


def test_sy_03_what_is_shown_is_cut_out_of_the_file_as_it_is(notes, asker):
    notes.write("Shared.md", "old words about plums\n")
    assert asker.texts("plums") == ["old words about plums"]
    notes.write("Shared.md", "newer words about plums, and more of them\n")
    assert asker.texts("plums") == ["newer words about plums, and more of them"]


def test_fw_06_a_change_of_the_properties_alone_is_seen(notes, asker):
    notes.write("Props.md", "---\ntags: [one]\n---\nsame body\n")
    assert asker.paths("two") == []
    notes.write("Props.md", "---\ntags: [one, two]\n---\nsame body\n")
    assert asker.paths("two") == ["Props.md"]
    assert Names.parse(asker.row("Props.md").names) == Names(own_id=False, tags=("one", "two"))


def test_fw_15_a_change_of_case_leaves_one_note(notes, asker):
    notes.write("Setup Guide.md", "word: quince\n")
    notes.write("Src.md", "[[Setup Guide]]\n")
    assert asker.paths("quince") == ["Setup Guide.md"]
    identity = asker.row("Setup Guide.md").id
    (notes.root / "Setup Guide.md").rename(notes.root / "Setup guide.md")
    assert asker.paths("quince") == ["Setup guide.md"]
    assert asker.row("Setup guide.md").id == identity
    assert asker.links("Src.md")[0] == ("Setup guide.md",)


@pytest.mark.parametrize("first", ["Setup Guide.md", "Setup guide.md"])
def test_fw_15_where_case_is_ignored_only_the_new_spelling_is_there(
    notes, asker, first, monkeypatch
):
    """The events of a rename come one by one, and both names open the file."""
    notes.write("Setup Guide.md", "word: quince\n")
    notes.write("Other.md", "word\n")
    assert asker.paths("quince") == ["Setup Guide.md"]
    (notes.root / "Setup Guide.md").rename(notes.root / "Setup guide.md")
    lstat, lexists = os.lstat, os.path.lexists

    def spelt(path):
        folder, _, name = path.rpartition("/")
        names = {each.name.casefold(): each.name for each in Path(folder).iterdir()}
        return f"{folder}/{names.get(name.casefold(), name)}"

    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", lambda path, **options: lstat(spelt(path), **options))
        patch.setattr(os.path, "lexists", lambda path: lexists(spelt(path)))
        asker.index.touched([first])
        asker.index.touched({"Setup Guide.md", "Setup guide.md"} - {first})
    assert asker.paths("quince") == ["Setup guide.md"]
    assert asker.find("word").notes == 2


def test_a_note_that_only_its_title_finds_is_shown_while_it_is_there(notes, asker):
    notes.write("Zebra crossing.md", "")
    notes.write("Other.md", "x\n")
    asker.index.refresh()
    (hit,) = asker.find("zebra").hits
    assert (hit.part, hit.passage, hit.text) == (0, None, "")

    def question():
        (notes.root / "Zebra crossing.md").write_text("---\ntitle: Lions\n---\n")
        return asker.index.find("zebra", Scope(), 20)

    assert [hit.row.title for hit in asker.index.ask(question).hits] == ["Lions"]


def test_expired_observations_leave_room_for_others(notes, asker, monkeypatch):
    lines = "".join(
        f"- Likes plums, number {n}. [expires:: 2030-01-0{n}] ^plum0{n}\n" for n in range(1, 6)
    )
    notes.write("agent-memory/food.md", f"# Food\n\n{lines}- Likes plums always. ^plum06\n")
    assert len(asker.find("plums").hits) == 6
    assert asker.row("agent-memory/food.md").expires == "2030-01-01"
    for module in (index_module, sync):
        monkeypatch.setattr(module, "today", lambda: "2030-01-04")
    assert len(asker.find("plums", limit=3).hits) == 3
    shown = {hit.passage.observation for hit in asker.find("plums").hits}
    assert shown == {"plum04", "plum05", "plum06"}
    assert asker.row("agent-memory/food.md").expires == "2030-01-04"


def test_words_that_say_nothing_are_told_apart(asker):
    assert asker.find("the and of").hint == "only_stop_words"
    assert asker.find("?!").hint == "no_terms"
    assert asker.find("gooseberry").hint is None


# What changes meanwhile


def test_a_look_below_a_folder_brings_in_what_differs_there_alone(notes, asker):
    for path in ("p/old.md", "p/gone.md", "q/gone.md"):
        notes.write(path, f"damson {path}\n")
    assert len(asker.paths("damson")) == 3
    index, everything = asker.index, Scope()
    for path in ("p/new.md", "p/deep/new.md", "q/new.md", "p/.hidden/new.md"):
        notes.write(path, f"damson {path}\n")
    for path in ("p/gone.md", "q/gone.md"):
        (notes.root / path).unlink()
    index.look_below("p")
    known = sorted(index.paths(everything))
    assert known == ["p/deep/new.md", "p/new.md", "p/old.md", "q/gone.md"]


def test_ix_20_a_note_made_during_a_look_stays(notes, asker, monkeypatch):
    notes.write("Old.md", "gooseberry\n")
    asker.index.refresh()
    walk = type(asker.index.layout).walk

    def slow_walk(layout):
        entries = list(walk(layout))
        Store(layout).write("New.md", b"gooseberry\n", expected=None)
        asker.index.touched(["New.md"])
        return iter(entries)

    with monkeypatch.context() as patch:
        patch.setattr(type(asker.index.layout), "walk", slow_walk)
        asker.index.look()
    assert sorted(asker.paths("gooseberry")) == ["New.md", "Old.md"]


def test_ix_21_a_failure_is_logged_shown_and_tried_again(notes, asker, monkeypatch, caplog):
    text = "Use {name} and {0!r} and %s and 100 % quince\n"
    notes.write("Braces.md", text)
    notes.write("Other.md", "quince\n")

    def fail(note, day):
        if note.path == "Braces.md":
            raise RuntimeError(text)
        return passages(note, day)

    passages = sync.passages
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(sync, "passages", fail)
        assert asker.paths("quince") == ["Other.md"]
        ((path, problem),) = asker.index.ask(asker.index.problems)
    assert (path, problem.kind) == ("Braces.md", "unreadable")
    assert text.strip() in caplog.text
    assert sorted(asker.paths("quince")) == ["Braces.md", "Other.md"]
    assert asker.index.ask(asker.index.problems) == []


def test_a_note_that_changes_while_it_is_read_is_read_again(notes, asker, monkeypatch):
    notes.write("A.md", "before\n")
    read = sync.read_note

    def changing(layout, path):
        note = read(layout, path)
        monkeypatch.setattr(sync, "read_note", read)
        notes.write("A.md", "afterwards\n")
        return note

    monkeypatch.setattr(sync, "read_note", changing)
    assert asker.paths("before") == []
    assert asker.paths("afterwards") == ["A.md"]
    assert asker.state().behind == 0


def test_a_change_within_one_tick_of_the_clock_is_seen(notes, asker, monkeypatch):
    """Same size, same inode, same time: only that it was so recent tells that it may differ."""
    monkeypatch.setattr(sync, "TICK_NS", 10**10)
    file = notes.write("A.md", "before\n", old=False)
    moment = time.time_ns()
    os.utime(file, ns=(moment, moment))
    assert asker.paths("before") == ["A.md"]
    inode = file.stat().st_ino
    file.write_text("behind\n")
    os.utime(file, ns=(moment, moment))
    assert file.stat().st_ino == inode
    assert asker.paths("behind") == ["A.md"]
    assert asker.paths("before") == []


def test_a_note_becomes_readable(notes, asker, monkeypatch):
    notes.write("A.md", "gooseberry\n")
    notes.write("B.md", "x\n")

    def forbidden(layout, path):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("zibaldone.vault.note._read", lambda path: forbidden(None, path))
        assert asker.paths("gooseberry") == []
        assert {p.kind for _, p in asker.index.ask(asker.index.problems)} == {"unreadable"}
    assert asker.paths("gooseberry") == ["A.md"]
    assert asker.index.ask(asker.index.problems) == []


def test_ix_05_links_follow_what_is_there(notes, asker):
    notes.write("Src.md", "[[Dst]]\n")
    notes.write("Dst.md", "gooseberry\n")
    assert asker.links("Src.md")[0] == ("Dst.md",)
    (notes.root / "Dst.md").unlink()
    assert asker.links("Src.md")[0] == ()
    assert asker.paths("gooseberry") == []
    notes.write("Dst.md", "gooseberry\n")
    assert asker.links("Src.md")[0] == ("Dst.md",)
    assert asker.links("Dst.md")[1] == ("Src.md",)


# Ids


def test_a_derived_id_survives_a_rename(notes, asker):
    notes.write("a/Old name.md", "Some words.\n")
    notes.write("Other.md", "x\n")
    identity = asker.row("a/Old name.md").id
    (notes.root / "b").mkdir()
    (notes.root / "a/Old name.md").rename(notes.root / "b/New name.md")
    assert asker.row("b/New name.md").id == identity
    notes.write("b/New name.md", "Some other words.\n")
    assert asker.row("b/New name.md").id == identity


@pytest.mark.parametrize("order", [["Old.md", "New.md"], ["New.md", "Old.md"]])
def test_a_derived_id_survives_a_rename_told_event_by_event(notes, asker, order):
    notes.write("Old.md", "Some words.\n")
    notes.write("Other.md", "x\n")
    identity = asker.row("Old.md").id
    (notes.root / "Old.md").rename(notes.root / "New.md")
    for path in order:
        asker.index.touched([path])
    assert asker.row("New.md").id == identity
    assert asker.row("Old.md") is None


def test_two_notes_never_share_a_derived_id(notes, asker):
    notes.write("A.md", "first\n")
    notes.write("Other.md", "x\n")
    first = asker.row("A.md").id
    (notes.root / "A.md").rename(notes.root / "B.md")
    assert asker.row("B.md").id == first
    notes.write("A.md", "second\n")
    assert asker.row("A.md").id not in ("", first)
    asker.index.refresh()
    assert asker.row("B.md").id == first


def test_a_copy_has_an_id_of_its_own(notes, asker):
    notes.write("A.md", "words\n")
    first = asker.row("A.md").id
    notes.write("B.md", "words\n")
    assert asker.row("A.md").id == first
    assert asker.row("B.md").id != first


def test_an_id_in_the_frontmatter_is_the_owners_to_change(notes, asker):
    notes.write("A.md", "---\nid: abcdefgh1234\n---\nwords\n")
    assert asker.row("A.md").id == "abcdefgh1234"
    notes.write("A.md", "---\nid: abcdefgh5678\n---\nwords\n")
    assert asker.row("A.md").id == "abcdefgh5678"


# What is stored


def test_odd_texts_are_kept(notes, asker):
    """Bytes that are not UTF-8, half a surrogate pair and a NUL, where they become columns."""
    odd = ["caf\udce9", '"\\ud83d"', '"a\\0b"']
    for number, text in enumerate(odd):
        notes.write(
            f"agent-memory/{number}.md", f"---\ntitle: {text}\ncategory: {text}\n---\nquince\n"
        )
    assert len(asker.paths("quince")) == 3
    assert asker.row("agent-memory/0.md").title == "caf\ufffd"
    assert asker.row("agent-memory/2.md").category == "a\0b"


def test_settings_that_change_the_class_of_notes_have_an_index_of_their_own(notes, open_index):
    notes.write("memoria/food.md", "- Likes gooseberries. ^abcdef\n")
    first = open_index()
    assert first.row("memoria/food.md").note_class == "user-doc"
    (notes.root / "zibaldone.toml").write_text('memory_folder = "memoria"\n')
    second = open_index()
    assert second.row("memoria/food.md").note_class == "agent-memory"
    assert first.row("memoria/food.md").note_class == "user-doc"
    assert second.find("gooseberries").hits[0].passage.observation == "abcdef"


# Vaults that go away


def test_notes_that_vanish_all_at_once_are_not_taken_for_deleted(notes, asker, tmp_path):
    for name in ("A.md", "b/B.md", "C.md"):
        notes.write(name, f"gooseberry {name}\n")
    ids = {path: asker.row(path).id for path in ("A.md", "b/B.md", "C.md")}
    away = tmp_path / "away"
    away.mkdir()
    for entry in list(notes.root.iterdir()):
        shutil.move(entry, away)
    for ask in (lambda: asker.paths("gooseberry"), asker.index.refresh, lambda: asker.row("A.md")):
        with pytest.raises(VaultEmptied) as emptied:
            ask()
        assert emptied.value.known == 3
    for entry in list(away.iterdir()):
        shutil.move(entry, notes.root)
    assert len(asker.paths("gooseberry")) == 3
    assert {path: asker.row(path).id for path in ids} == ids


def test_an_emptied_vault_is_accepted_when_the_owner_says_so(notes, asker):
    for name in ("A.md", "B.md"):
        notes.write(name, "gooseberry\n")
    asker.index.refresh()
    for name in ("A.md", "B.md"):
        (notes.root / name).unlink()
    with pytest.raises(VaultEmptied):
        asker.index.refresh()
    assert asker.index.refresh(rebuild=True).notes == 0
    assert asker.paths("gooseberry") == []


def test_notes_may_be_deleted_one_after_another(notes, asker):
    """The last one too, by who tells of it; that it vanished by itself is not believed."""
    for name in ("A.md", "B.md", "C.md"):
        notes.write(name, "gooseberry\n")
    for left, name in ((3, "A.md"), (2, "B.md")):
        assert asker.find("gooseberry").notes == left
        (notes.root / name).unlink()
    assert asker.find("gooseberry").notes == 1
    (notes.root / "C.md").unlink()
    with pytest.raises(VaultEmptied):
        asker.find("gooseberry")
    asker.index.touched(["C.md"])
    assert asker.find("gooseberry").notes == 0
    notes.write("D.md", "gooseberry\n")
    assert asker.paths("gooseberry") == ["D.md"]


def test_the_first_note_of_a_vault_may_be_younger_than_the_look(notes, asker, monkeypatch):
    asker.index.refresh()
    walk = type(asker.index.layout).walk

    def slow_walk(layout):
        entries = list(walk(layout))
        notes.write("First.md", "gooseberry\n")
        asker.index.touched(["First.md"])
        return iter(entries)

    with monkeypatch.context() as patch:
        patch.setattr(type(asker.index.layout), "walk", slow_walk)
        asker.index.look()
    assert asker.paths("gooseberry") == ["First.md"]


def test_a_vault_that_has_gone_is_an_error_until_it_is_back(notes, asker, tmp_path):
    notes.write("A.md", "gooseberry\n")
    notes.write("B.md", "gooseberry\n")
    asker.index.refresh()
    notes.root.rename(tmp_path / "elsewhere")
    with pytest.raises(VaultNotFound):
        asker.paths("gooseberry")
    (tmp_path / "elsewhere").rename(notes.root)
    assert len(asker.paths("gooseberry")) == 2


# Several threads


def test_many_threads_may_ask_and_write_at_once(notes, asker):
    for number in range(20):
        notes.write(f"N{number}.md", f"common word{number}\n")
    failures = []

    def work(mine):
        try:
            for turn in range(5):
                path, word = f"T{mine}.md", "quilt" * (mine + 1)
                notes.write(path, f"common {word} turn{turn}\n", old=False)
                asker.index.touched([path])
                assert asker.texts(word) == [f"common {word} turn{turn}"]
                assert f"N{mine}.md" in asker.paths(f"word{mine}")
        except Exception as failure:  # noqa: BLE001 - told by the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert asker.find("common").notes == 26
    assert asker.state().behind == 0


# From nothing


def test_without_its_files_the_index_gives_the_same_answers(sample_vault, open_index):
    asker = open_index(sample_vault)
    questions = [
        *QUESTIONS, "tendon hand", "goma laca", "bread", "informe", "projects", "2026", "music",
        "tea after lunch", "README", "alcohol", "lacquer guitar", "#taller", "^nzh164", "agenda",
    ]  # fmt: skip
    before = asker.everything(questions)
    assert before.count("agent-memory/") > 10
    (folder,) = asker.index.layout.cache_dir.glob("index-*")
    shutil.rmtree(folder)
    assert asker.everything(questions) == before
    asker.index.close()
    shutil.rmtree(asker.index.layout.cache_dir)
    assert open_index(sample_vault).everything(questions) == before


def test_many_small_changes_give_the_same_answers_as_one_build(
    sample_vault, open_index, tmp_path, monkeypatch
):
    """Pending documents, flushed and merged segments, and one large segment score alike."""
    monkeypatch.setattr("zibaldone.indexer.upkeep.PENDING_LIMIT", 20)
    monkeypatch.setattr("zibaldone.indexer.upkeep.SEGMENT_LIMIT", 2)
    away = tmp_path / "away"
    sample_vault.rename(away)
    sample_vault.mkdir()
    asker = open_index(sample_vault)
    for number, file in enumerate(sorted(away.rglob("*.md"))):
        path = file.relative_to(away)
        (sample_vault / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, sample_vault / path)
        asker.index.touched([str(path)])
        if number % 5 == 0:
            asker.index.tidy()
    before = asker.everything(QUESTIONS)
    monkeypatch.setattr(index_module, "BULK", 1)
    asker.index.refresh(rebuild=True)
    assert asker.everything(QUESTIONS) == before
