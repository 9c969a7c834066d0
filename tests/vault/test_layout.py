import logging
import os
import shutil
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault.errors import PathRefused, SettingsInvalid, VaultNotFound
from zibaldone.vault.layout import Layout, Place, conflict_copy, find_vault, open_layout
from zibaldone.vault.settings import Settings


def put(root, *paths, text="x\n"):
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def walked(root, problems=None):
    report = (lambda problem: problems.append(tuple(problem))) if problems is not None else None
    layout = root if isinstance(root, Layout) else open_layout(root)
    return [entry.path for entry in (layout.walk(report) if report else layout.walk())]


def snapshot(folder):
    return sorted((str(p), p.lstat().st_mtime_ns) for p in folder.rglob("*"))


def test_opening_and_walking_a_vault_creates_and_changes_nothing(vault_dir, tmp_path):
    put(vault_dir, "a.md", "agent-memory/b.md")
    before = snapshot(tmp_path)
    layout = open_layout(vault_dir)
    assert walked(layout) == ["a.md", "agent-memory/b.md"]
    assert snapshot(tmp_path) == before
    assert not layout.state_dir.exists()
    assert not layout.cache_dir.exists()


# Opening


@pytest.mark.parametrize("place", ["gone", "a.md", "", "nul\0", "file://elsewhere.example/vault"])
def test_what_is_no_folder_is_no_vault(vault_dir, place, monkeypatch):
    monkeypatch.chdir(vault_dir)
    put(vault_dir, "a.md")
    with pytest.raises(VaultNotFound):
        open_layout(place)


def test_mc_08_a_vault_is_opened_by_plain_path_and_by_uri(tmp_path):
    root = tmp_path / "mis notas + 100%25 de Inés"
    put(root, "A.md")
    uri = root.as_uri()
    assert "%20" in uri
    assert "%2525" in uri
    for given_place in (
        root,
        str(root),
        uri,
        uri.replace("file://", "file://localhost"),
        Path(uri),
    ):
        layout = open_layout(given_place)
        assert layout.root == root
        assert walked(layout) == ["A.md"]


def test_a_home_folder_is_expanded(vault_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_layout("~/vault").root == vault_dir


def test_settings_and_environment_are_read_at_opening(vault_dir, tmp_path, monkeypatch):
    (vault_dir / "zibaldone.toml").write_text('memory_folder = "memoria"')
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(tmp_path / "state"))
    layout = open_layout(vault_dir)
    assert layout.settings.memory_folder == "memoria"
    assert layout.state_dir == tmp_path / "state"
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(vault_dir / "cache"))
    with pytest.raises(SettingsInvalid):
        open_layout(vault_dir)


@pytest.mark.parametrize("mark", ["zibaldone.toml", ".zibaldone", ".obsidian"])
def test_the_nearest_vault_above_is_found(tmp_path, mark):
    put(tmp_path / "outer", f"{mark}/x" if mark.startswith(".") else mark)
    put(tmp_path / "outer" / "inner" / "deep", "a.md")
    assert find_vault(tmp_path / "outer" / "inner" / "deep") == tmp_path / "outer"
    put(tmp_path / "outer" / "inner", ".obsidian/app.json")
    assert find_vault(tmp_path / "outer" / "inner" / "deep") == tmp_path / "outer" / "inner"


def test_no_vault_above_is_said(tmp_path):
    with pytest.raises(VaultNotFound):
        find_vault(tmp_path)


# Places


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("agent-memory/preferences.md", Place("agent-memory", None, "user")),
        ("agent-memory/sub/x.md", Place("agent-memory", None, "user")),
        ("projects/boat/agent-memory/x.md", Place("agent-memory", "boat", "project")),
        ("projects/boat/agent-memory/sub/x.md", Place("agent-memory", "boat", "project")),
        ("projects/boat/Log.md", Place("user-doc", "boat", None)),
        ("projects/boat/deep/er/Log.md", Place("user-doc", "boat", None)),
        ("projects/boat/deep/agent-memory/x.md", Place("user-doc", "boat", None)),
        ("projects/Overview.md", Place("user-doc", None, None)),
        ("agent-memory.md", Place("user-doc", None, None)),
        ("Agent-Memory/x.md", Place("user-doc", None, None)),
        ("notes/agent-memory/x.md", Place("user-doc", None, None)),
        ("projects-old/boat/agent-memory/x.md", Place("user-doc", None, None)),
        ("Ideas.md", Place("user-doc", None, None)),
    ],
)
def test_class_project_and_axis_follow_from_the_place_alone(vault_dir, path, place):
    assert open_layout(vault_dir).place(path) == place


def test_places_follow_the_settings_in_any_unicode_form(vault_dir):
    folders = 'memory_folder = "memoria"\nprojects_folder = "años"'
    (vault_dir / "zibaldone.toml").write_text(folders)
    layout = open_layout(vault_dir)
    path = unicodedata.normalize("NFD", "años/Málaga/memoria/x.md")
    assert layout.place(path) == Place("agent-memory", "Málaga", "project")
    assert layout.place("agent-memory/x.md").note_class == "user-doc"


# Containment

CLIMBS = [
    "../out.md",
    "a/../../out.md",
    "a/../a.md",
    "..\\out.md",
    "a\\..\\..\\out.md",
    "%2e%2e/out.md",
    "%252e%252e/out.md",
    "..%2fout.md",
    "．．/out.md",
    "‥/out.md",
    "./a.md",
    ".",
    "..",
    "",
    "/",
    "//a.md",
    "a//b.md",
    "/etc/passwd",
    "\\\\host\\share",
    "C:\\notes\\idea.md",
    "c:/notes/idea.md",
    "nul\0.md",
    "\ud800.md",
    "x" * 5000,
]


@pytest.mark.parametrize("path", CLIMBS)
def test_sc_01_no_path_climbs_out_of_the_vault(vault_dir, path):
    layout = open_layout(vault_dir)
    with pytest.raises(PathRefused):
        layout.absolute(path)
    with pytest.raises(PathRefused):
        layout.new_path(path)


@given(st.text(alphabet=st.sampled_from("./\\%2eE~a\0 ：．‥:C"), max_size=12))
def test_sc_01_whatever_is_accepted_stays_in_the_vault(tmp_path_factory, path):
    root = tmp_path_factory.getbasetemp() / "contained" / "vault"
    root.mkdir(parents=True, exist_ok=True)
    layout = Layout(root, Settings(), root / ".zibaldone", root.parent / "cache")
    for resolve in (layout.absolute, layout.new_path):
        try:
            real = resolve(path)
        except PathRefused:
            continue
        assert real.is_relative_to(root)
        assert real != root


def test_sc_03_a_path_is_normalised_before_it_is_judged(vault_dir):
    put(vault_dir, "open/tea.md", "shut/plan.md")
    layout = open_layout(vault_dir)
    for path in ("open/../shut/plan.md", "open\\..\\shut\\plan.md"):
        with pytest.raises(PathRefused):
            layout.absolute(path)
    # Reading under another case depends on the file system; making something new there does not.
    assert layout.absolute("Open/tea.md").is_relative_to(vault_dir)
    with pytest.raises(PathRefused, match="look-alike"):
        layout.new_path("Open/new.md")


@pytest.mark.parametrize(
    "path", ["C:\\notes\\idea.md", "notes\\idea.md", "C:/notes/idea.md", "C:idea.md"]
)
def test_mc_06_a_windows_path_becomes_no_odd_file_name(vault_dir, path):
    with pytest.raises(PathRefused):
        open_layout(vault_dir).new_path(path)


def test_sc_10_odd_folder_names_are_names_and_nothing_else(vault_dir, monkeypatch):
    monkeypatch.chdir(vault_dir)
    path = "odd $(touch hit) `x` ; 'q' & name/N.md"
    put(vault_dir, path)
    layout = open_layout(vault_dir)
    assert walked(layout) == [path]
    assert layout.absolute(path).read_text() == "x\n"
    assert layout.new_path(path.replace("N.md", "M.md")).name == "M.md"
    assert [folder.name for folder in vault_dir.iterdir()] == [path.split("/")[0]]


def test_the_owners_own_names_stay_readable_though_no_tool_would_give_them(vault_dir):
    names = ["Acme Inc./Aux.md", "St. /1⁄2 cup?.md", "a:b|c/what*.md", "100%2fday/x\\y.md"]
    put(vault_dir, *names)
    layout = open_layout(vault_dir)
    for name in names:
        assert layout.absolute(name).is_file()
        assert layout.new_path(f"{name.split('/')[0]}/new.md").parent.is_dir()
    for name in ("New Inc./x.md", "fresh /x.md", "a/what/aux.md", ".hidden/x.md", "a/.x.md"):
        with pytest.raises(PathRefused):
            layout.new_path(name)


@pytest.mark.parametrize(
    "path",
    [
        "Agent-Memory/x.md",
        "ａgent-memory/x.md",
        "PROJECTS/boat/x.md",
        "projects/boat/Agent-Memory/x.md",
    ],
)
def test_no_new_folder_looks_like_the_one_that_decides_the_class(vault_dir, path):
    layout = open_layout(vault_dir)
    with pytest.raises(PathRefused, match="look-alike"):
        layout.new_path(path)
    assert layout.new_path("notes/agent-memory-ideas/x.md").name == "x.md"


def test_new_paths_use_the_spelling_that_is_on_disk(vault_dir):
    decomposed = unicodedata.normalize("NFD", "Málaga/Año.md")
    put(vault_dir, decomposed)
    layout = open_layout(vault_dir)
    assert layout.new_path("Málaga/Año.md") == vault_dir / decomposed
    assert layout.new_path("Málaga/AÑO.md") == vault_dir / decomposed
    assert layout.new_path("Málaga/Otro.md") == vault_dir / decomposed.split("/")[0] / "Otro.md"
    assert layout.new_path(unicodedata.normalize("NFD", "Ñu.md")).name == "Ñu.md"


# Walking


def test_only_markdown_files_that_an_owner_would_call_notes_are_walked(vault_dir):
    notes = ["A.md", "B.MD", "c/D.Md", "z/e.md"]
    others = [
        ".hidden.md",
        ".obsidian/x.md",
        ".trash/Old.md",
        "c/.A.md.swp",
        "A.md~",
        "4913",
        "c/.123-ab.zib-tmp",
        "x.markdown",
        "x.txt",
        "md",
        "c/.md",
    ]
    put(vault_dir, *notes, *others)
    problems = []
    assert walked(vault_dir, problems) == ["A.md", "B.MD", "c/D.Md", "z/e.md"]
    assert problems == []


def test_the_order_depends_on_the_names_alone(tmp_path):
    names = ["b/z.md", "b/a.md", "a/deep/x.md", "a/x.md", "c.md", "B.md", "ñ.md", "a.md"]
    put(tmp_path / "one", *names)
    put(tmp_path / "two", *reversed(names))
    assert walked(tmp_path / "one") == walked(tmp_path / "two")
    assert sorted(walked(tmp_path / "one")) == sorted(names)


def test_a_walk_below_a_folder_yields_what_is_in_it(vault_dir):
    put(vault_dir, "a.md", "p/a.md", "p/q/b.md", "pq/c.md")
    below = [[e.path for e in open_layout(vault_dir).walk(start=at)] for at in ("p/", "p/q/", "x/")]
    assert below == [["p/a.md", "p/q/b.md"], ["p/q/b.md"], []]


def test_entries_carry_what_stat_says(vault_dir):
    put(vault_dir, "a.md", text="hello\n")
    (entry,) = open_layout(vault_dir).walk()
    found = (vault_dir / "a.md").stat()
    assert entry == ("a.md", 6, found.st_mtime_ns, found.st_ino)


def test_ignored_folders_and_files_are_left_out(vault_dir):
    (vault_dir / "zibaldone.toml").write_text(
        'ignore = ["Templates/", "archive/20*", "*.excalidraw.md", "Año"]'
    )
    kept = ["a.md", "archive/1999/x.md", "Templates.md", "deep/Templates.md"]
    left_out = [
        "Templates/x.md",
        "deep/Templates/x.md",
        "archive/2020/x.md",
        "archive/2020.md",
        "deep/draw.excalidraw.md",
        unicodedata.normalize("NFD", "deep/Año/x.md"),
    ]
    put(vault_dir, *kept, *left_out)
    layout = open_layout(vault_dir)
    assert sorted(walked(layout)) == sorted(kept)
    assert [path for path in kept if layout.ignored(path)] == []
    assert [path for path in left_out if not layout.ignored(path)] == []


def test_hidden_paths_are_ignored(vault_dir):
    layout = open_layout(vault_dir)
    for path in (".zibaldone/trash/x/a.md", "a/.b/c.md", ".x.md"):
        assert layout.ignored(path)
    assert not layout.ignored("a.b/c.md")


def test_a_state_folder_that_was_moved_to_elsewhere_in_the_vault_holds_no_notes(
    vault_dir, monkeypatch
):
    monkeypatch.setenv("ZIBALDONE_STATE_DIR", str(vault_dir / "meta" / "state"))
    put(vault_dir, "a.md", "meta/b.md", "meta/state/trash/id/c.md", "state/d.md")
    layout = open_layout(vault_dir)
    assert walked(layout) == ["a.md", "meta/b.md", "state/d.md"]
    assert layout.ignored("meta/state/trash/id/c.md")


def test_fw_16_a_vault_below_a_hidden_folder_works(tmp_path):
    root = tmp_path / ".data" / "vault"
    put(root, "A.md", ".obsidian/app.json", ".trash/Old.md", ".obsidian/x.md")
    layout = open_layout(root)
    assert walked(layout) == ["A.md"]
    assert not layout.ignored("A.md")
    assert layout.new_path("B.md") == root / "B.md"


def test_sc_05_symlinks_lead_nowhere_else_and_make_no_second_note(tmp_path):
    root, outside = tmp_path / "real", tmp_path / "outside"
    put(root, "real.md", "folder/inner.md")
    put(outside, "secret.md", "secret.txt")
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "dir").symlink_to(outside)
    (root / "picture.png").symlink_to(outside / "secret.txt")
    (root / "folder" / "loop").symlink_to(root / "folder")
    (root / "up").symlink_to("..")
    (root / "self.md").symlink_to("self.md")
    (root / "twice.md").symlink_to("real.md")
    (root / "again").symlink_to("folder")
    (root / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "link").symlink_to(root)

    layout = open_layout(tmp_path / "link")
    assert layout.root == root
    problems = []
    assert walked(layout, problems) == ["real.md", "folder/inner.md"]
    assert sorted(path for path, _ in problems) == ["dir", "file.md", "gone.md", "self.md", "up"]
    outward = [path for path, reason in problems if "out of the vault" in reason]
    assert sorted(outward) == ["dir", "file.md", "up"]

    for path in ("file.md", "dir/secret.md", "dir/new.md", "up/outside/secret.md", "dir", "up"):
        with pytest.raises(PathRefused):
            layout.absolute(path)
        with pytest.raises(PathRefused):
            layout.new_path(path)
    assert layout.absolute("twice.md") == root / "real.md"
    assert layout.absolute("again/inner.md") == root / "folder" / "inner.md"
    assert layout.relative(layout.absolute("again/inner.md")) == "folder/inner.md"


def test_a_symlink_inside_the_vault_gives_no_new_note_another_class(vault_dir):
    put(vault_dir, "agent-memory/a.md", "projects/boat/x.md", ".obsidian/x.md")
    (vault_dir / "projects" / "boat" / "agent-memory").symlink_to("../../agent-memory")
    (vault_dir / "notes").symlink_to("agent-memory")
    (vault_dir / "config").symlink_to(".obsidian")
    layout = open_layout(vault_dir)
    for path in ("projects/boat/agent-memory/new.md", "notes/new.md", "config/new.md"):
        with pytest.raises(PathRefused):
            layout.new_path(path)


def test_what_cannot_be_walked_is_reported(vault_dir):
    put(vault_dir, "a.md", "z.md")
    os.mkfifo(vault_dir / "pipe.md")
    (vault_dir / os.fsdecode(b"caf\xe9.md")).touch()
    problems = []
    assert walked(vault_dir, problems) == ["a.md", "z.md"]
    assert problems == [
        ("caf\ufffd.md", "its name is not UTF-8"),
        ("pipe.md", "not a regular file"),
    ]


def test_a_folder_that_cannot_be_listed_is_reported_and_the_rest_walked(vault_dir, monkeypatch):
    put(vault_dir, "a.md", "shut/b.md", "z/c.md")
    # Rights do not bind root, who may run this test: the refusal is put in by hand.
    real_scandir = os.scandir

    def scandir(path):
        if str(path).rstrip("/").endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    problems = []
    assert walked(vault_dir, problems) == ["a.md", "z/c.md"]
    assert problems == [("shut", "Permission denied")]


def test_without_a_listener_problems_are_logged(vault_dir, caplog):
    (vault_dir / "a.md").symlink_to("/etc/passwd")
    with caplog.at_level(logging.WARNING):
        assert walked(vault_dir) == []
    assert "a.md" in caplog.text


def test_a_root_that_vanished_is_not_an_empty_vault(vault_dir):
    put(vault_dir, "a.md")
    layout = open_layout(vault_dir)
    shutil.rmtree(vault_dir)
    with pytest.raises(VaultNotFound):
        list(layout.walk())


def test_very_deep_folders_are_walked(vault_dir):
    deep = "d/" * 900 + "x.md"
    put(vault_dir, deep)
    assert walked(vault_dir) == [deep]


@pytest.mark.parametrize(
    "name",
    [
        "Plan.sync-conflict-20240131-093015-ABCDEFG.md",
        "deep/Plan (Inés's conflicted copy 2024-01-31).md",
        "Plan (conflicted copy 2024-01-31 093015).md",
        "Plan (Conflicted copy laptop 202401310930).md",
        "Plan (copia en conflicto de Inés 2024-01-31).md",
        "Plan (Case Conflict 1).md",
        "Plan.Conflict.md",
    ],
)
def test_copies_that_sync_programs_make_are_recognised(name):
    assert conflict_copy(name)


@pytest.mark.parametrize(
    "name", ["Plan.md", "Conflict.md", "Handling of conflicted copies.md", "sync-conflict.md"]
)
def test_notes_about_conflicts_are_not_conflict_copies(name):
    assert not conflict_copy(name)
