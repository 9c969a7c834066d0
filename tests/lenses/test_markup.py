"""What notes look like as HTML, and what never gets out of one."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.lenses import markup
from zibaldone.lenses.markup import Embedded, first_words, render, slug
from zibaldone.lenses.pixels import Size

from .payloads import PAYLOADS


class Everywhere:
    """Links of a vault in which only `nope` is missing."""

    def note(self, target, anchor):
        return None if target == "nope" else f"/n/{target}" + (f"#{anchor}" if anchor else "")

    def file(self, target):
        return f"/file/{target}" if "." in target else None

    def size(self, target):
        return Size(400, 300) if target == "big.png" else None

    def embedded(self, target, anchor):
        return Embedded("Other", "/n/other", "<p>inside</p>") if target == "other" else None

    def tag(self, name):
        return f"/tags/{name}"


def html(text, **options):
    return str(render(text, Everywhere(), **options)).replace(' rel="noopener noreferrer"', "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a [[b]] c", '<p>a <a href="/n/b">b</a> c</p>\n'),
        ("[[b#Part|`x` y]]", '<p><a href="/n/b#Part"><code>x</code> y</a></p>\n'),
        ("[[b#Part]]", '<p><a href="/n/b#Part">b › Part</a></p>\n'),
        ("[[b#^id1]]", '<p><a href="/n/b#^id1">b</a></p>\n'),
        ("[[nope]]", '<p><span class="missing">nope</span></p>\n'),
        ("`[[b]]`", "<p><code>[[b]]</code></p>\n"),
        ("[x](b%20c)", '<p><a href="/n/b c">x</a></p>\n'),
        ("[x](nope)", '<p><a class="missing">x</a></p>\n'),
        ("[x](https://a.example/)", '<p><a href="https://a.example/">x</a></p>\n'),
        ("a #tag/sub, b", '<p>a <a href="/tags/tag/sub" class="tag">#tag/sub</a>, b</p>\n'),
        ("a#b #1", "<p>a#b #1</p>\n"),
        ("==x **y**==", "<p><mark>x <strong>y</strong></mark></p>\n"),
        ("a %%hidden%% b", "<p>a  b</p>\n"),
        ("%%\na\n\nb\n%%\nc", "<p>c</p>\n"),
        ("~~a~~", "<p><s>a</s></p>\n"),
        ("text ^block1", '<p id="b-block1">text</p>\n'),
        ("## A b!", '<h2 id="s-a-b">A b!</h2>\n'),
        ("# T\nx", "<p>x</p>\n"),
        ("![[p.png|120]]", '<img src="/file/p.png" alt="p.png" loading="lazy" width="120">'),
        ("![[big.png]]",
         '<img src="/file/big.png" alt="big.png" loading="lazy" width="400" height="300">'),
        ("![[big.png|200]]",
         '<img src="/file/big.png" alt="big.png" loading="lazy" width="200" height="150">'),
        ("![[big.png|200x90]]",
         '<img src="/file/big.png" alt="big.png" loading="lazy" width="200" height="90">'),
        ("![a](p.png)", '<p><img src="/file/p.png" alt="a" loading="lazy"></p>\n'),
        ("![[doc.pdf]]", '<a href="/n/doc.pdf">doc.pdf</a>'),
        ("x ![[other]]", '<p>x <a href="/n/other">other</a></p>\n'),
        ("![a](http://e.example/p.png)",
         '<p><a href="http://e.example/p.png" class="remote">a (e.example)</a></p>\n'),
        ("<img src=p.png>", '<img src="/file/p.png" alt="p.png" loading="lazy">'),
        ("<img src=x onerror=y>", ""),
        ('<img src="https://e.example/p.png" onload=x>',
         '<a href="https://e.example/p.png" class="remote">e.example</a>'),
    ],
)  # fmt: skip
def test_forms(text, shown):
    assert html(text, title="T") == shown


def test_tasks_are_drawn_without_a_form():
    shown = html("- [x] a\n- [ ] b\n- [/] c\n- d")
    assert re.findall(r'class="(task[^"]*)"', shown) == ["task done", "task", "task doing"]
    assert "<input" not in shown


def test_callouts():
    assert '<div class="callout callout-tip">' in html("> [!hint]\n> x")
    assert '<p class="callout-title">Hint</p>' in html("> [!hint]\n> x")
    folded = html("> [!danger]- Look **out**\n> x")
    assert '<details class="callout callout-danger">' in folded
    assert "<summary" in folded and "Look <strong>out</strong>" in folded and "</details>" in folded
    assert "<details" in html("> [!x]+ t\n> x") and " open" in html("> [!x]+ t\n> x")
    assert "callout" not in html("> plain\n> [!note]")


def test_embeds_tables_and_footnotes():
    assert '<div class="embed">' in html("![[other]]") and "<p>inside</p>" in html("![[other]]")
    table = html("| a | b |\n| :-: | --: |\n| [[x\\|y]] | 1 |")
    assert 'class="align-center"' in table and '<a href="/n/x">y</a>' in table
    assert "style=" not in table
    notes = html("a[^1]\n\n[^1]: below")
    assert 'href="#fn1"' in notes and '<li id="fn1"' in notes


def test_what_is_shown_inside_another_note_has_no_ids():
    assert "id=" not in html("# A\ntext ^b1\n", nested="1")


def test_ids_are_those_that_links_lead_to():
    shown = html("## Día uno\n## Día uno\n")
    assert 'id="s-día-uno"' in shown and 'id="s-día-uno-2"' in shown
    assert markup.anchor_id("Top#Día uno") == "s-día-uno"
    assert markup.anchor_id("^b1") == "b-b1"
    assert slug("!!") == "s-section"


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def assert_safe(shown):
    seen = Seen()
    seen.feed(shown)
    assert set(seen.tags) <= markup.TAGS
    for tag, name, value in seen.attributes:
        allowed = markup.ATTRIBUTES["*"] | markup.ATTRIBUTES.get(tag, set()) | {"rel"}
        assert name in allowed, (tag, name)
        if name == "href":
            assert re.match(r"(https?:|mailto:|[/#?.\w])", value), value
            assert not re.match(r"\s*(javascript|data|vbscript|file):", value, re.IGNORECASE)
        if name == "src":
            assert value.startswith("/file/")


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize(
    "form",
    ["{}", "# {}", "> [!{}] x\n> y", "> [!note] {}\n> y", "[[{}]]", "[[a|{}]]", "![[{}]]", "#{}",
     "[x]({})", "[{}](x)", "![{}](x.png)", "![x]({})", "- [x] {} ^b1", "| {} |\n|---|\n| {} |",
     "a[^1]\n\n[^1]: {}", "```{}\n{}\n```", "=={}==", "%%{}%%", "<{}>", "<b title='{}'>"],
)  # fmt: skip
def test_no_payload_gets_through(payload, form):
    assert_safe(html(form.replace("{}", payload)))


@given(st.text(alphabet="<>[]()!|#*`=%^:\"'/\\ \n\tabjx&;-+.{}", max_size=200))
def test_no_text_gets_through(text):
    assert_safe(html(text))


@given(st.text(max_size=300))
def test_any_text_is_rendered(text):
    render(text, Everywhere())
    assert len(first_words(text, 50)) <= 51


def test_classes_and_ids_of_the_page_cannot_be_taken():
    shown = html('<p class="side callout" id="main">x</p><p id="s-x">y</p>')
    assert shown == '<p class="callout">x</p><p id="s-x">y</p>'


@pytest.mark.parametrize("text", ["[" * 50_000, "[!" * 5_000, "x" * 500_000])
def test_what_would_take_too_long_is_shown_as_it_is_written(text):
    assert html(text) == f"<pre>{text}</pre>"


def test_first_words_are_those_of_the_text():
    text = "# Head\n\nA **bold** [[Note|word]] and `code`.\n\n- item #tag"
    assert first_words(text, 100) == "A bold word and code. item #tag"
    assert first_words(text, 12) == "A bold word…"
