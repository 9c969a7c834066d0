"""The page of a note and what is around it."""

import pytest
from zibaldone.lenses.around import backlinks, mentions, surroundings
from zibaldone.lenses.picture import HEIGHT, WIDTH, draw
from zibaldone.lenses.reading import outline
from zibaldone.lenses.visit import address_of, local
from zibaldone.vault.note import read_note


def note(number, text, **keys):
    more = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\nid: nxte0000000{number}\n{more}---\n{text}\n"


FILES = {
    "Bench.md": note("a", "# Bench\nSee [[Glue#Warm up|the glue]].\n\n## One\n\n### Two\n"
                     "![[Glue#Warm up]]\n![[pot.png]]", aliases="[Werkbank]", due="2027-03-01"),
    "areas/Glue.md": note("b", "# Glue\n\n## Warm up\nSlowly, on the [[Bench]]. ^slow\n"),
    "areas/Loose.md": note("c", "Nobody links the bench here, nor the Werkbank.\n"),
    "areas/Far.md": note("d", "- [ ] about [[Glue]] and [[Glue]]\n- [[agent facts]]"),
    "agent-memory/facts.md": "---\nid: memmemmemmem\ncategory: agent facts\n---\n"
    "- Uses the [[Bench]] daily. ^fffff1\n",
    "pictures/pot.png": "x",
}  # fmt: skip


@pytest.fixture
def site(explored):
    return explored(FILES)


def main(text):
    return text.partition("<main")[2].partition("</main>")[0]


def test_a_note_with_all_around_it(site):
    text = main(site.get("/n/nxte0000000a").text)
    assert "<h1>Bench</h1>" in text and text.count(">Bench</h1>") == 1
    assert 'href="/n/nxte0000000b#s-warm-up"' in text
    assert '<div class="embed">' in text and "Slowly, on the" in text
    assert 'src="/file/pictures/pot.png"' in text
    assert '<a href="#s-one">One</a>' in text and 'id="s-two"' in text
    assert "also called Werkbank" in text and "2027-03-01" in text
    assert "Linked from" in text and "Slowly, on the Bench." in text
    assert "Named without a link" in text and "Nobody links the bench here" in text
    assert "<svg" in text and "obsidian://open?path=" in text


def test_a_note_in_memory_is_no_backlink_while_the_lens_is_closed(site):
    closed = main(site.get("/n/nxte0000000a").text)
    assert "Uses the" not in closed and "memmem" not in closed
    site.cookies[site.door.cookie("lens")] = "on"
    assert "/m/memmemmemmem" in main(site.get("/n/nxte0000000a").text)


def test_links_into_memory_are_no_links_while_the_lens_is_closed(site):
    assert "memmem" not in site.get("/n/nxte0000000d").text


def test_a_note_whose_words_change_is_shown_as_it_is(site):
    path = site.vault.layout.root / "areas/Loose.md"
    site.get("/n/nxte0000000c")
    path.write_text(note("c", "Other words."))
    assert "Other words." in main(site.get("/n/nxte0000000c").text)


def test_notes_with_one_id_are_told_apart_by_their_path(explored):
    site = explored({"One.md": note("a", "first"), "Two.md": note("a", "second")})
    assert "first" in main(site.get("/n/nxte0000000a").text)
    assert "second" in main(site.get("/n/nxte0000000a?path=Two.md").text)
    assert site.get("/n/nxte0000000a?path=Three.md").status == 404


@pytest.mark.parametrize(
    "content",
    [b"---\nx: [\n---\nbody words\n", b"caf\xe9 latin\n", b"\0\1\2" * 500, b"", b"---\n---\n",
     b"\xef\xbb\xbf# Bom\r\nlines\r\n"],
)  # fmt: skip
def test_a_note_that_cannot_be_used_has_a_page(explored, content):
    site = explored({"Odd.md": content})
    row = site.vault.index.ask(lambda: site.vault.index.row("Odd.md"))
    assert site.get(f"/n/{row.id}").status == 200


def test_embeds_end(explored):
    site = explored({
        "A.md": note("a", "in a ![[A]]\n\n![[B]]"),
        "B.md": note("b", "in b\n\n![[A]]\n\n![[C]]"),
        "C.md": note("c", "in c\n\n![[D]]"),
        "D.md": note("d", "in d"),
    })  # fmt: skip
    text = main(site.get("/n/nxte0000000a").text)
    assert text.count("in a") == 1 and "in b" in text and "in c" in text
    assert "in d" not in text.partition('class="around"')[0]


def test_backlinks_come_with_their_lines(house):
    vault = house(FILES).vault
    found, more = vault.index.ask(lambda: backlinks(vault, "areas/Glue.md", lens=False))
    assert [(each.row.title, each.line, each.more) for each in found] == [
        ("Bench", "See the glue.", 1),
        ("Far", "about Glue and Glue", 0),
    ]
    assert more == 0


def test_mentions_are_whole_words_outside_of_links(house):
    files = {"Glue.md": note("a", "x"), "Other.md": note("b", "Gluey [[Glue]] x"),
             "Third.md": note("c", "Some glue there.")}  # fmt: skip
    vault = house(files).vault
    found = vault.index.ask(
        lambda: mentions(vault, read_note(vault.layout, "Glue.md"), vault.index.row("Glue.md"))
    )
    assert [(each.row.title, each.line) for each in found] == [("Third", "Some glue there.")]


def test_the_outline_leads_to_the_ids_of_the_page(house):
    vault = house(FILES).vault
    lines = outline(read_note(vault.layout, "Bench.md"))
    assert [(line.depth, line.text, line.href) for line in lines] == [
        (0, "One", "#s-one"),
        (1, "Two", "#s-two"),
    ]


# The picture


def test_the_picture_holds_every_note_once_and_inside(house):
    files = {
        f"n{n}.md": note(chr(97 + n), f"# N{n}\n[[Hub]] [[n{(n + 1) % 15}]]") for n in range(15)
    }
    vault = house({**files, "Hub.md": "---\nid: hxbhxbhxbhxb\n---\n# Hub\n"}).vault
    around = vault.index.ask(lambda: surroundings(vault, vault.index.row("Hub.md"), lens=False))
    picture = draw(around, address_of)
    assert len({dot.href for dot in picture.dots}) == len(picture.dots) == 16
    assert len({(dot.x, dot.y) for dot in picture.dots}) == 16
    assert all(0 < dot.x < WIDTH and 0 < dot.y < HEIGHT for dot in picture.dots)
    assert sum(line.near for line in picture.lines) == 15
    assert draw(around, address_of) == picture


def test_a_lonely_note_has_no_picture(house):
    vault = house({"One.md": "x"}).vault
    around = vault.index.ask(lambda: surroundings(vault, vault.index.row("One.md"), lens=False))
    assert draw(around, address_of) is None


def test_memory_is_in_the_picture_only_through_the_lens(house):
    vault = house(FILES).vault

    def seen(*, lens):
        row = vault.index.row("Bench.md")
        return [row.path for row, _ in surroundings(vault, row, lens=lens).rows]

    assert "agent-memory/facts.md" not in vault.index.ask(lambda: seen(lens=False))
    assert "agent-memory/facts.md" in vault.index.ask(lambda: seen(lens=True))


@pytest.mark.parametrize(
    ("address", "taken"),
    [("/n/x?q=1", "/n/x?q=1"), ("//evil.example", "/"), ("/\\evil", "/"), ("http://x", "/"),
     ("", "/"), ("/a\nb", "/"), ("javascript:x", "/")],
)  # fmt: skip
def test_only_own_addresses_are_gone_back_to(address, taken):
    assert local(address) == taken
