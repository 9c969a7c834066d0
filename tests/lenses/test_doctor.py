import json
import os
import time
import unicodedata
from importlib.metadata import packages_distributions

import pytest
from zibaldone.lenses import doctor
from zibaldone.lenses.doctor import Finding, examine
from zibaldone.tools import cli
from zibaldone.tools.purge import purge
from zibaldone.tools.remember import remember_about_user
from zibaldone.tools.vault import Vault


def write(root, files):
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        file.write_bytes(data)


def examined(root):
    with Vault.open(root) as vault:
        return examine(vault)


def findings(root) -> list[tuple[str, str | None, int | None]]:
    return [(one.kind, one.path, one.line) for one in examined(root).findings]


def snapshot(root):
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


def test_a_well_vault_has_no_findings(sample_vault) -> None:
    seen = examined(sample_vault)
    assert [one for one in seen.findings if one.kind != "link"] == []
    assert seen.notes >= 40
    assert seen.index.fresh


@pytest.mark.parametrize(
    ("name", "content", "kind", "words"),
    [
        ("Bad.md", "---\ntitle: a\nx: [\n---\n", "frontmatter", "line"),
        ("Latin.md", b"one\ntwo Caf\xe9\n", "encoding", "line 2"),
        ("Photo.md", bytes(range(256)) * 40, "binary", "binary"),
        ("Huge.md", b"x" * (8 * 1024 * 1024 + 1), "too-large", "8 MB"),
        ("Plan (Ana's conflicted copy 2026-11-02).md", "x\n", "conflict-copy", "sync"),
    ],
)
def test_a_note_that_cannot_be_used(vault_dir, name, content, kind, words) -> None:
    write(vault_dir, {name: content, "Fine.md": "fine\n"})
    (finding,) = examined(vault_dir).findings
    assert (finding.kind, finding.path) == (kind, name)
    assert words in finding.problem
    assert finding.remedy


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_note_without_the_right_to_read_it(vault_dir) -> None:
    write(vault_dir, {"Secret.md": "x\n"})
    (vault_dir / "Secret.md").chmod(0)
    assert findings(vault_dir) == [("unreadable", "Secret.md", None)]


def test_symlinks_that_lead_outside(vault_dir, tmp_path) -> None:
    write(tmp_path, {"elsewhere/Note.md": "x\n"})
    (vault_dir / "out").symlink_to(tmp_path / "elsewhere")
    (vault_dir / "Out.md").symlink_to(tmp_path / "elsewhere" / "Note.md")
    assert {one[:2] for one in findings(vault_dir)} == {("left-out", "out"), ("left-out", "Out.md")}


def test_ids_that_two_notes_have(vault_dir) -> None:
    same = "---\nid: 7k2m9qx4tb1c\n---\n"
    write(vault_dir, {"A.md": same, "B.md": same, "C.md": "---\nid: 8k2m9qx4tb1c\n---\n"})
    (finding,) = examined(vault_dir).findings
    assert (finding.kind, finding.path) == ("duplicate-id", "B.md")
    assert "A.md" in finding.problem


def test_names_that_only_some_disks_tell_apart(vault_dir) -> None:
    plain, marked = unicodedata.normalize("NFC", "Café"), unicodedata.normalize("NFD", "Café")
    write(
        vault_dir, {f"{plain}.md": "a\n", f"{marked}.md": "b\n", "x/N.md": "c\n", "X/M.md": "d\n"}
    )
    if len(list(vault_dir.glob("*"))) < 4:
        pytest.skip("this disk does not tell them apart")
    kinds = [one for one in examined(vault_dir).findings if one.kind == "twin-name"]
    assert {one.path for one in kinds} & {f"{plain}.md", f"{marked}.md"}
    assert {one.path for one in kinds} & {"x", "X"}
    assert len(kinds) == 2


def test_links_that_lead_nowhere(vault_dir) -> None:
    write(
        vault_dir,
        {
            "A.md": "---\ntitle: A\n---\n# Top\n\n[[B]] [[Nowhere]]\n[[B#Gone]] [[B#^gone]]\n"
            "[[#Top]] [[#Bottom]] [x](B.md) [y](Lost.md) [z](https://example.org/) `[[Code]]`\n",
            "B.md": "# Here\n\n[[A#Top]] [[B#Here]]\n",
        },
    )
    seen = [(one.line, one.problem) for one in examined(vault_dir).findings]
    assert [line for line, _ in seen] == [6, 7, 7, 8, 8]
    said = " | ".join(problem for _, problem in seen)
    for name in ("Nowhere", "B#Gone", "B#^gone", "#Bottom", "Lost.md"):
        assert name in said
    assert "Code" not in said


def test_links_to_files_that_are_no_notes(vault_dir) -> None:
    write(vault_dir, {"img/Map.png": b"\x89PNG", ".obsidian/app.json": "{}"})
    write(vault_dir, {"A.md": "![[map.png]] [m](img/Map.png) ![[Lost.png]] [[app.json]]\n"})
    said = [one.problem for one in examined(vault_dir).findings]
    assert len(said) == 2
    assert "Lost.png" in said[0]
    assert "app.json" in said[1]


def test_a_link_that_fits_several_notes(vault_dir) -> None:
    write(
        vault_dir,
        {"a/Plan.md": "x\n", "b/Plan.md": "y\n", "c/Index.md": "[[Plan]] [[a/Plan]]\n"},
    )
    (finding,) = examined(vault_dir).findings
    assert (finding.kind, finding.path, finding.line) == ("ambiguous-link", "c/Index.md", 1)
    assert "a/Plan.md" in finding.problem
    assert "b/Plan.md" in finding.problem


def test_lines_of_memory_that_are_not_understood(vault_dir) -> None:
    write(
        vault_dir,
        {
            "agent-memory/facts.md": (
                "---\ncategory: Facts\n---\n"
                "# Facts\n\n"
                "- Right. [type:: episodic] [expires:: 2027-01-31] ^abc123\n"
                "- Wrong type. [type:: semantical] ^abc124\n"
                "- Wrong date. [expires:: next week] ^abc125\n"
                "- Wrong status. [status:: sleeping] ^abc126\n"
                "- Twice the same id. ^abc123\n"
                "- Parent.\n"
                "  - Nested, and meant to be so\n"
                "- Parent.\n"
                "  - Nested with an id of its own. ^abc128\n"
            )
        },
    )
    seen = {one.line: one for one in examined(vault_dir).findings}
    assert sorted(seen) == [7, 8, 9, 10, 14]
    assert {one.kind for one in seen.values()} == {"memory-line"}
    assert "semantical" in seen[7].problem
    assert "semantic" in seen[7].remedy
    assert "next week" in seen[8].problem
    assert "sleeping" in seen[9].problem
    assert "abc123" in seen[10].problem


def test_temporary_files_that_a_killed_process_left(vault_dir) -> None:
    write(vault_dir, {"A.md": "x\n", ".A.md.999999999.abcd.zib-tmp": "half"})
    old = time.time() - 7200
    os.utime(vault_dir / ".A.md.999999999.abcd.zib-tmp", (old, old))
    assert findings(vault_dir) == [("temporary", ".A.md.999999999.abcd.zib-tmp", None)]


def test_a_vault_that_cannot_be_written(vault_dir, monkeypatch) -> None:
    write(vault_dir, {"A.md": "x\n"})
    with Vault.open(vault_dir) as vault:
        monkeypatch.setattr(type(vault.store), "probe", lambda _: "it cannot be written to")
        assert [one.kind for one in examine(vault).findings] == ["read-only"]


def test_a_vault_whose_notes_have_vanished(vault_dir) -> None:
    write(vault_dir, {"A.md": "x\n"})
    examined(vault_dir)
    (vault_dir / "A.md").unlink()
    seen = examined(vault_dir)
    assert "vault_emptied" in {one.kind for one in seen.findings}


def test_whoosh_that_is_installed_twice(vault_dir, monkeypatch) -> None:
    both = {**packages_distributions(), "whoosh": ["Whoosh", "whoosh3"]}
    monkeypatch.setattr(doctor, "packages_distributions", lambda: both)
    (finding,) = examined(vault_dir).findings
    assert finding.kind == "installation"
    assert "Whoosh and whoosh3" in finding.problem


def test_doctor_changes_nothing(sample_vault) -> None:
    write(sample_vault, {"Bad.md": "---\nx: [\n---\n", "Latin.md": b"\xe9"})
    before = snapshot(sample_vault)
    examined(sample_vault)
    assert snapshot(sample_vault) == before


def test_the_report(vault_dir, capsys) -> None:
    write(vault_dir, {"A.md": "one\n[[Nowhere]]\n"})
    assert cli.run(["doctor", "--vault", str(vault_dir)]) == 7
    shown = capsys.readouterr().out
    assert shown.startswith("A.md:2  the link to Nowhere leads nowhere")
    assert shown.endswith("1 finding in 1 note.\n")
    assert cli.run(["doctor", "--vault", str(vault_dir), "--json"]) == 7
    told = json.loads(capsys.readouterr().out)
    assert told["findings"][0]["path"] == "A.md"
    assert told["index"] == {"fresh": True, "notes": 1, "behind": 0}
    (vault_dir / "A.md").write_text("one\n", "utf-8")
    assert cli.run(["doctor", "--vault", str(vault_dir)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out


def test_a_cache_inside_the_vault_is_an_error_that_says_so(vault_dir, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ZIBALDONE_CACHE_DIR", str(vault_dir / "cache"))
    assert cli.run(["doctor", "--vault", str(vault_dir)]) == 2
    assert "the cache would lie in the vault" in capsys.readouterr().err


def test_findings_of_one_note_stand_together_in_its_order(vault_dir) -> None:
    write(vault_dir, {"B.md": "[[X]]\n\n[[Y]]\n", "A.md": "[[X]]\n"})
    assert findings(vault_dir) == [("link", "A.md", 1), ("link", "B.md", 1), ("link", "B.md", 3)]
    assert all(isinstance(one, Finding) for one in examined(vault_dir).findings)


def test_law_11_what_was_purged_and_came_back_from_a_backup_is_told(vault_dir) -> None:
    with Vault.open(vault_dir) as owner:
        kept = remember_about_user(owner, "Likes tea.", "food")
        gone = remember_about_user(owner, "Takes lithium.", "food")
        whole = remember_about_user(owner, "Fears heights.", "fears")
    paths = [vault_dir / kept.path, vault_dir / whole.path]
    backup = [path.read_bytes() for path in paths]
    with Vault.open(vault_dir) as owner:
        purge(owner, gone.observation_id)
        purge(owner, whole.note_id)
    assert findings(vault_dir) == []
    for path, data in zip(paths, backup, strict=True):
        path.write_bytes(data)
    assert findings(vault_dir) == [("purged", whole.path, None), ("purged", kept.path, 8)]
    with Vault.open(vault_dir) as owner:
        purge(owner, f"{kept.path}#^{gone.observation_id}")
        purge(owner, whole.note_id)
    assert findings(vault_dir) == []
    assert "lithium" not in paths[0].read_text()
