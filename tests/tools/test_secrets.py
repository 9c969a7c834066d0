"""Secrets are found whatever is done to them; ordinary sentences are left alone.

Every secret here is put together when the tests run, so that no scanner stops at this file.
"""

import base64
import inspect
import json
import logging
import pkgutil
import subprocess
import sys
import time
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zibaldone.tools import secrets
from zibaldone.tools.secrets import find_secret

ORDINARY = (Path(__file__).parents[1] / "data/ordinary.txt").read_text("utf-8").splitlines()
MIXED = "aB3dE5fG7hJ9kL2mN4pQ6rS8tV1wX0yZ"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
CAPITALS = "Q7RT2MXK4WZP5LNB"


def some(size, characters=MIXED):
    """That many characters that look drawn by lot."""
    return "".join(islice(cycle(characters), size))


def jwt():
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": "ana", "exp": 1767225600})
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()) for part in parts)
    return ".".join([*(part.decode().rstrip("=") for part in coded), some(43)])


def pem(kind):
    dashes = "-" * 5
    label = f"{kind} PRIVATE KEY".strip()
    return f"{dashes}BEGIN {label}{dashes}\n{some(64)}\n{some(40)}\n{dashes}END {label}{dashes}"


# Each token is one word without blanks; its kind is what `find_secret` should call it.
TOKENS = {
    "aws": ("an AWS access key", "AKIA" + CAPITALS),
    "aws-session": ("an AWS access key", "ASIA" + CAPITALS),
    "github": ("a GitHub token", "gh" + "p_" + some(36)),
    "github-app": ("a GitHub token", "gh" + "s_" + some(36)),
    "github-fine-grained": ("a GitHub token", "github" + "_pat_" + some(22) + "_" + some(59)),
    "gitlab": ("a GitLab token", "glpat" + "-" + some(20)),
    "npm": ("an npm token", "npm" + "_" + some(36)),
    "pypi": ("a PyPI token", "pypi" + "-AgEIcHlwaS5vcmc" + some(90)),
    "slack": ("a Slack token", "xox" + "b-" + "123456789012-" * 2 + some(24)),
    "slack-hook": (
        "a Slack token",
        "https://hooks.slack" + ".com/services/T0AB1CD2E/B0FG3HI4J/" + some(24),
    ),
    "stripe": ("a Stripe key", "sk" + "_live_" + some(24)),
    "stripe-restricted": ("a Stripe key", "rk" + "_live_" + some(24)),
    "google": ("a Google key", "AI" + "za" + some(35)),
    "google-oauth": ("a Google key", "GOC" + "SPX-" + some(28)),
    "openai": ("an API key", "sk" + "-" + some(20) + "T3BlbkFJ" + some(20)),
    "openai-project": ("an API key", "sk" + "-proj-" + some(48)),
    "openrouter": ("an API key", "sk" + "-or-v1-" + some(64, HEX)),
    "anthropic": ("an Anthropic key", "sk" + "-ant-api03-" + some(80)),
    "huggingface": ("an access token", "hf" + "_" + some(34)),
    "digitalocean": ("an access token", "dop" + "_v1_" + some(64, HEX)),
    "shopify": ("an access token", "shp" + "at_" + some(32, HEX)),
    "another-vendor": ("an access token", "heron" + "_live_" + some(32)),
    "telegram": ("a Telegram bot token", "1234567890" + ":AA" + some(33)),
    "jwt": ("a JSON web token", jwt()),
    "discord": ("a Discord bot token", "M" + some(23) + "." + some(6) + "." + some(27)),
    "sendgrid": ("a SendGrid key", "SG" + "." + some(22) + "." + some(43)),
    "square": ("a Square secret", "sq0" + "csp-" + some(43)),
    "twilio": ("a Twilio key", "SK" + some(32, HEX)),
    "mailchimp": ("a Mailchimp key", some(32, HEX) + "-us" + "12"),
    "artifactory": ("an Artifactory key", "AKC" + some(60)),
    "softlayer": (
        "a SoftLayer key",
        "https://api.softlayer" + ".com/soap/v3/" + some(64, HEX),
    ),
    "basic-auth": (
        "a password in an address",
        "https://ana:" + "Gato2019!" + "@wiki.example.com/x",
    ),
    "postgres": ("a password in an address", "postgres://heron:" + "s3cr3tW0rd" + "@db:5432/heron"),
    "redis": ("a password in an address", "redis://:" + "p4ssw0rdX" + "@cache:6379/0"),
    "azure": ("an Azure key", "AccountName=heron;Account" + "Key=" + some(86) + "=="),
    "ssh": ("a private key", "b3BlbnNzaC1r" + "ZXktdjE" + some(60)),
    "age": ("a private key", "AGE-SECRET" + "-KEY-1" + some(58, CAPITALS)),
    "assigned": ("a password", "password" + "=hunter2secret"),
    "connection": ("a password", "Server=db;Uid=ana;" + "Pwd" + "=Gato2019!;"),
}

# What is said in words; with blanks in it.
SAID = {
    "password": ("a password", "password" + " = hunter2secret"),
    "password-colon": ("a password", "Password" + ": swordfish"),
    "password-is": ("a password", "the password" + " is hunter2"),
    "password-for": ("a password", "the password for the staging machine is " + "Gato2019!"),
    "password-quoted": ("a password", 'password: "correct horse battery' + ' staple"'),
    "password-digits": ("a password", "the password" + " is 482913"),
    "password-no-sign": ("a password", "login ana, password " + "Gato2019x"),
    "json": ("a password", '{"user": "ana", "password": ' + '"Gato-2019"}'),
    "environment": ("a password", "export DB_PASSWORD" + "=hunter2secret"),
    "contraseña": ("a password", "contraseña" + ": Gato2019"),
    "clave": ("a password", "la clave del wifi es " + "olivo77casa"),
    "mot-de-passe": ("a password", "le mot de passe est " + "Soleil88bleu"),
    "passwort": ("a password", "das Passwort" + " lautet Wolke77grau"),
    "senha": ("a password", "a senha do wifi é " + "praia2024azul"),
    "密码": ("a password", "密码是" + "hunter2secret"),
    "fullwidth": ("a password", "密码" + "：hunter2secret"),
    "api-key": ("a key or token", "api_key" + ": " + some(32, HEX)),
    "api-key-is": ("a key or token", "the API key for the weather service is " + some(24)),
    "token": ("a key or token", "token" + ' = "' + some(20) + '"'),
    "aws-secret": ("an AWS access key", "aws_secret_access_key" + " = " + some(40)),
    "client-secret": ("a key or token", "client secret" + ": " + some(32)),
    "bearer": ("a bearer token", "Authorization: Bear" + "er " + some(40)),
    "basic": ("a login", "Authorization: Bas" + "ic " + "YW5hOkdhdG8yMDE5"),
    "card": ("a payment card number", "4111 1111" + " 1111 1111"),
    "card-dashes": ("a payment card number", "5500-0000" + "-0000-0004"),
    "amex": ("a payment card number", "3782 822463" + " 10005"),
    "card-plain": ("a payment card number", "60111111" + "11111117"),
    "pin": ("a PIN", "the PIN" + " is 4821"),
    "cvv": ("a card's security code", "CVV" + ": 123"),
    "seed": ("a wallet's seed phrase", "seed phrase: " + "olive train window copper " * 3),
    "cloudant": ("a Cloudant key", "cloudant" + "_key = " + some(64, HEX)),
    "ibm-cloud": ("an IBM Cloud key", "ibm-cloud-api" + "-key: " + some(44)),
    "ibm-storage": ("an IBM storage key", "ibm_cos_secret" + "_access_key = " + some(48, HEX)),
    "pem": ("a private key", pem("")),
    "pem-rsa": ("a private key", pem("RSA")),
    "pem-openssh": ("a private key", pem("OPENSSH")),
    "pem-encrypted": ("a private key", pem("ENCRYPTED")),
    "putty": ("a private key", "PuTTY-User-Key" + "-File-2: ssh-rsa\nEncryption: none"),
}
SECRETS = TOKENS | SAID

PLACES = {
    "alone": "{}",
    "sentence": "She said that {} works on the staging machine.",
    "end": "The note from Monday ends with {}",
    "fence": "Run this:\n\n```sh\nmake deploy\n{}\n```\n",
    "code": "Use `{}` for it.",
    "list": "- first the pipes\n- {}\n- then the floor",
    "quote": "> {}\n> and more",
    "emphasis": "It is **{}** now.",
    "table": "| name | value |\n| --- | --- |\n| box | {} |",
    "brackets": "The one of May ({}) is still good.",
    "spanish": "Según Imre, {} sigue siendo válido.",
}

SPLITS = {
    "zero-width": "\u200b",
    "soft-hyphen": "\u00ad",
    "joiner": "\u2060",
    "tag": "\U000e0041",
    "bold": "**",
    "code": "`",
    "strike": "~~",
    "backslash": "\\",
    "html": "<b></b>",
    "comment": "<!-- x -->",
    "entity": "&ZeroWidthSpace;",
    "line-end": "\n",
    "crlf": "\r\n",
    "quoted-line": "\n> ",
    "indented-line": "\n  ",
}


@pytest.mark.parametrize("name", SECRETS)
def test_every_kind_is_found_by_its_name(name):
    kind, secret = SECRETS[name]
    assert find_secret(secret) == kind


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_wherever_it_stands(name):
    found = {place: find_secret(frame.format(SECRETS[name][1])) for place, frame in PLACES.items()}
    missed = {place for place in PLACES if found[place] is None}
    # A lone word before other words may be one of a sentence: "password: see above".
    assert missed == ({"sentence", "spanish"} if name == "password-colon" else set())


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_in_pieces_is_found(name):
    token = TOKENS[name][1]
    pieces = {
        (split, at): f"It is {token[:at]}{mark}{token[at:]} now."
        for split, mark in SPLITS.items()
        for at in (len(token) // 3, len(token) // 2, len(token) - 2)
    }
    assert {cut for cut, text in pieces.items() if find_secret(text) is None} == set()


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_in_many_pieces_is_found(name):
    token = TOKENS[name][1]
    pieces = [token[at : at + 5] for at in range(0, len(token), 5)]
    assert {
        split for split, mark in SPLITS.items() if find_secret(mark.join(pieces)) is None
    } == set()


@pytest.mark.parametrize("frame", ["{0}", "- **{0}**\n- `{0}`", "> {0}\n\n```\n{0}\n```\n"])
def test_ordinary_sentences_pass(frame):
    found = {line: find_secret(frame.format(line)) for line in ORDINARY}
    assert {line: kind for line, kind in found.items() if kind} == {}


def test_there_are_many_ordinary_sentences_and_together_they_pass():
    assert len(set(ORDINARY)) >= 200
    assert find_secret("\n".join(ORDINARY)) is None


@pytest.mark.parametrize("name", SECRETS)
def test_the_secret_is_never_given_back_or_logged(name, caplog, capsys):
    secret = SECRETS[name][1]
    with caplog.at_level(logging.DEBUG):
        found = find_secret(secret)
    assert not any(piece in found for piece in secret.split() if len(piece) > 8)
    assert not caplog.records
    assert capsys.readouterr() == ("", "")


def test_a_card_number_needs_its_check_digit():
    number = "4111 1111 1111 111"
    assert [digit for digit in "0123456789" if find_secret(number + digit)] == ["1"]


def test_every_detector_of_the_library_is_used_or_left_out_on_purpose():
    import detect_secrets.plugins
    from detect_secrets.plugins.base import RegexBasedDetector

    known = set()
    for module in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        members = vars(import_module(f"detect_secrets.plugins.{module.name}")).values()
        known |= {each for each in members if inspect.isclass(each)}
    known = {each.__name__ for each in known if issubclass(each, RegexBasedDetector)}
    used = {type(analyse.__self__).__name__ for _, analyse in secrets._detectors()}
    left_out = {"AzureStorageKeyDetector", "BasicAuthDetector", "RegexBasedDetector"}
    assert used | left_out == known


def test_no_network_is_needed(monkeypatch):
    import socket

    def refuse(*_, **__):
        raise AssertionError("a look at the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert all(find_secret(secret) for _, secret in SECRETS.values())


def test_the_library_is_not_loaded_for_ordinary_words():
    code = (
        "import sys; from zibaldone.tools.secrets import find_secret;"
        "assert find_secret('Prefers dark themes, and the password is in the vault.') is None;"
        "sys.exit('detect_secrets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.text(max_size=200))
def test_any_text_is_judged(text):
    assert find_secret(text) is None or find_secret(text) in {kind for kind, _ in SECRETS.values()}


@given(st.sampled_from(sorted(TOKENS)), st.sampled_from(ORDINARY), st.sampled_from(ORDINARY))
def test_a_token_between_other_sentences_is_found(name, before, after):
    assert find_secret(f"{before} {TOKENS[name][1]} {after}")


def fastest(text, runs):
    """Seconds of the best run."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        find_secret(text)
        best = min(best, time.perf_counter() - start)
    return best


def test_an_observation_takes_under_two_milliseconds():
    text = " ".join([*ORDINARY[30:34], *ORDINARY[:5]])[:300]
    find_secret(text)
    assert fastest(text, 20) < 0.002


@pytest.mark.parametrize(
    "piece",
    [
        " ", "\t", " \n", "a", "1",
        "1 ", "4111 ", "=", "*", "[", "<", "<b", "<!--", "&", "//", "://", "a://b:",
        "eyJ", "eyJ.", "sk-", "sk-a-", "password ", "password for a ", "password: ", "token is ",
        "xoxb-", "secret_", "-----BEGIN ", "BEGIN PRIVATE KEY", "aws key ", "cl key ", "jfrog ",
        "AKC", "\n", "\n> ", "\u200b", "NPM TOKEN ", "seed phrase word ", "a.b@", "key:", "AP0",
        "A" * 40 + " ",
    ],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_a_blink(piece):
    find_secret(some(20))
    assert fastest((piece * 4096)[:4096], 3) < 0.2
