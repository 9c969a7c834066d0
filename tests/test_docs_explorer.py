"""The pictures of the explorer in the README: all there, told in words, and small."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PICTURES = REPOSITORY / "docs" / "screenshots"


def test_pictures_are_there_in_both_lights_and_told_in_words() -> None:
    text = (REPOSITORY / "README.md").read_text("utf-8")
    dark = re.findall(r'srcset="(docs/screenshots/[\w-]+-dark\.webp)"', text)
    light = re.findall(r'<img src="(docs/screenshots/[\w-]+-light\.webp)" alt="[^"]{40,}">', text)
    assert light == [name.replace("-dark", "-light") for name in dark]
    shown = {REPOSITORY / name for name in (*light, *dark)}
    assert shown == set(PICTURES.iterdir())
    assert 4 <= len(shown) <= 8
    assert all(1000 < picture.stat().st_size <= 80 * 1024 for picture in shown)


def test_every_page_that_is_taken_is_shown() -> None:
    script = (REPOSITORY / "docs" / "screenshots.py").read_text("utf-8")
    pages = script.partition("PAGES: Final = {")[2].partition("}")[0]
    names = re.findall(r'"(\w+)": "/', pages)
    assert {f"{name}-light.webp" for name in names} <= {each.name for each in PICTURES.iterdir()}
