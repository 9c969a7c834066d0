"""What goes wrong with indexes in the field: one test per case, named for it."""

import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from functools import partial

import pytest
from zibaldone.indexer import sync
from zibaldone.indexer.index import Index
from zibaldone.tools.notes import create_note, delete_note, edit_note, get_note
from zibaldone.tools.recall import recall
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
from zibaldone.vault.errors import (
    NoteChanged,
    NoteNotFound,
    StorageFailed,
    TextNotFound,
    VaultEmptied,
    ZibaldoneError,
)
from zibaldone.vault.ids import derived_id

GOOSEBERRIES = {"A.md": "gooseberry\n", "B.md": "gooseberry\n"}


@pytest.fixture
def opened(vault_dir, fill):
    """Fill the vault and open it; closed after the test."""
    with ExitStack() as stack:

        def open_vault(files=(), **options):
            fill(dict(files))
            return stack.enter_context(Vault.open(vault_dir, **options))

        yield open_vault


@pytest.fixture
def segments_at_once(monkeypatch):
    """Let a few notes make a segment, as many notes do."""
    monkeypatch.setattr("zibaldone.indexer.index.BULK", 1)


@pytest.fixture
def patch():
    """Patches that a test may undo, without losing its private cache."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture
def python():
    """Start another Python process; those that still run are killed after the test."""
    with ExitStack() as stack:

        def start(code, *arguments):
            command = [sys.executable, "-c", code, *map(str, arguments)]
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        yield start


def paths(vault, query, **options):
    return [hit.path for hit in search(vault, query, **options).results]


def targets(vault, ref):
    return [link.path for link in get_note(vault, ref).links]


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# IX-01: locks

HOLD_WRITER = """
import sys, time
from pathlib import Path
from zibaldone.indexer.index import Index
from zibaldone.vault.layout import open_layout
index = Index(open_layout(sys.argv[1]))
index.refresh()
catalog = index._parts.catalog
with index._engine.build_lock(5), catalog.writing() as change:
    catalog.remove("Old.md", change)
    print("held", flush=True)
    time.sleep(60)
"""

HOLD_BUILD_LOCK = """
import sys
from zibaldone.indexer.index import Index
from zibaldone.vault.layout import open_layout
with Index(open_layout(sys.argv[1]))._engine.build_lock(5):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_ix_01_killed_writer(opened, vault_dir, python):
    vault = opened({"Old.md": "quince\n"})
    holder = python(HOLD_WRITER, vault_dir)
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    made = create_note(vault, "garden", "New", "quince")
    assert sorted(paths(vault, "quince")) == ["Old.md", made.path]
    assert search(vault, "quince").index.note is None


def test_ix_01_left_over_lock_files(opened, monkeypatch):
    monkeypatch.setattr("zibaldone.indexer.index.BULK", 1)  # so that the build lock is needed
    vault = opened({"Old.md": "quince\n"})
    locks = vault.layout.cache_dir / "locks"
    locks.mkdir(parents=True)
    for name in ("build.lock", "vault.lock", "write.lock"):
        (locks / name).touch()
    made = create_note(vault, "garden", "New", "quince")
    assert sorted(paths(vault, "quince")) == ["Old.md", made.path]


def test_ix_01_a_live_lock_is_waited_for_and_never_stolen(opened, vault_dir, python, monkeypatch):
    monkeypatch.setattr("zibaldone.indexer.index.BULK", 1)
    vault = opened({"Old.md": "quince\n"})
    holder = python(HOLD_BUILD_LOCK, vault_dir)
    assert holder.stdout.readline() == "held\n"
    early = search(vault, "quince")
    assert (early.results, early.index.fresh, early.index.behind) == ((), False, 1)
    release = threading.Timer(2, holder.stdin.close)
    release.start()
    vault.index.refresh(rebuild=True)
    assert not release.is_alive(), "the lock was stolen"
    assert holder.wait() == 0
    late = search(vault, "quince")
    assert [hit.path for hit in late.results] == ["Old.md"]
    assert (late.index.fresh, late.index.behind) == (True, 0)


def test_ix_01_what_another_process_has_built_is_not_behind(opened, python, vault_dir, patch):
    vault, other = opened({"Old.md": "quince\n"}), opened()
    holder = python(HOLD_BUILD_LOCK, vault_dir)
    assert holder.stdout.readline() == "held\n"
    patch.setattr("zibaldone.indexer.index.BULK", 1)
    assert search(vault, "quince").index.behind == 1
    patch.undo()
    assert paths(other, "quince") == ["Old.md"]
    now = search(vault, "quince").index
    assert (now.fresh, now.behind, now.notes) == (True, 0, 1)


# IX-03: damage


def halved(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def zeroed(file):
    with file.open("r+b") as stream:
        stream.write(bytes(file.stat().st_size))


def toc_cut(folder):
    halved(next(folder.glob("segment-*/*.toc")))


def one_file_deleted(folder):
    next(file for file in folder.glob("segment-*/*") if file.suffix != ".toc").unlink()


def all_files_but_the_toc_deleted(folder):
    for file in folder.glob("segment-*/*"):
        if file.suffix != ".toc":
            file.unlink()


def zeros(folder):
    zeroed(next(file for file in folder.glob("segment-*/*") if file.suffix != ".toc"))


def segment_folders_deleted(folder):
    for segment in folder.glob("segment-*"):
        shutil.rmtree(segment)


def catalog_deleted(folder):
    for file in folder.glob("catalog.db*"):
        file.unlink()


def catalog_cut(folder):
    halved(folder / "catalog.db")


def catalog_zeros(folder):
    zeroed(folder / "catalog.db")


DAMAGES = [
    toc_cut,
    one_file_deleted,
    all_files_but_the_toc_deleted,
    zeros,
    segment_folders_deleted,
    catalog_deleted,
]


def both_found_after_repair(vault):
    answer = search(vault, "gooseberry")
    assert sorted(hit.path for hit in answer.results) == ["A.md", "B.md"]
    assert "damaged" in answer.index.note
    assert answer.index.fresh
    assert search(vault, "gooseberry").index.note is None, "told once"


@pytest.mark.parametrize("damage", [*DAMAGES, catalog_cut, catalog_zeros])
def test_ix_03_damage_found_at_the_next_start(opened, segments_at_once, damage):
    first = opened(GOOSEBERRIES)
    assert len(paths(first, "gooseberry")) == 2
    first.close()
    folder = first.index.folder
    assert list(folder.glob("segment-*/*.toc"))
    damage(folder)
    both_found_after_repair(opened())


@pytest.mark.parametrize("damage", DAMAGES)
def test_ix_03_damage_under_an_open_index(opened, segments_at_once, damage):
    vault = opened(GOOSEBERRIES)
    assert len(paths(vault, "gooseberry")) == 2
    damage(vault.index.folder)
    both_found_after_repair(vault)


@pytest.mark.parametrize("damage", [catalog_cut, catalog_zeros])
def test_ix_03_a_catalog_torn_under_an_open_index(opened, segments_at_once, damage):
    vault = opened(GOOSEBERRIES)
    assert len(paths(vault, "gooseberry")) == 2
    damage(vault.index.folder)
    # SQLite may hold the pages in memory and in its log, and then nothing is lost.
    assert sorted(paths(vault, "gooseberry")) == ["A.md", "B.md"]
    vault.close()
    assert sorted(paths(opened(), "gooseberry")) == ["A.md", "B.md"]


def test_ix_03_a_page_lost_in_the_midst_of_a_long_text(opened):
    body = "".join(f"\n\n## Part {n}\n\ngooseberry {n}" for n in range(60))
    first = opened({"A.md": f"gooseberry{body}\n", "B.md": "gooseberry\n"})
    wanted = search(first, "gooseberry").results
    first.close()
    file = first.index.folder / "catalog.db"
    data = file.read_bytes()
    at = data.index(b"Part 30") // 4096 * 4096
    file.write_bytes(data[:at] + bytes(4096) + data[at + 4096 :])
    answer = search(opened(), "gooseberry")
    assert answer.results == wanted
    assert "damaged" in answer.index.note


def test_ix_03_damage_found_while_the_index_is_tidied(opened, segments_at_once, patch, fill):
    patch.setattr("zibaldone.indexer.upkeep.SEGMENT_LIMIT", 1)
    vault = opened({"A.md": "gooseberry\n"})
    paths(vault, "gooseberry")
    fill({"B.md": "gooseberry\n"})
    paths(vault, "gooseberry")
    zeros(vault.index.folder)
    vault.close()  # which merges segments
    patch.undo()
    both_found_after_repair(opened())


def test_ix_03_a_full_disk_is_no_damage(opened, fill):
    vault = opened(GOOSEBERRIES)
    assert len(paths(vault, "gooseberry")) == 2
    file = vault.index.folder / "catalog.db"
    inode = file.stat().st_ino
    pages = vault.index._parts.catalog._db.execute("PRAGMA max_page_count=1").fetchone()[0]
    fill({f"C{n}.md": f"gooseberry {n} " + "and more " * 500 for n in range(50)})
    with pytest.raises(StorageFailed, match="full"):
        search(vault, "gooseberry")
    vault.index._parts.catalog._db.execute(f"PRAGMA max_page_count={pages + 10_000}")
    answer = search(vault, "gooseberry", limit=60)
    assert (answer.total, answer.index.note) == (52, None)
    assert file.stat().st_ino == inode


# IX-05 to IX-21


def test_ix_05_links_to_a_deleted_note(opened):
    vault = opened({"Src.md": "[[Dst]]\n", "Dst.md": "d damson\n"})
    assert targets(vault, "Src") == ["Dst.md"]
    delete_note(vault, "Dst")
    assert targets(vault, "Src") == [None]
    assert paths(vault, "Dst") == ["Src.md"]  # whose text says it
    assert paths(vault, "damson") == []
    (vault.layout.root / "Dst.md").write_text("d damson\n")
    assert targets(vault, "Src") == ["Dst.md"]
    assert [back.path for back in get_note(vault, "Dst").backlinks] == ["Src.md"]


def test_ix_06_one_hit_per_note(opened, vault_dir):
    text = "---\ntitle: Cardamom\n---\n# Cardamom\n\ncardamom here, cardamom there\n"
    vault = opened({"Once.md": text})
    for _ in range(3):
        vault.index.refresh(rebuild=True)
    (vault_dir / "Once.md").rename(vault_dir / "Twice.md")
    answer = search(vault, "cardamom")
    assert [hit.path for hit in answer.results] == ["Twice.md"]
    assert (answer.total, answer.index.notes) == (1, 1)


def test_ix_08_punctuation_in_queries(opened):
    text = "Wind at 30 km/h; can't rely on charts/readme.md alone.\n"
    vault = opened({"Speed.md": text, "Other.md": "kmh and cants, the charted reading\n"})
    for query in ("km/h", "can't", "readme.md", "charts/readme.md"):
        assert paths(vault, query)[:1] == ["Speed.md"], query
    assert paths(vault, "wind:") in ([], ["Speed.md"])
    assert "Other.md" not in paths(vault, "km/h")


@pytest.mark.parametrize("query", ["@marlow", "C++", "$HOME"])
def test_ix_10_handles_and_signs(opened, query):
    vault = opened(
        {
            "Handle.md": "ask @marlow about C++ and $HOME\n",
            "Word.md": "marlow the novel, C and home\n",
        }
    )
    assert paths(vault, query)[:1] == ["Handle.md"]


def test_ix_11_stop_words_only(opened):
    vault = opened({"Band.md": "The Who played.\n", "Else.md": "nothing here\n"})
    for query in ("the who", "to be or not to be", "the"):
        answer = search(vault, query)
        found = [hit.path for hit in answer.results]
        assert found == ["Band.md"] or (not found and "too common" in answer.hint), query


def test_ix_13_text_without_blanks(opened):
    vault = opened(
        {
            "ja.md": "昨日は京都で抹茶を飲みました\n",
            "zh.md": "我们在北京买了自行车\n",
            "ko.md": "오늘은 서울에서 회의\n",
        }
    )
    for query, path in {
        "抹茶": "ja.md",
        "京都": "ja.md",
        "自行车": "zh.md",
        "茶": "ja.md",
        "서울": "ko.md",
    }.items():
        assert paths(vault, query)[:1] == [path], query


def test_ix_15_accents(opened):
    vault = opened({"fr.md": "Le résumé de Noël\n", "nfd.md": "re\u0301sume\u0301 again\n"})
    for query in ("resume", "résumé", "re\u0301sume\u0301"):
        assert sorted(paths(vault, query)) == ["fr.md", "nfd.md"], query
    assert paths(vault, "noel") == ["fr.md"]


def test_ix_16_compound_names(opened):
    vault = opened(
        {
            "Code.md": "call parseHarbourLog then set max_retry_count\n",
            "Words.md": "we parse the log in the harbour\n",
        }
    )
    for query in ("parseHarbourLog", "max_retry_count", "PARSEHARBOURLOG"):
        assert paths(vault, query)[:1] == ["Code.md"], query
    for query in ("harbour", "retry"):
        assert "Code.md" in paths(vault, query), query


def test_ix_18_bytes_that_are_no_text(opened, vault_dir):
    files = {
        "Nul.md": b"before\x00after pepper\n",
        "Latin.md": b"Caf\xe9 pepper\n",
        "Plain.md": b"pepper\n",
    }
    vault = opened(files)
    assert sorted(paths(vault, "pepper")) == sorted(files)
    assert {path.name: path.read_bytes() for path in vault_dir.glob("*.md")} == files
    snippets = {hit.path: hit.snippet for hit in search(vault, "pepper").results}
    assert "\ufffd" in snippets["Latin.md"]


def test_ix_20_a_note_made_while_a_scan_runs(opened, patch):
    scanning, other = opened({"Old.md": "old\n"}), opened()
    begun, go_on = threading.Event(), threading.Event()
    scanning.index.refresh()
    prepare = sync.prepare

    def slow(layout, entry, known):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(30)
        return prepare(layout, entry, known)

    (scanning.layout.root / "Old.md").write_text("old and changed\n")
    patch.setattr(sync, "prepare", slow)
    scan = threading.Thread(target=scanning.index.refresh)
    scan.start()
    try:
        assert begun.wait(30)
        made = create_note(other, "garden", "New", "medlar")
    finally:
        go_on.set()
        scan.join()
    patch.undo()
    for vault in (scanning, other):
        assert paths(vault, "medlar") == [made.path]
        assert paths(vault, "changed") == ["Old.md"]
        assert search(vault, "medlar").index.fresh


def test_ix_20_the_first_note_made_after_the_walk(opened, patch):
    scanning, other = opened(), opened()
    scanning.index.refresh()
    walk = scanning.layout.walk

    def walk_then_create(*arguments):
        seen = list(walk(*arguments))
        patch.undo()
        create_note(other, "garden", "New", "medlar")
        return iter(seen)

    patch.setattr(type(scanning.layout), "walk", lambda self, *a: walk_then_create(*a))
    search(scanning, "medlar")  # not VaultEmptied
    assert paths(scanning, "medlar") == ["projects/garden/New.md"]


def test_ix_20_a_note_that_changes_while_it_is_read_is_read_again(opened, patch, vault_dir):
    vault = opened({"Old.md": "old\n"})
    vault.index.refresh()
    prepare = sync.prepare

    def overtaken(layout, entry, known):
        prepared = prepare(layout, entry, known)
        (vault_dir / "Old.md").write_text("newest\n")
        return prepared

    (vault_dir / "Old.md").write_text("changed\n")
    patch.setattr(sync, "prepare", overtaken)
    during = search(vault, "changed")
    patch.undo()
    assert during.results == ()
    assert not during.index.fresh
    after = search(vault, "newest")
    assert [hit.path for hit in after.results] == ["Old.md"]
    assert after.index.fresh


def test_ix_21_a_note_that_fails_once(opened, patch, caplog):
    text = "Use {name} and {0!r} and %s and 100 % loquat\n"
    vault = opened({"Braces %s {0!r}.md": text, "Other.md": "loquat\n"})
    prepare = sync.prepare

    def failing(layout, entry, known):
        if entry.path.startswith("Braces"):
            raise RuntimeError(text)
        return prepare(layout, entry, known)

    patch.setattr(sync, "prepare", failing)
    with caplog.at_level(logging.ERROR):
        assert paths(vault, "loquat") == ["Other.md"]
    assert "Braces %s {0!r}.md" in caplog.text
    assert text.strip() in caplog.text
    [(path, problem)] = vault.index.ask(vault.index.problems)
    assert (path, problem.kind) == ("Braces %s {0!r}.md", "unreadable")
    assert "loquat" in problem.detail
    patch.undo()
    assert sorted(paths(vault, "loquat")) == ["Braces %s {0!r}.md", "Other.md"]
    assert vault.index.ask(vault.index.problems) == []
    assert get_note(vault, path).note_id == derived_id(path)


# SY: other programs in the vault

COPIES = [
    "Plan (Kim's conflicted copy 2030-01-02).md",
    "Plan.sync-conflict-20300102-030405-ABCDEFG.md",
]


def test_sy_01_conflict_copies(opened, vault_dir):
    vault = opened(
        {
            "Plan.md": "version one plum\n",
            COPIES[1]: "version two plum\n",
            COPIES[0]: "version three plum\n",
            "Plan (1).md": "a real note plum\n",
            "Src.md": "[[Plan]]\n",
        }
    )
    before = files_of(vault_dir)
    hits = search(vault, "plum").results
    assert sorted(hit.path for hit in hits[:2]) == ["Plan (1).md", "Plan.md"]
    assert sorted(hit.path for hit in hits[2:]) == COPIES
    assert [hit.conflict_copy for hit in hits] == [None, None, True, True]
    assert targets(vault, "Src") == ["Plan.md"]
    problems = vault.index.ask(vault.index.problems)
    assert [(path, problem.kind) for path, problem in problems] == [
        (path, "conflict-copy") for path in COPIES
    ]
    assert files_of(vault_dir) == before


def test_sy_03_an_edit_does_not_rest_on_old_text(opened, vault_dir):
    vault = opened({"Shared.md": "old\n"})
    token = get_note(vault, "Shared").version_token
    (vault_dir / "Shared.md").write_text("newer\n")
    with pytest.raises(NoteChanged):
        edit_note(vault, "Shared", "replace", "mine\n", version_token=token)
    with pytest.raises(TextNotFound):
        edit_note(vault, "Shared", "findReplace", "mine", find="old")
    edit_note(vault, "Shared", "append", "mine")
    assert (vault_dir / "Shared.md").read_text().split() == ["newer", "mine"]


def test_sy_05_a_deleted_note_stays_deleted(opened, vault_dir):
    vault = opened({"Gone.md": "sloe\n", "Other.md": "sloe\n"})
    deleted = delete_note(vault, "Gone")
    vault.close()
    again = opened()
    again.index.refresh(rebuild=True)
    assert paths(again, "sloe") == ["Other.md"]
    assert not (vault_dir / "Gone.md").exists()
    assert "Gone.md" in deleted.trash_path
    with pytest.raises(NoteNotFound):
        get_note(again, "Gone")


def test_sy_06_watching_writes_nothing(opened, vault_dir):
    vault = opened({"Typing.md": "---\nmodified: 2030-01-01\n---\na\n"}, watch=True)
    paths(vault, "a")
    for turn in range(6):
        text = f"---\nmodified: 2030-01-01\n---\na mirabelle{turn}\n"
        (vault_dir / "Typing.md").write_text(text)
        stamp = (vault_dir / "Typing.md").stat().st_mtime_ns
        time.sleep(0.2)
        assert (vault_dir / "Typing.md").stat().st_mtime_ns == stamp
        assert (vault_dir / "Typing.md").read_text() == text
    until(lambda: paths(vault, "mirabelle5") == ["Typing.md"])
    assert [path.name for path in vault_dir.rglob("*.md")] == ["Typing.md"]
    assert (vault_dir / "Typing.md").read_text() == text


# LK: links


@pytest.mark.parametrize("backwards", [False, True])
def test_lk_08_notes_of_one_name(opened, fill, backwards):
    files = {
        "k/Note.md": "k\n",
        "h/k/Note.md": "hk\n",
        "wwww/Note.md": "w\n",
        "k/Src.md": "[[Note]]\n",
        "q/Src2.md": "[[Note]]\n",
        "wwww/deep/Src3.md": "[[Note]]\n",
    }
    vault = opened()
    for path in sorted(files, reverse=backwards):
        fill({path: files[path]})
        vault.index.refresh()
    sources = ("k/Src.md", "q/Src2.md", "wwww/deep/Src3.md")
    assert [targets(vault, source) for source in sources] == [["k/Note.md"]] * 3
    fill({"Note.md": "top\n"})
    assert [targets(vault, source) for source in sources] == [["Note.md"]] * 3
    linking = [back.path for back in get_note(vault, "Note.md").backlinks]
    assert sorted(linking) == sorted(sources)


def test_lk_15_an_alias_hides_no_note(opened):
    vault = opened(
        {
            "Mercury.md": "planet\n",
            "Thermometer.md": "---\naliases: [Mercury]\n---\nt\n",
            "Src.md": "[[Mercury]]\n",
        }
    )
    assert targets(vault, "Src") == ["Mercury.md"]
    assert [back.path for back in get_note(vault, "Mercury.md").backlinks] == ["Src.md"]
    assert get_note(vault, "Thermometer.md").backlinks == ()
    assert search(vault, "planet").index.notes == 3


def test_lk_20_anchors(opened):
    vault = opened(
        {
            "Guide.md": "# Guide\n\n## Mix & match\n\nA line. ^pin-1\n",
            "Src.md": "[[Guide#Mix & match]] [[Guide#^pin-1|pin]] ![[Guide#Mix & match]] "
            "[[Guide#No such part]] [[#Local]]\n\n## Local\n",
        }
    )
    found = [(x.path, x.anchor, x.kind, x.missing) for x in get_note(vault, "Src").links]
    assert found == [
        ("Guide.md", "Mix & match", "wikilink", None),
        ("Guide.md", "^pin-1", "wikilink", None),
        ("Guide.md", "Mix & match", "embed", None),
        ("Guide.md", "No such part", "wikilink", "heading"),
        ("Src.md", "Local", "wikilink", None),
    ]
    assert "A line." in get_note(vault, "Guide#Mix & match").content
    assert get_note(vault, "Guide#^pin-1").content.startswith("A line.")


# SC: hostile vaults


def test_sc_05_symlinks(fill, vault_dir, tmp_path):
    fill({"real.md": "medlar\n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("medlar secret\n")
    (vault_dir / "file.md").symlink_to(outside / "secret.md")
    (vault_dir / "folder").symlink_to(outside)
    (vault_dir / "loop").symlink_to(vault_dir)
    (vault_dir / "twin.md").symlink_to(vault_dir / "real.md")
    (tmp_path / "alias").symlink_to(vault_dir)
    with Vault.open(tmp_path / "alias") as vault:
        answer = search(vault, "medlar")
        assert [hit.path for hit in answer.results] == ["real.md"]
        assert answer.index.notes == 1
        for ref in ("file.md", "folder/secret.md"):
            with pytest.raises(ZibaldoneError):
                edit_note(vault, ref, "append", "mine")
        edit_note(vault, "real.md", "append", "damson")
        assert paths(vault, "damson") == ["real.md"]
    assert (outside / "secret.md").read_text() == "medlar secret\n"
    assert [path.name for path in outside.iterdir()] == ["secret.md"]


def test_sc_08_yaml_bomb(opened, vault_dir):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    bomb = "\n".join(["---", *lines, "---", "Body with word quartz.\n"])
    start = time.process_time()
    vault = opened({"Bomb.md": bomb, "Other.md": "quartz\n"})
    assert "Other.md" in paths(vault, "quartz")
    assert get_note(vault, "Bomb.md").problem
    assert time.process_time() - start < 5
    [(path, problem)] = vault.index.ask(vault.index.problems)
    assert (path, problem.kind) == ("Bomb.md", "frontmatter")
    assert (vault_dir / "Bomb.md").read_text() == bomb


# MC-05: the first build


def test_mc_05_questions_while_the_index_is_built(opened):
    files = {f"n/{n}.md": f"small note {n} greengage\n" for n in range(3000)}
    vault = opened(files, watch=True)
    begun = time.monotonic()
    first = search(vault, "greengage", limit=1)
    assert time.monotonic() - begun < 4, "patience, and a busy machine"
    assert not first.index.fresh or first.index.notes == 3000
    until(lambda: search(vault, "greengage", limit=1).index.fresh, 120)
    assert search(vault, "greengage", limit=1).total == 3000
    vault.close()
    folder = vault.index.folder
    built = {path.name: path.stat().st_mtime_ns for path in folder.glob("segment-*")}
    assert built
    again = opened(watch=True)
    assert search(again, "greengage", limit=1).total == 3000
    again.close()
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("segment-*")} == built


# Beyond the cases

QUESTIONS = (
    "hide glue", "humedad", "café", "report style", "glue pot temperature", "practice", "tuning",
    "strings", "Galway", "SQL", "barniz", "goma laca", "deadline", "gift", "allergy", "editor",
    "fret", "maderas", "design note", "meeting",
)  # fmt: skip


def test_a_new_cache_gives_the_same_answers(sample_vault):
    def answers():
        with Vault.open(sample_vault) as vault:
            cache = vault.layout.cache_dir
            found = [search(vault, question) for question in QUESTIONS]
            return cache, found, [recall(vault, question).sources for question in QUESTIONS]

    cache, found, recalled = answers()
    assert sum(bool(answer.results) for answer in found) >= 15
    shutil.rmtree(cache)
    assert answers() == (cache, found, recalled)


def test_a_rename_in_an_editor_keeps_the_derived_id(opened, vault_dir):
    vault = opened({"One.md": "quince\n", "Two.md": "medlar\n"})
    note_id = get_note(vault, "One").note_id
    (vault_dir / "sub").mkdir()
    (vault_dir / "One.md").rename(vault_dir / "sub/Uno.md")
    assert get_note(vault, note_id).path == "sub/Uno.md"
    vault.close()
    assert get_note(opened(), note_id).path == "sub/Uno.md"


def test_all_notes_vanish_at_once_and_come_back(opened, vault_dir, tmp_path):
    vault = opened(GOOSEBERRIES)
    assert len(paths(vault, "gooseberry")) == 2
    for name in GOOSEBERRIES:
        (vault_dir / name).rename(tmp_path / name)
    for ask in (partial(search, vault, "gooseberry"), vault.index.refresh):
        with pytest.raises(VaultEmptied):
            ask()
    for name in GOOSEBERRIES:
        (tmp_path / name).rename(vault_dir / name)
    assert len(paths(vault, "gooseberry")) == 2


@pytest.mark.parametrize("watch", [False, True])
def test_a_rebuild_accepts_an_emptied_vault(opened, vault_dir, watch):
    vault = opened(GOOSEBERRIES)
    assert len(paths(vault, "gooseberry")) == 2
    for name in GOOSEBERRIES:
        (vault_dir / name).unlink()
    vault = opened(watch=watch)
    with pytest.raises(VaultEmptied):
        search(vault, "gooseberry")
    assert vault.index.refresh(rebuild=True).notes == 0
    assert search(vault, "gooseberry").results == ()
    made = create_note(vault, "garden", "New", "gooseberry")
    assert paths(vault, "gooseberry") == [made.path]


def test_notes_that_come_back_under_a_watcher(opened, vault_dir, tmp_path):
    vault = opened(GOOSEBERRIES)
    paths(vault, "gooseberry")
    for name in GOOSEBERRIES:
        (vault_dir / name).rename(tmp_path / name)
    watched = opened(watch=True)
    with pytest.raises(VaultEmptied):
        search(watched, "gooseberry")
    for name in GOOSEBERRIES:
        (tmp_path / name).rename(vault_dir / name)
    assert len(paths(watched, "gooseberry")) == 2


def test_an_edit_within_one_tick_of_the_clock_is_seen(opened, vault_dir):
    file = vault_dir / "Tick.md"
    tick = time.time_ns() + 10**9  # surely not older than the reading

    def save(text):
        with file.open("r+" if file.exists() else "w") as stream:
            stream.write(text)
        os.utime(file, ns=(tick, tick))
        return file.stat()

    vault = opened()
    before = save("damson\n")
    assert paths(vault, "damson") == ["Tick.md"]
    after = save("medlar\n")
    assert (before.st_ino, before.st_size, before.st_mtime_ns) == (
        after.st_ino,
        after.st_size,
        after.st_mtime_ns,
    )
    assert paths(vault, "damson") == []
    assert paths(vault, "medlar") == ["Tick.md"]


ECHO = """
import sys
from zibaldone.tools.notes import create_note
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
with Vault.open(sys.argv[1]) as vault:
    for line in sys.stdin:
        verb, word = line.split()
        if verb == "find":
            print(" ".join(hit.path for hit in search(vault, word).results), flush=True)
        elif verb == "write":
            print(create_note(vault, "garden", word, word).path, flush=True)
        else:
            print(remember_about_user(vault, f"Likes {word}.").path, flush=True)
"""


def test_what_one_process_writes_the_next_call_of_another_finds(opened, vault_dir, python):
    vault = opened({"Old.md": "quince\n"})
    process = python(ECHO, vault_dir)

    def there(line):
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    assert there("find quince") == ["Old.md"] == paths(vault, "quince")
    [path] = there("write medlar")
    assert paths(vault, "medlar") == [path]
    made = create_note(vault, "garden", "Plums", "damson")
    assert there("find damson") == [made.path]
    [memory] = there("remember rhubarb")
    assert paths(vault, "rhubarb") == [memory]
    remember_about_user(vault, "Dislikes tamarind.")
    assert there("find tamarind") == [memory]
    delete_note(vault, made.path)
    assert there("find damson") == []


OPEN_AT_ONCE = """
import sys
from zibaldone.tools.search import search
from zibaldone.tools.vault import Vault
with Vault.open(sys.argv[1]) as vault:
    print("ready", flush=True)
    sys.stdin.readline()
    answer = search(vault, "gooseberry")
    print(len(answer.results), answer.index.note, flush=True)
"""


def test_eight_processes_open_a_new_cache_at_once(fill, vault_dir, python):
    fill(GOOSEBERRIES)
    processes = [python(OPEN_AT_ONCE, vault_dir) for _ in range(8)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.stdout.readline() for process in processes] == ["2 None\n"] * 8
    assert [process.wait() for process in processes] == [0] * 8


def test_the_log_of_a_busy_catalog_is_waited_for(opened):
    vault = opened(GOOSEBERRIES)
    folder = vault.index.folder
    folder.mkdir(parents=True)
    busy = sqlite3.connect(folder / "catalog.db", isolation_level=None, check_same_thread=False)
    busy.execute("BEGIN IMMEDIATE")  # for whose end SQLite does not wait to change the journal
    release = threading.Timer(0.3, lambda: (busy.execute("ROLLBACK"), busy.close()))
    release.start()
    answer = search(vault, "gooseberry")
    release.join()
    assert (len(answer.results), answer.index.note) == (2, None)


def test_a_rebuild_does_not_wait_for_the_keeper_for_ever(opened):
    vault = opened(GOOSEBERRIES, watch=True)
    paths(vault, "gooseberry")
    held, go_on = threading.Event(), threading.Event()

    def keep():  # as the keeper's build does: the build lock, then the index
        with vault.index._engine.build_lock(5):
            held.set()
            go_on.wait(5)
            vault.index.touched(("A.md",))

    keeper = threading.Thread(target=keep)
    keeper.start()
    assert held.wait(10)
    threading.Timer(0.3, go_on.set).start()
    begun = time.monotonic()
    assert vault.index.refresh(rebuild=True).notes == 2
    assert time.monotonic() - begun < 20
    keeper.join()


def test_a_rebuild_in_the_midst_of_a_look(opened, patch):
    begun, go_on = threading.Event(), threading.Event()
    prepare = sync.prepare

    def slow(layout, entry, known):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(30)
        return prepare(layout, entry, known)

    patch.setattr(sync, "prepare", slow)
    vault = opened(GOOSEBERRIES, watch=True)
    try:
        assert begun.wait(30)
        assert vault.index.refresh(rebuild=True).notes == 2
        inode = (vault.index.folder / "catalog.db").stat().st_ino
    finally:
        go_on.set()
    until(lambda: not vault.index.marked() and search(vault, "gooseberry").index.fresh)
    vault.close()
    assert (vault.index.folder / "catalog.db").stat().st_ino == inode


def test_an_index_closed_twice(vault_dir):
    vault = Vault.open(vault_dir)
    assert isinstance(vault.index, Index)
    vault.close()
    vault.close()
