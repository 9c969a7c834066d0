"""What users of other tools reported of viewers: each case on the pages as a browser gets them."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from zibaldone.tools.vault import Vault

from .conftest import EXPLORER, running

FACT = "/m/mmmmmmmmmmm1/fffff1"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def main(reply):
    assert reply.status == 200
    return reply.text.partition("<main")[2].partition("</main>")[0]


def test_sc_06_html_in_a_note_runs_nothing_and_is_shown_as_text(explored):
    site = explored(
        {
            "Html.md": '---\nid: hhhhhhhhhhh1\n---\nHi <svg onload="document.title=1"> there\n\n'
            '<details open ontoggle="document.title=2">x</details>\n\n'
            "<script>document.title=3</script>\n\n[[T]]\n",
            "T.md": '---\nid: hhhhhhhhhhh2\ntitle: "<b onmouseover=1>t</b>"\n'
            'tags: ["<i>x</i>"]\n---\n[[<u>z</u>]] `<b>code</b>` quince\n',
        }
    )
    pages = ("/", "/tree", "/tags", "/search?q=quince", "/n/hhhhhhhhhhh1", "/n/hhhhhhhhhhh2")
    for path in pages:
        for tag, attributes in Elements(main(site.get(path))).found:
            assert tag not in ("script", "b", "i", "u"), path
            assert not any(name.startswith("on") for name in attributes), path
            assert tag != "svg" or attributes.get("class") == "picture", path
    shown = Elements(main(site.get("/n/hhhhhhhhhhh2"))).text
    for text in ("<b onmouseover=1>t</b>", "<i>x</i>", "<u>z</u>", "<b>code</b>"):
        assert text in shown
    for path in ("/", "/tree", "/search?q=quince"):
        assert "<b onmouseover=1>t</b>" in Elements(main(site.get(path))).text, path


def test_lk_06_an_alias_with_code_in_it_is_a_link(explored):
    site = explored(
        {"Api.md": "---\nid: apapapapapa1\n---\nUse [[ref/Dial|`Dial()`]] now.\n",
         "ref/Dial.md": "---\nid: apapapapapa2\n---\np\n"}
    )  # fmt: skip
    page = main(site.get("/n/apapapapapa1")).replace(' rel="noopener noreferrer"', "")
    assert '<p>Use <a href="/n/apapapapapa2"><code>Dial()</code></a> now.</p>' in page
    assert "[[" not in page.partition("</p>")[0]


FRONT = "title: Editor\nid: {id}\ntags:\n  - one\npinned: true\n---\n\n# Body\n\n"


@pytest.mark.parametrize(
    ("path", "before", "page"),
    [
        ("Editor.md", "---\n" + FRONT.format(id="nnnnnnnnnnn1") + "Some   *green* text.\n",
         "/n/nnnnnnnnnnn1/edit"),
        ("agent-memory/editor.md", "---\n" + FRONT.format(id="mmmmmmmmmmm1")
         + "* Likes   *green* tea. [origin:: owner] ^fffff1\n\nText.\n", FACT),
    ],
    ids=["note", "fact"],
)  # fmt: skip
def test_fm_33_a_save_without_a_change_changes_nothing_and_one_of_a_word_only_that(
    explored, path, before, page
):
    site = explored({path: before})
    site.open_lens()
    file = site.vault.layout.root / path

    def save(change):
        shown = site.get(page).text
        read = {
            name: unescape(value)
            for name, value in re.findall(r'name="(version|read)" value="([^"]*)"', shown)
        }
        text = unescape(re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", shown, re.DOTALL)[1])
        action = f"{page.removesuffix('/edit')}/edit"
        assert site.post(action, text=change(text), **read).status == 303

    save(str)
    assert file.read_text("utf-8") == before
    save(lambda text: text.replace("green", "black"))
    assert file.read_text("utf-8") == before.replace("green", "black")


@pytest.mark.parametrize("form", [str, lambda folder: folder.as_uri()], ids=["path", "uri"])
def test_mc_08_links_lead_to_the_right_note_in_a_vault_with_odd_letters(tmp_path, form):
    folder = tmp_path / "my notes + 100% Café"
    (folder / "50% off").mkdir(parents=True)
    (folder / "50% off" / "Ä + b.md").write_text("quince\n", "utf-8")
    (folder / "A.md").write_text("[[Ä + b]]\n", "utf-8")
    with Vault.open(form(folder), caller=EXPLORER) as vault, running(vault) as site:
        links = [
            attributes["href"]
            for tag, attributes in Elements(main(site.get("/"))).found
            if tag == "a" and attributes.get("href", "").startswith("/n/")
        ]
        assert links
        assert any("quince" in main(site.get(link)) for link in links)
