"""Words are found in a file in whatever form a raw scan can see, and counted once."""

import base64
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.vault import traces
from zibaldone.vault.traces import Trace, Words, scan

LINE = "Likes «café» themes in editors."


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (f"- {LINE} ^m3k9f2\n".encode(), "utf-8"),
        (b"- Likes \xc2\xabcafe\xcc\x81\xc2\xbb themes in editors", "utf-8"),
        (json.dumps({"text": LINE}).encode(), "json"),
        (json.dumps({"text": LINE}).encode().upper().replace(b"\\U", b"\\u"), None),
        (LINE.encode("utf-16"), "utf-16"),
        (LINE.encode("utf-16-be"), "utf-16"),
        (LINE.encode().replace(b"editors", b"books"), None),
    ],
)
def test_words_are_found_in_their_forms(data, form):
    assert set(Words([LINE]).in_bytes(data)) == ({form} if form else set())


@given(st.binary(max_size=7), st.binary(max_size=7))
def test_words_are_found_in_base64_wherever_they_stand(before, after):
    coded = base64.b64encode(before + LINE.encode() + after)
    assert Words([LINE]).in_bytes(coded)["base64"] == 1


def test_what_markdown_or_json_escapes_is_found():
    words = Words(['# Says "no" to [type:: all]'])
    assert words.in_bytes(b'- \\# Says "no" to \\[type:: all] ^m3k9f2')["utf-8"] == 1
    assert words.in_bytes(b'"# Says \\"no\\" to [type:: all]"')["json"] == 1


def test_of_several_lines_the_telling_ones_are_looked_for():
    words = Words(
        ["When something breaks, the runbook:\n- rm\n- the rest in the morning\n", "Tea."]
    )
    assert words.lines == (
        "When something breaks, the runbook:",
        "- the rest in the morning",
        "Tea",
    )
    assert Words(["  \n"]).lines == Words([]).lines == ()


def test_a_part_of_the_words_tells_of_them():
    words = Words([LINE])
    assert words.told_by("She said: LIKES «Café»  themes in editors, always.")
    assert words.told_by("Likes «café» them…")
    assert not words.told_by("themes")
    assert not words.told_by("Likes «café» and tea")


def test_a_scan_reads_every_file_once_and_names_what_it_cannot_see(tmp_path):
    (tmp_path / "notes" / ".git").mkdir(parents=True)
    (tmp_path / "notes" / "a.md").write_text(f"{LINE}\n{LINE}\n")
    (tmp_path / "notes" / ".hidden").write_text("nothing")
    (tmp_path / "notes" / "link.md").symlink_to("a.md")
    os.mkfifo(tmp_path / "notes" / "pipe")
    found = scan([tmp_path, tmp_path / "notes", tmp_path / "nowhere"], Words([LINE]))
    assert found.traces == (Trace(str(tmp_path / "notes" / "a.md"), "utf-8", 2),)
    assert found.files == 2
    assert found.bytes == 2 * len(f"{LINE}\n".encode()) + 7
    assert str(tmp_path / "notes" / ".git") in found.unseen


@pytest.mark.parametrize("offset", range(40, 80, 3))
def test_words_across_two_blocks_are_counted_once(tmp_path, monkeypatch, offset):
    monkeypatch.setattr(traces, "BLOCK", 64)
    (tmp_path / "a").write_bytes(b"x" * offset + LINE.encode() + b"y" * 99)
    assert [each.count for each in scan([tmp_path], Words([LINE])).traces] == [1]
