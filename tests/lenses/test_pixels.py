"""The sizes of pictures, from the first bytes of each format."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.lenses.pixels import Size, size_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 40, 30)
GIF = b"GIF89a" + struct.pack("<HH", 40, 30)
FRAME = b"\xff\xc2" + struct.pack(">HBHH", 11, 8, 30, 40)
JPEG = b"\xff\xd8\xff\xe1" + struct.pack(">H", 6) + b"Exif" + FRAME
VP8X = b"RIFF0000WEBPVP8X" + b"\0" * 8 + (39).to_bytes(3, "little") + (29).to_bytes(3, "little")
VP8L = b"RIFF0000WEBPVP8L0000\x2f" + (39 | 29 << 14).to_bytes(4, "little")
VP8 = b"RIFF0000WEBPVP8 0000" + b"\0" * 6 + struct.pack("<HH", 40, 30)
SVG = b'<?xml version="1.0"?><svg xmlns="x" width="40" height="30px" viewBox="0 0 1 1">'
VIEW = b"<svg viewBox='0 0 40.2 29.8'>"


@pytest.mark.parametrize("head", [PNG, GIF, JPEG, VP8X, VP8L, VP8, SVG, VIEW])
def test_each_format(tmp_path, head):
    file = tmp_path / "picture"
    file.write_bytes(head + b"more")
    assert size_of(file) == Size(40, 30)


@pytest.mark.parametrize(
    "head", [b"", b"text", b"\xff\xd8\xff\xda\0\2x", b"<svg>", b"<svg width='x'>"]
)
def test_what_cannot_be_told(tmp_path, head):
    file = tmp_path / "picture"
    file.write_bytes(head)
    assert size_of(file) is None
    assert size_of(tmp_path / "nothing") is None
    assert size_of(tmp_path) is None


@given(st.sampled_from([PNG, GIF, JPEG, VP8X, VP8L, VP8, SVG, VIEW]), st.binary(max_size=40))
def test_damaged_files_do_no_harm(tmp_path_factory, head, rest):
    file = tmp_path_factory.getbasetemp() / "picture"
    for data in (head[: len(rest)], head[:3] + rest, head[:12] + rest, head[:-4] + rest):
        file.write_bytes(data)
        found = size_of(file)
        assert found is None or min(found.width, found.height) > 0
