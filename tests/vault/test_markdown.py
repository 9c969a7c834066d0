"""What one parse finds in a body: the structure that editing, links and memory rest on."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from zibaldone.vault import markdown
from zibaldone.vault.markdown import Heading, Link, parse, section

PIECES = (
    "a b 1 . # > - + * _ ~ ` [ ] ( ) { } | : < ! & \\ ^ % = 1. ``` [[ ]] [[a]] ]( #tag --- === "
    "<!-- --> %% <div> |-|- é e\u0301 日本 🌱 ש ^id1"
)
BLANKS = (" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\0", "\u2028", "\udc80")
MARKDOWN = st.lists(st.sampled_from([*PIECES.split(), *BLANKS]), max_size=60).map("".join)


def targets(body: str) -> list[str]:
    return [link.target for link in parse(body).links]


def raw_headings(body: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.raw) for heading in parse(body).headings]


# Links


def test_lk_01_links_in_code_do_not_count() -> None:
    body = (
        "Write `[[Target]]` to link.\n\n```\n[[Target]]\n```\n\n    [[Target]]\n\nReal: [[Other]]\n"
    )
    assert parse(body).links == (Link("Other", "", "", "wikilink", 8),)


@pytest.mark.parametrize(
    "body",
    [
        "``[[x]] ` [[y]]``",
        "~~~\n[[x]]\n~~~\n",
        "> ```\n> [[x]]\n> ```\n",
        "- item\n\n      [[x]]\n",
        "<!-- [[x]] -->\n",
        "text <!-- [[x]] --> more",
        "<!--\n\n[[x]]\n\n-->\n",
        "%% [[x]] %%",
        "%%\n[[x]]\n\n- [[y]]\n%%\n",
        "\\[[x]]",
        '<span title="[[x]]">',
        "<pre>\n[[x]]\n\n[[y]]</pre>",
        "[[]] [[|x]] [a]() [[ ]]",
        "[[x\ny]]",
    ],
)
def test_no_link_is_seen(body: str) -> None:
    assert targets(body) == []


def test_a_comment_that_never_closes_hides_nothing() -> None:
    assert targets("100 %% sure of [[a]]\n\n%%\n\n[[b]]") == ["a", "b"]


@pytest.mark.parametrize("cell", ["[[towns/Bree\\|Bree]]", "[[towns/Bree\\| Bree ]]"])
def test_lk_03_the_pipe_of_an_alias_is_escaped_in_a_table(cell: str) -> None:
    table = f"| Place | Note |\n|---|---|\n| {cell} | inn |\n"
    assert parse(table).links == (Link("towns/Bree", "", "Bree", "wikilink", 2),)
    assert parse(cell).links == (Link("towns/Bree", "", "Bree", "wikilink", 0),)


def test_lk_06_a_link_with_code_in_its_alias_stays_whole() -> None:
    body = "Use [[ref/Dial|`Dial()`]] now."
    assert parse(body).links == (Link("ref/Dial", "", "`Dial()`", "wikilink", 0),)


def test_lk_10_encoded_blanks_are_decoded() -> None:
    links = parse("[plan](My%20Plan.md) and [again](sub/Two%20Words.md#Part%20A)").links
    assert links == (
        Link("My Plan.md", "", "plan", "markdown", 0),
        Link("sub/Two Words.md", "Part A", "again", "markdown", 0),
    )


def test_lk_11_angle_brackets_parentheses_and_titles() -> None:
    body = (
        "[a](<the brief.md>) [b](Report%20(final).md) "
        '[c](Oak.md "Old oak") [d](<Report (final).md>)'
    )
    assert targets(body) == ["the brief.md", "Report (final).md", "Oak.md", "Report (final).md"]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("[a](b.md 'one')", "b.md"),
        ("[a](b.md (one))", "b.md"),
        ("[a](\n  b.md\n  'one'\n)", "b.md"),
        ("[a](b\\)c.md)", "b)c.md"),
        ("[a](Q&amp;A.md)", "Q&A.md"),
        ("[a](100%25.md)", "100%.md"),
        ("[a](caf%C3%A9.md)", "café.md"),
        ("[a [b] c](d.md)", "d.md"),
        ("[a `]` c](d.md)", "d.md"),
        ("[text][Ref]\n\n[ref]: The%20note.md 'x'\n", "The note.md"),
        ("[Ref][]\n\n[ref]: <The note.md>\n", "The note.md"),
        ("[Ref]\n\n[ref]: x.md\n", "x.md"),
        ("a[^1]\n\n[^1]: [[Foot]]\n", "Foot"),
        ("| [a](b.md) | c |\n| - | - |\n", "b.md"),
        ("# [[Head]]\n", "Head"),
        ("> - [[Deep]]\n", "Deep"),
        ("**[[Bold]]**", "Bold"),
        ("[[[x]]]", "x"),
        ("[[a [[b]]", "b"),
        ("[[C# notes]]", "C"),
        ("[[Re: plan]]", "Re: plan"),
    ],
)
def test_one_link(body: str, target: str) -> None:
    assert targets(body) == [target]


@pytest.mark.parametrize(
    "body",
    [
        "[a](https://site.invalid/b.md)",
        "[a](mailto:ann@site.invalid)",
        "[a](//site.invalid/b)",
        "[[https://site.invalid]]",
        "<https://site.invalid/[[x]]>",
        "[a]\n\n[a]: https://site.invalid\n",
        "[a](b c.md)",
        "[a](b.md",
        "[a] (b.md)",
        "\\[a](b.md)",
    ],
)
def test_no_note_is_linked(body: str) -> None:
    assert targets(body) == []


def test_links_do_not_nest_but_images_do() -> None:
    assert targets("[a [b](c.md)](d.md)") == ["c.md"]
    kinds = [(link.target, link.kind) for link in parse("[![b](c.png)](d.md)").links]
    assert kinds == [("c.png", "embed"), ("d.md", "markdown")]


def test_lk_18_each_link_of_a_bullet_counts_once() -> None:
    body = "- Brought [[Anvil]] over to [[Forge]] yesterday\n- needs [[Coal]]\n"
    assert [(link.target, link.line) for link in parse(body).links] == [
        ("Anvil", 0),
        ("Forge", 0),
        ("Coal", 1),
    ]


def test_lk_20_anchors_embeds_and_block_ids() -> None:
    found = parse(
        "[[Guide#Mix & match]] [[Guide#^pin-1|pin]] ![[Guide#Mix & match]] [[#Local]]\n\n## Local\n"
    )
    assert found.links == (
        Link("Guide", "Mix & match", "", "wikilink", 0),
        Link("Guide", "^pin-1", "pin", "wikilink", 0),
        Link("Guide", "Mix & match", "", "embed", 0),
        Link("", "Local", "", "wikilink", 0),
    )
    guide = parse("# Guide\n\n## Mix & match\n\nA line. ^pin-1\n")
    assert [heading.text for heading in guide.headings] == ["Guide", "Mix & match"]
    assert guide.blocks == {"pin-1": 4}


def test_lk_21_relative_targets_keep_their_dots() -> None:
    assert targets("[[../b/Pump]] [rel](../b/Pump.md) [[./Missing]]") == [
        "../b/Pump",
        "../b/Pump.md",
        "./Missing",
    ]


def test_lk_23_a_stray_bracket_belongs_to_the_target() -> None:
    body = "[[Mix.MD]] [[diary]] [[DIARY]] [[Sp]ot]] [[Src]] [[https://site.invalid]]"
    assert targets(body) == ["Mix.MD", "diary", "DIARY", "Sp]ot", "Src"]


def test_links_know_their_line() -> None:
    body = "a\r\n[[b]] c\r\n[[d]]\r\n\r\n- e\r\n  [[f]]\r\n"
    assert [(link.target, link.line) for link in parse(body).links] == [
        ("b", 1),
        ("d", 2),
        ("f", 5),
    ]


# Tags


def test_lk_16_a_hash_in_a_link_or_after_a_backslash_is_no_tag() -> None:
    body = (
        "[[Guide#Layout]] [site](https://site.invalid/p#install) "
        "<https://site.invalid/q#usage> \\#quiet `#code` #real\n\n[ask #help](Guide.md)\n"
    )
    assert parse(body).tags == ("real",)


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#one #two, #three.", ("one", "two", "three")),
        ("#area/garden #a-b #a_b", ("area/garden", "a-b", "a_b")),
        ("#1984 #y1984 #1/2", ("y1984",)),
        ("#Café #cafe\u0301 #日本語。", ("Café", "cafe\u0301", "日本語")),
        ("#Tag #tag #TAG", ("Tag",)),
        ("(#inside) **#bold**", ("inside", "bold")),
        ("a#b https://site.invalid/#c ##d &#35;", ()),
        ("#tag/", ("tag",)),
        ("# heading\n\n## With #tag\n", ("tag",)),
        ("```\n#no\n```\n<!-- #no -->\n", ()),
        ('text <a href="x" title=" #no">', ()),
    ],
)
def test_tags(body: str, tags: tuple[str, ...]) -> None:
    assert parse(body).tags == tags


# Headings and sections


def test_ed_13_a_hash_line_in_a_fence_is_no_heading() -> None:
    body = (
        "## Setup\n\n```sh\n# first step\n## Teardown\nrun it\n```\n\nafter fence\n\n"
        "## Teardown\nreal\n\n## Notes\n\n~~~\n## Setup\n~~~\n"
    )
    found = parse(body)
    assert raw_headings(body) == [(2, "Setup"), (2, "Teardown"), (2, "Notes")]
    start, end = section(found, body, found.headings[0])
    assert body[start:end].strip().endswith("after fence")
    assert [body[slice(*span)].splitlines()[0] for span in found.fences] == ["```sh", "~~~"]


def test_ed_11_a_section_holds_its_sub_sections() -> None:
    body = "# Top\n\n## Tools\nold\n\n### Saws\nold saw\n\n## Paint\nkeep\n"
    found = parse(body)
    assert body[slice(*section(found, body, found.headings[1]))] == "old\n\n### Saws\nold saw\n\n"
    assert body[slice(*section(found, body, found.headings[0]))] == body[len("# Top\n") :]
    assert body[slice(*section(found, body, found.headings[3]))] == "keep\n"


def test_headings_as_written_and_as_read() -> None:
    body = (
        "## 📝 | <b>Notes</b>\n\nSetext *one*\r\n===\r\n### [[a|b]] `c` ^id1\n#no\n- # in a list\n"
    )
    assert parse(body).headings == (
        Heading(2, "📝 | Notes", "📝 | <b>Notes</b>", 0, 0, 19),
        Heading(1, "Setext one", "Setext *one*", 2, 21, 38),
        Heading(3, "b c", "[[a|b]] `c` ^id1", 4, 40, 60),
    )


# List items


def items(body: str) -> list[tuple[str, int, str]]:
    return [(item.marker, item.indent, body[item.start : item.end]) for item in parse(body).items]


def test_top_level_items_with_everything_that_belongs_to_them() -> None:
    body = (
        "- a\n- b\n  more\n  - nested\n\n3) c\r\n\r\n   para\r\n*   d\nlazy\n\ntext\n> - quoted\n"
    )
    assert items(body) == [
        ("-", 2, "- a"),
        ("-", 2, "- b\n  more\n  - nested"),
        ("3)", 3, "3) c\r\n\r\n   para"),
        ("*", 4, "*   d\nlazy"),
    ]


@pytest.mark.parametrize(
    ("body", "indent"),
    [("-\tx", 4), ("-", 2), ("-  ", 2), ("-      code", 2), ("  - x", 4), ("10. x", 4)],
)
def test_the_column_of_an_items_content(body: str, indent: int) -> None:
    assert [item.indent for item in parse(body).items] == [indent]


def test_an_items_own_paragraphs() -> None:
    body = "- one\n  two\n\n  three\n  - nested\n\n      code\n"
    (item,) = parse(body).items
    assert [body[slice(*span)] for span in item.paragraphs] == ["- one\n  two", "  three"]


def test_block_ids() -> None:
    body = "a ^one\n\n- b ^two\n  - c ^three\n\n^four\n\nmid ^no text\n\n`d` x^no\n\n# e ^five\n"
    assert parse(body).blocks == {"one": 0, "two": 2, "three": 3, "four": 5, "five": 11}


# Any text


@given(MARKDOWN)
@example("-\n\n  a\n")
@example("> a\n- b\n    c\n===")
@example("a | b\n- | -\n1. c")
def test_blocks_are_those_of_the_library(body: str) -> None:
    plain = MarkdownIt("commonmark", {"maxNesting": 64}).enable("table")
    plain.core.ruler.enableOnly(["normalize", "block"])
    text = body.replace("\udc80", "").replace("[^", "[")

    def facts(parser: MarkdownIt) -> list[tuple[object, ...]]:
        tokens = parser.parse(text)
        return [(t.type, t.tag, t.level, t.content.strip(), t.hidden) for t in tokens] + [
            (t.type, t.map) for t in tokens if t.type != "inline"
        ]

    assert facts(markdown._BLOCKS) == facts(plain)


@given(MARKDOWN)
def test_any_text_has_a_structure_within_its_bounds(body: str) -> None:
    found = parse(body)
    lines = len(body.splitlines()) + body.count("\r") + 1
    spans = [(h.start, h.end) for h in found.headings] + [(i.start, i.end) for i in found.items]
    spans += [*found.fences, *(span for item in found.items for span in item.paragraphs)]
    assert all(0 <= start <= end <= len(body) for start, end in spans)
    assert all(0 <= link.line < lines for link in found.links)
    for item in found.items:
        assert body.startswith(item.marker, item.start)
        assert not body[item.start : item.end].endswith(("\n", "\r"))


@given(MARKDOWN)
def test_line_ends_do_not_change_what_is_found(body: str) -> None:
    unix = body.replace("\r\n", "\n").replace("\r", "\n")
    one, other = parse(unix), parse(unix.replace("\n", "\r\n"))
    assert (one.links, one.tags, one.blocks) == (other.links, other.tags, other.blocks)
    assert [h.raw.split() for h in one.headings] == [h.raw.split() for h in other.headings]
    assert [(i.line, i.marker, i.indent) for i in one.items] == [
        (i.line, i.marker, i.indent) for i in other.items
    ]


HOSTILE = {
    "brackets": "[" * 1_000_000,
    "images": "![" * 500_000,
    "wikilinks": "[[a" * 300_000,
    "stray": "[[a]" * 250_000,
    "parentheses": "(" * 1_000_000,
    "destinations": "[a](" * 150_000,
    "pointed": "[a](<b" * 150_000,
    "titles": "[a](b 'c" * 120_000,
    "links": "[" * 300_000 + "[a](b)" * 50_000,
    "labels": "[" * 200_000 + "a" + "]" * 200_000 + "\n\n[a]: b",
    "stars": "*" * 1_000_000,
    "ticks": "".join("`" * (n % 900) + " " for n in range(2_000)),
    "angles": "<a " * 300_000,
    "comments": "<!--" * 250_000,
    "attributes": "<a b='" * 150_000,
    "quotes": ">" * 100_000,
    "quoted lines": (">" * 50 + "\n") * 2_000,
    "bullets": "- " * 100_000,
    "indents": "".join("  " * n + "- a\n" for n in range(700)),
    "hashes": "#" * 1_000_000,
    "tags": "#a" * 400_000,
    "heading": "# " + "**a_" * 200_000,
    "one line": "word " * 200_000,
    "lines": "word\n" * 60_000,
    "percents": "%" * 1_000_000,
    "carets": " ^a" * 300_000,
    "pipes": "|" * 100_000 + "\n" + "|-" * 100_000,
    "definitions": "[a]: b\n" * 10_000,
    "backslashes": "\\" * 1_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    started = time.process_time()
    parse(HOSTILE[name])
    assert time.process_time() - started < 2


@pytest.mark.slow
def test_fifty_thousand_items() -> None:
    started = time.process_time()
    assert len(parse("- an item of a list\n" * 50_000).items) == 50_000
    assert time.process_time() - started < 6
