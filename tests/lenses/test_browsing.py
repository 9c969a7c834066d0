"""Tree, Feed, tags, search and files: user-docs alone, whatever is asked."""

import os
from urllib.parse import quote

import pytest
from zibaldone.lenses.browsing import marked
from zibaldone.lenses.shelf import Shelves

FILES = {
    "Home.md": "---\nid: aaaaaaaaaaa1\ntags: [Hub]\n---\n# Home\nAll of it, see [[Tea]].\n",
    "areas/Tea.md": "---\nid: aaaaaaaaaaa2\n---\n# Tea\n\nBrewing **oolong** #drinks/hot\n",
    "areas/deep/Pot.md": "---\nid: aaaaaaaaaaa3\n---\n## Clay\nAn oolong pot.\n",
    "agent-memory/secretive.md": "---\nid: mmmmmmmmmmm1\ncategory: Canary\n---\n"
    "- Canary oolong fact #canarytag. ^ccccc1\n",
    "projects/acme/agent-memory/hidden.md": "---\nid: mmmmmmmmmmm2\ncategory: Canary two\n---\n"
    "- Canary decision. ^ccccc2\n",
    "projects/acme/agent-memory/canary.png": "x",
    "projects/acme/Plan.md": "---\nid: aaaaaaaaaaa4\n---\nPlain plan.\n",
    "pictures/tea pot.png": "PNG",
    "pictures/tea.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    "pictures/list.html": "<script>alert(1)</script>",
    ".hidden/inner.png": "x",
}


@pytest.fixture
def site(explored, fill):
    root = fill(FILES)
    for age, path in enumerate(("Home.md", "areas/Tea.md", "areas/deep/Pot.md")):
        os.utime(root / path, (1_700_000_000 - 86_400 * age,) * 2)
    return explored()


OPEN_PAGES = [
    "/", "/tree", "/tree/projects", "/tree/projects/acme", "/tags", "/search?q=canary",
    "/search?q=oolong", "/search?q=oolong&in=memory", "/n/aaaaaaaaaaa2", "/n/aaaaaaaaaaa1",
    "/help", "/search?q=decision&part=1", "/tree?part=1",
]  # fmt: skip


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_no_page_shows_memory_while_the_lens_is_closed(site, path):
    text = site.get(path).text.replace("q=canary", "").replace('value="canary"', "")
    text = text.replace("“canary”", "").replace("<title>canary", "")
    assert "canary" not in text.lower() and "mmmmmmmmmmm" not in text


@pytest.mark.parametrize(
    "path",
    ["/n/mmmmmmmmmmm1", "/tree/agent-memory", "/tree/projects/acme/agent-memory", "/tags/canarytag",
     "/file/projects/acme/agent-memory/canary.png", "/file/agent-memory/secretive.md"],
)  # fmt: skip
def test_what_is_hidden_reads_like_what_is_not_there(site, path):
    nothing = site.get("/n/zzzzzzzzzzzz")
    hidden = site.get(path)
    assert hidden.status == nothing.status == 404
    assert main(hidden.text) == main(nothing.text)


def main(text):
    return text.partition("<main")[2].partition("</main>")[0]


def test_counts_are_those_of_user_docs(site):
    acme = main(site.get("/tree/projects").text)
    assert '<span class="label">acme</span> <span class="count">1</span>' in acme
    assert "4 notes" in main(site.get("/").text)


def test_the_feed_has_the_newest_on_top_with_its_first_words(site):
    text = main(site.get("/").text)
    assert text.index(">Plan<") < text.index(">Home<") < text.index(">Tea<") < text.index(">Pot<")
    assert "All of it, see Tea." in text and "Brewing oolong" in text
    assert 'href="/tags/hub"' in text


def test_a_long_feed_has_pages(explored):
    site = explored({f"n{n:03}.md": f"Note number {n}\n" for n in range(65)})
    assert 'rel="next" href="/?page=2"' in site.get("/").text
    last = site.get("/?page=3").text
    assert main(last).count('class="card"') == 5 and 'rel="next"' not in last
    assert site.get("/?page=999").status == 200
    assert site.get("/?page=-1").status == 200
    assert site.get("/?page=" + "9" * 50).status == 200


def test_a_folder_with_many_notes_has_pages(explored):
    site = explored({f"big/n{n:03}.md": "x\n" for n in range(205)})
    assert main(site.get("/tree/big").text).count("<time") == 200
    assert main(site.get("/tree/big?page=2").text).count("<time") == 5
    assert 'class="leaf"' not in site.get("/tree").text  # Closed folders come when asked for.


def test_a_branch_alone_is_what_the_script_asks_for(site):
    branch = site.get("/tree/areas?part=1").text
    assert "<html" not in branch and "/n/aaaaaaaaaaa2" in branch and "/tree/areas/deep" in branch


def test_the_tree_is_open_where_the_note_lies(site):
    text = site.get("/n/aaaaaaaaaaa3").text
    assert 'href="/tree/areas/deep" aria-expanded="true"' in text
    assert 'href="/n/aaaaaaaaaaa3" aria-current="page"' in text


def test_tags_hold_those_below_them(site):
    assert "/tags/drinks" in site.get("/tags").text
    assert ">Tea</a>" in main(site.get("/tags/Drinks").text)
    assert ">Tea</a>" in main(site.get("/tags/drinks/hot").text)


def test_search_marks_words_in_whatever_form(site):
    text = main(site.get("/search?q=brew").text)
    assert "<mark>Brewing</mark> oolong" in text
    assert 'href="/n/aaaaaaaaaaa3#s-clay"' in main(site.get("/search?q=pots").text)


def test_search_finds_the_beginning_of_a_title_while_one_types(site):
    assert "/n/aaaaaaaaaaa1" in site.get("/search?q=ho&part=1").text
    assert "<html" not in site.get("/search?q=ho&part=1").text


@pytest.mark.parametrize("query", ['"', "AND (", "[[", "<script>", "%", "a" * 5000, "the"])
def test_any_query_has_an_answer(site, query):
    reply = site.get(f"/search?q={quote(query)}")
    assert reply.status == 200
    assert "<script>" not in main(reply.text)


def test_marks_are_the_only_markup_of_a_snippet():
    assert str(marked("a <b> teas & c", "tea")) == "a &lt;b&gt; <mark>teas</mark> &amp; c"
    assert str(marked("‘Tea.’ C++, tea-", "tea c++")) == (
        "‘<mark>Tea</mark>.’ <mark>C++</mark>, <mark>tea</mark>-"
    )


# Files


def test_an_image_is_shown_and_can_do_nothing(site):
    reply = site.get("/file/pictures/tea%20pot.png")
    assert (reply.status, reply.header("content-type")) == (200, "image/png")
    drawing = site.get("/file/pictures/tea.svg")
    assert drawing.header("content-type") == "image/svg+xml"
    assert drawing.header("content-security-policy").endswith("sandbox")


def test_other_files_are_saved_and_never_shown(site):
    reply = site.get("/file/pictures/list.html")
    assert reply.header("content-type") == "application/octet-stream"
    assert reply.header("content-disposition").startswith("attachment")
    assert "sandbox" in reply.header("content-security-policy")


@pytest.mark.parametrize(
    "path",
    ["../outside.png", "%2e%2e/outside.png", "..%2foutside.png", "/etc/passwd", "pictures/../../x",
     "pictures%5c..%5c..%5cx", ".hidden/inner.png", "zibaldone.toml", "Home.md", "pictures", "",
     "link.png", "pictures/link/passwd", "pipe.png", "a%00b", "C:/x.png", "x" * 300, "x" * 5000],
)  # fmt: skip
def test_no_path_leaves_the_vault_or_reaches_what_is_no_attachment(site, path):
    root = site.vault.layout.root
    (root.parent / "outside.png").write_text("secret")
    (root / "zibaldone.toml").write_text("")
    (root / "link.png").symlink_to(root.parent / "outside.png")
    (root / "pictures" / "link").symlink_to("/etc")
    os.mkfifo(root / "pipe.png")
    reply = site.get(f"/file/{path}")
    assert reply.status == 404
    assert "secret" not in reply.text and "root:" not in reply.text


# The shelf


def test_the_shelf_is_kept_until_the_index_changes(house, fill):
    for file in fill(FILES).rglob("*.md"):
        os.utime(file, (1_700_000_000,) * 2)  # A file of this very moment is read once more.
    vault = house().vault
    shelves = Shelves(vault)
    first = vault.index.ask(shelves.now)
    assert vault.index.ask(shelves.now) is first
    (vault.layout.root / "New.md").write_text("new\n")
    assert {row.title for row in vault.index.ask(shelves.now).newest} >= {"New"}


def test_a_shelf_of_an_index_that_was_dropped_is_not_kept(house):
    vault = house(FILES).vault
    shelves = Shelves(vault)
    gone = vault.index.ask(shelves.now).newest[0].path
    (vault.layout.root / gone).unlink()
    vault.index.forget()
    assert gone not in {row.path for row in vault.index.ask(shelves.now).newest}


def test_folders_count_what_is_below_them(house):
    vault = house(FILES).vault
    shelf = vault.index.ask(Shelves(vault).now)
    assert shelf.folders[""].count == 4
    assert shelf.folders["areas"].count == 2
    assert [each.path for each in shelf.folders["areas"].folders] == ["areas/deep"]
    assert set(shelf.folders) == {"", "areas", "areas/deep", "projects", "projects/acme"}
    assert [row.title for row in shelf.titled("te", 5)] == ["Tea"]
    assert shelf.titled(" ", 5) == []
