"""Templates, words, choices, and what a failure looks like."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from jinja2 import Environment, nodes
from zibaldone.lenses import explore, pages, words
from zibaldone.lenses.memory import SORTS
from zibaldone.lenses.spanish import NAMES, SPANISH
from zibaldone.lenses.words import Words, preferred
from zibaldone.tools import cli
from zibaldone.tools.answers import MemoryType, Reason
from zibaldone.tools.derivation import STALE
from zibaldone.tools.rulebook import RuleState
from zibaldone.tools.start.answers import StartKind, StartOmitted, StartPartName
from zibaldone.tools.trust import UNREVIEWED
from zibaldone.vault.errors import InvalidArgument
from zibaldone.vault.note import KINDS
from zibaldone.vault.revision import Op, Origin
from zibaldone.vault.rules import Level

TEMPLATES = sorted((pages.FOLDER / "templates").glob("*.html"))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def texts(template):
    """All texts that a template hands to `t`."""
    tree = Environment().parse(template.read_text())
    for call in tree.find_all(nodes.Call):
        target = call.node
        if isinstance(target, nodes.Getattr) and target.attr != "name":
            target = target.node
        if isinstance(target, nodes.Name) and target.name == "t":
            yield from (each.value for each in call.args if isinstance(each, nodes.Const))


def test_every_text_of_a_page_is_there_in_spanish():
    used = {text for template in TEMPLATES for text in texts(template) if isinstance(text, str)}
    code = "".join(path.read_text() for path in Path(words.__file__).parent.glob("[!s]*.py"))
    assert used - set(SPANISH) == set()
    known = {key for key in SPANISH if key in used or f'"{key}"' in code}
    assert set(SPANISH) - known == set()


def test_every_code_of_ours_has_a_word_in_both_languages():
    kinds = {"op": Op, "origin": Origin, "level": Level, "rule": RuleState}
    kinds |= {"part": StartPartName, "start": StartKind, "type": MemoryType}
    left = (*get_args(Reason), *get_args(get_type_hints(StartOmitted)["reason"]))
    codes = {f"left {each}" for each in left}
    codes |= {f"{kind} {each}" for kind, known in kinds.items() for each in get_args(known)}
    codes |= {f"kind {each}" for each in KINDS} | {f"status {each}" for each in (UNREVIEWED, STALE)}
    assert set(NAMES) == codes | {f"by {each}" for each in SORTS}
    assert Words("es").name("op", "forget") == "olvidada"
    assert Words("en").name("op", "unheard") == "unheard"


def test_both_languages_have_the_same_places_for_values():
    for english, spanish in SPANISH.items():
        assert sorted(_places(english)) == sorted(_places(spanish)), english


def _places(text):
    return [part.partition("}")[0] for part in text.split("{")[1:]]


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("es-ES,es;q=0.9,en;q=0.8", "es"), ("fr,es;q=0.5", "es"), ("de,en;q=0.2", "en"),
     ("en;q=0.3,es;q=0.8", "es"), ("fr", "en"), ("es;q=x", "en"), ("," * 400, "en")],
)  # fmt: skip
def test_the_browser_says_the_language(header, language):
    assert preferred(header) == language


def test_dates_and_ages():
    english, spanish = Words("en"), Words("es")
    assert english.date(NOW) == "30 November 2026"
    assert spanish.date(NOW) == "30 de noviembre de 2026"
    ages = [timedelta(seconds=5), timedelta(minutes=1), timedelta(hours=3), timedelta(days=400)]
    assert [english.age(NOW - age, NOW) for age in ages] == [
        "just now", "1 minute ago", "3 hours ago", "1 year ago",
    ]  # fmt: skip
    assert spanish.age(NOW - timedelta(days=2), NOW) == "hace 2 días"
    assert [english.day(NOW - timedelta(days=n), NOW) for n in (0, 1, 2)] == [
        "Today", "Yesterday", "28 November 2026",
    ]  # fmt: skip
    assert english.count(12345, "{n} note", "{n} notes") == "12\u202f345 notes"
    assert words.moment_of(-5).year in (1969, 1970)
    assert words.moment_of(2**63).year > 2090


@pytest.fixture
def site(explored):
    return explored({"Note.md": "Words.\n"})


def test_language_and_theme_are_remembered(site):
    assert 'lang="es"' in site.get("/", Accept_Language="es-MX").text
    assert site.post("/settings", language="es", theme="dark", back="/tree").status == 303
    text = site.get("/tree").text
    assert '<html lang="es" data-theme="dark">' in text and "Carpetas" in text


def test_a_choice_that_is_none_is_refused_and_one_in_a_cookie_ignored(site):
    assert site.post("/settings", theme="pink").status == 400
    site.cookies[site.door.cookie("theme")] = "pink"
    assert 'data-theme="auto"' in site.get("/").text


def test_going_back_stays_in_the_explorer(site):
    reply = site.post("/settings", theme="dark", back="//evil.example/")
    assert reply.header("location") == "/"


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/n/zzz", 404), ("/tags/x", 404)])
def test_a_failure_has_a_page_of_its_own(site, path, status):
    reply = site.get(path)
    assert reply.status == status
    assert "<main" in reply.text and "Not here" in reply.text


def test_a_fault_of_the_explorer_is_told_without_its_insides(site, monkeypatch):
    from zibaldone.lenses import visit

    def fail(*_):
        raise RuntimeError("inner secret")

    monkeypatch.setattr(visit.FileNames, "find", fail)
    (site.vault.layout.root / "Pic.md").write_text("---\nid: pppppppppppp\n---\n![[x.png]]\n")
    reply = site.get("/n/pppppppppppp")
    assert reply.status == 500
    assert "inner secret" not in reply.text and "content-security-policy" in str(reply.headers)


def test_a_vault_that_has_gone_is_told_of(site):
    root = site.vault.layout.root
    root.rename(root.with_name("away"))
    assert site.get("/").status in (404, 503)


def test_static_files_are_those_of_the_explorer(site):
    made = pages.Pages()
    assert set(made.static) == {"explorer.css", "explorer.js", "icon.svg"}
    for name in made.static:
        assert site.get(made.static_address(name)).status == 200
    for name in ("../server.py", "nothing.js", "..%2fserver.py"):
        assert site.get(f"/static/{made.version}/{name}").status == 404


def test_nothing_comes_from_elsewhere():
    for file in (*TEMPLATES, *(pages.FOLDER / "static").iterdir()):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "url(" not in text, file.name


# The command


def test_an_agent_cannot_open_the_owners_door(monkeypatch, capsys, vault_dir):
    monkeypatch.setenv("ZIBALDONE_AGENT", "tester")
    with pytest.raises(SystemExit) as ended:
        monkeypatch.setattr("sys.argv", ["zib", "explore", "--vault", str(vault_dir), "--no-open"])
        cli.main()
    assert ended.value.code == 4
    assert "Only the owner" in capsys.readouterr().err


def test_a_port_that_is_taken_gives_way_unless_it_is_wanted():
    with explore._bound("127.0.0.1", None) as first, explore._bound("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        assert first.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with pytest.raises(InvalidArgument):
            explore._bound("127.0.0.1", first.getsockname()[1])
    with pytest.raises(InvalidArgument):
        explore._bound("127.0.0.1", 70000)
    with pytest.raises(InvalidArgument, match="'host'"):
        explore._bound("no such host.invalid", 0)
