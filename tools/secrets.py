"""Whether a text holds a secret, and of which kind. The secret itself is never given back.

Formats of well-known keys come from `bc-detect-secrets`: of the libraries that were tried it is the
one that is kept up and is plain Python (`detect-secrets`, which it was forked from, has had no
release since May 2024; the others bring a binary of 25 MB and more, or 400 MB of models). Only its
patterns are used, never its checks over the network, and it is imported only for a text that has
something like a token in it. What it does not know is here: newer formats, passwords in prose, and
numbers of payment cards.

A text is searched as it stands, without its Markdown marks, and with its lines joined, so that a
secret that was cut in pieces is found too.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from ..indexer.analysis import STOP_WORDS
from .refusals import SecretRefused

Analyse = Callable[[str], Iterable[str]]

BEYOND = 200
LONGEST = 16 * 1024
"""Characters behind the beginning of a text that are looked at too, and of the word that goes on
there, at most: so that no half of a secret is kept."""


def find_secret(text: str) -> str | None:
    """Return the kind of the first secret that is found, such as "a password", or nothing."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", html.unescape(text)))
    unmarked = _MARKS.sub("", plain)
    joined = _LINE_END.sub("", unmarked)
    for view in dict.fromkeys((plain, unmarked, joined)):
        found = _known_format(view) or _library_format(view) or _card(view)
        if found:
            return found
    return _assigned(plain) or _assigned(unmarked) or _assigned_over_lines(unmarked, joined)


def find_early_secret(text: str, length: int) -> str | None:
    """Return the kind of a secret that stands, or begins, in the first characters of a text."""
    end = length + BEYOND
    blank = _BLANK.search(text, end, end + LONGEST)
    return find_secret(text[: blank.start() if blank else end + LONGEST])


# Views

_BLANK = re.compile(r"\s")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_MARKS = re.compile(
    r"(?m:^```\w{0,20}[ \t]*$)|[*`~\\]|==(?=\w)|(?<=\w)==(?!\S)|<!--[^<>]{0,200}-->"
    r"|</?(?:a|b|br|code|del|em|font|i|kbd|mark|s|span|strong|sub|sup|u|wbr)\b[^<>]{0,100}>",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"(?<![ \t])[ \t]*[\r\n]+(?:[ \t]|(?:[>|+-]|\d{1,3}[.)])[ \t])*")


# Known formats

_FORMATS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "a private key",
            r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-\d"
            r"|AGE-SECRET-KEY-1[A-Z0-9]{20}|b3BlbnNzaC1rZXktdjE",
        ),
        ("an AWS access key", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
        ("a GitHub token", r"gh[oprsu]_[A-Za-z0-9]{36}|github_pat_\w{22}"),
        (
            "a GitLab token",
            r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{20}|GR1348941[\w-]{20}",
        ),
        ("an npm token", r"npm_[A-Za-z0-9]{36}"),
        ("an Artifactory key", r"(?<![A-Za-z0-9])AKC[A-Za-z0-9]{50}"),
        ("a PyPI token", r"pypi-AgE[\w-]{50}"),
        (
            "a Slack token",
            r"xox[a-eoprs]-(?=[\w-]{0,60}\d)[\w-]{10}|xapp-\d-[\w-]{20}"
            r"|hooks\.slack\.com/\w{1,20}/T\w{1,40}/\w{1,40}/\w{1,40}",
        ),
        ("a Stripe key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16}|whsec_[A-Za-z0-9]{16}"),
        (
            "a Google key",
            r"AIza[\w-]{35}|GOCSPX-[\w-]{20}|ya29\.[\w-]{30}|1//0[\w-]{30}",
        ),
        ("an Anthropic key", r"sk-ant-[a-z]{1,10}\d\d-(?=[\w-]{0,60}[A-Z])[\w-]{20}"),
        (
            "an API key",
            r"(?:sk-(?:proj|svcacct|admin|or)-|(?<![A-Za-z])sk-)(?:[a-z0-9]{1,10}-){0,2}"
            r"(?=\w{0,60}\d)[A-Za-z0-9_]{20}",
        ),
        (
            "an access token",
            r"(?<![A-Za-z0-9])(?:hf_|gsk_|r8_|xai-|pplx-|nvapi-|csk-|pcsk_|figd_|ntn_|secret_|lin_api_"
            r"|shp(?:at|ca|pa|ss)_|do[opr]_v1_|dckr_[op]at_|dapi|hv[bs]\.|gls?a_|glc_|glffct-|rubygems_"
            r"|sntry[su]_|sgp_|sbp_|tskey-|sq0atp-|xkeysib-|pul-|phx_|rnd_|ATATT|HRKU-|NRAK-|PMAK-"
            r"|CCIPAT_|SWMTKN-|EAAA)(?=[\w-]{0,60}\d)[\w-]{20}",
        ),
        (
            # The usual form: the vendor's name, then small and capital letters and digits by lot.
            "an access token",
            r"(?<![A-Za-z0-9])(?:[a-z]{2,16}[_-]){1,3}(?:v\d[_-])?(?=[A-Za-z]{0,40}\d)"
            r"(?=[a-z0-9]{0,40}[A-Z])(?=[A-Z0-9]{0,40}[a-z])[A-Za-z0-9]{30}",
        ),
        ("a Telegram bot token", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
        (
            "an Azure key",
            r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40}|[?&]sig=[A-Za-z0-9%+/]{30}",
        ),
        ("a bearer token", r"(?i:bearer)\s{1,5}(?=[!-~]{0,60}\d)[\w.~+/-]{16}"),
        ("a login", r"(?i:authorization:\s{0,5}basic)\s{1,5}[A-Za-z0-9+/]{8}"),
        (
            "a wallet's seed phrase",
            r"(?i:seed|recovery|wallet|mnemonic|semilla)(?i:\W{1,3}(?:phrase|words?))?"
            r"\s?(?:[:=]|is|es|are|son)\W{1,5}(?:[a-z]{3,8}\s{1,3}){11}[a-z]{3,8}",
        ),
        (
            "a PIN",
            r"(?<!\w)P(?:IN|in)(?:[ -](?i:code|number))?\s?(?:[:=]|is|es)\s{0,3}\d{4}(?![\w-])",
        ),
        ("a card's security code", r"(?<!\w)CV[CV]2?\s?(?:[:=]|is|es)?\s{0,3}\d{3,4}(?![\w-])"),
    )
)
_PLACE_OF_PASSWORD = re.compile(r"^[$%<{\[]|^(?:x+|\*+|\.+|password)$", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]{1,20}://[^\s/:@?#]{0,80}:(?P<value>[^\s/@]{1,200})@")


def refuse_secrets(*texts: str) -> None:
    """Raise `SecretRefused` when one of these texts holds a secret."""
    for text in texts:
        if kind := find_secret(text):
            raise SecretRefused(kind)


def _known_format(text: str) -> str | None:
    for kind, pattern in _FORMATS:
        if pattern.search(text):
            return kind
    for match in _ADDRESS.finditer(text):
        if not _PLACE_OF_PASSWORD.search(match["value"]):
            return "a password in an address"
    return None


# The library

_TOKEN_LIKE = re.compile(r"[A-Za-z0-9+/=_.-]{11,}")
_ALWAYS_TOKEN = 20


def _library_format(text: str) -> str | None:
    if any(map(_is_token_like, _TOKEN_LIKE.findall(text))):
        for kind, analyse in _detectors():
            if any(analyse(text)):
                return kind
    return None


def _is_token_like(run: str) -> bool:
    return len(run) >= _ALWAYS_TOKEN or not run[1:].islower() or any(map(str.isdigit, run))


@cache
def _detectors() -> tuple[tuple[str, Analyse], ...]:
    """The library's detectors; those that need more than a pattern to be right are left out."""
    from detect_secrets.plugins import (
        artifactory,
        aws,
        cloudant,
        discord,
        github_token,
        ibm_cloud_iam,
        ibm_cos_hmac,
        jwt,
        mailchimp,
        npm,
        private_key,
        sendgrid,
        slack,
        softlayer,
        square_oauth,
        stripe,
        twilio,
    )

    return (
        ("an AWS access key", aws.AWSKeyDetector().analyze_string),
        ("a GitHub token", github_token.GitHubTokenDetector().analyze_string),
        ("an npm token", npm.NpmDetector().analyze_string),
        ("a Slack token", slack.SlackDetector().analyze_string),
        ("a Stripe key", stripe.StripeDetector().analyze_string),
        ("a private key", private_key.PrivateKeyDetector().analyze_string),
        ("a JSON web token", jwt.JwtTokenDetector().analyze_string),
        ("a Discord bot token", discord.DiscordBotTokenDetector().analyze_string),
        ("a SendGrid key", sendgrid.SendGridDetector().analyze_string),
        ("a Square secret", square_oauth.SquareOAuthDetector().analyze_string),
        ("a Twilio key", twilio.TwilioKeyDetector().analyze_string),
        ("a Mailchimp key", mailchimp.MailchimpDetector().analyze_string),
        ("an Artifactory key", artifactory.ArtifactoryDetector().analyze_string),
        ("a Cloudant key", cloudant.CloudantDetector().analyze_string),
        ("a SoftLayer key", softlayer.SoftlayerDetector().analyze_string),
        ("an IBM storage key", ibm_cos_hmac.IbmCosHmacDetector().analyze_string),
        ("an IBM Cloud key", ibm_cloud_iam.IbmCloudIamDetector().analyze_string),
    )


# Passwords and keys that are given as such

_PASSWORD_WORDS = (
    r"(?<!1)password|passwd|passcode|passphrase|(?<![a-z])pwd|(?<![a-z])pass|contrase[ñn]a"
    r"|(?<![a-z])clave|mot de passe|(?<![a-z])mdp|passwort|kennwort|(?<![a-z])senha"
    r"|密码|密碼|口令|пароль"
)
_KEY_WORDS = (
    r"api[ _-]?key|(?:access|secret|private|auth|account|client|signing|encryption|licen[cs]e)"
    r"[ _-]?(?:access[ _-]?)?(?:key|secret)|token|secret|clave (?:de )?api|clave secreta"
    r"|clé (?:d'|secrète)?(?:api)?|chave (?:de )?api|api-?schlüssel|jeton|令牌|密钥|密鑰"
)
_HAN = "\u3040-\u30ff\u3400-\u9fff"
_ASSIGNED = re.compile(
    rf"(?P<word>(?P<key>{_KEY_WORDS})|{_PASSWORD_WORDS})"
    r"(?![a-z])(?:[_-]\w{1,20}+|\d{1,2})?(?:\s?\([^()\n]{0,40}\))?"
    # Such as: … for the staging machine
    r"(?:(?P<whose>[ \t](?:for|of|to|on|at|in|de|del|da|do|para|pour|für|von|du)"
    r"(?:[ \t][^\s:=;,]{0,30}[^\s:=;,.!?]){1,5}?)?"
    r"(?:(?P<firm>\s?[\"'`)\]]?\s?(?::=|={1,3}>?|:|->)\s{0,5})"
    r"|(?P<told>\s?[|是为為]\s?"
    r"|\s{1,3}(?:is|was|es|era|ist|war|lautet|est|é)(?:\s(?:now|still|ahora|jetzt))?\s?:?\s{1,3}))"
    r"|[ \t]{1,3})"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{1,100})(?P=quote)"
    rf"|(?P<bare>[^\s\"'`,;|{_HAN}]{{1,200}}))(?P<after>[ \t]?\S?)",
    re.IGNORECASE,
)
_OTHER_SENSE = re.compile(
    r"(?:palabra|version|page|sync|next|cursor|continuation|resume|csrf|stop|special|design|idempotency)"
    r"[ _-]?$",
    re.IGNORECASE,
)


def _assigned(text: str) -> str | None:
    return next(filter(None, map(_kind, _assignments(text))), None)


def _assigned_over_lines(text: str, joined: str) -> str | None:
    """Look at values that go on in the next line, but for those that are none where they begin."""
    if text == joined:
        return None
    values = {_value(match) for match in _assignments(text)}
    others = tuple(value for value in values if _is_no_value(value) or _is_state(value))
    for match in _assignments(joined):
        if match["firm"] and not match["whose"] and not _value(match).startswith(others):
            kind = _kind(match)
            if kind:
                return kind
    return None


def _assignments(text: str) -> Iterator[re.Match[str]]:
    start = 0
    while match := _ASSIGNED.search(text, start):
        start = match.end("word")
        if not _OTHER_SENSE.search(text[max(0, match.start() - 20) : match.start()]):
            yield match


def _kind(match: re.Match[str]) -> str | None:
    if match["key"]:
        return "a key or token" if _is_key(match) else None
    return "a password" if _is_password(match) else None


_AROUND = ".,;:!?)]}>\"'。*_~"
_ENDS = ("", *".,;:!?)]}|`\"'。，；")
_PLACEHOLDER = re.compile(
    r"^[$%<{\[(]|^(?:x+|\*+|\.+|-+|_+)$|^(?:pass|passwd|password|pwd|secret|token)$"
    r"|(?:^|[^a-z])(?:your|example|placeholder|redacted|changeme|change-me|dummy|sample)(?:[^a-z]|$)"
    r"|getenv|environ|process\.env",
    re.IGNORECASE,
)
# What stands for a value kept elsewhere: a path, a mail or web address, a name in a program.
_REFERENCE = re.compile(
    r"^[~/]|^\.{1,2}/|^[\w.-]{1,80}(?:/[a-z0-9_.-]{1,80})+$|://|^[^\s@]+@[^\s@]+\.[a-z]+$|\($"
    r"|^[A-Za-z_.]\w*\([^)]*\)?"
    r"|^(?:self|this|os|process|config|settings|env|request|req|user|args|options|secrets?|vault|app)\."
    r"|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[\d.,:/-]*[.,:/-][\d.,:/-]*$"
)
# What is said about a password: how long it is, how it is kept.
_ABOUT = re.compile(
    r"^\d+-[a-z]+(?:-[a-z]+)*$|^\d+(?:chars?|characters?|digits?|bits?|words?|days?|min|h|s|ms)$"
    r"|^(?:argon2|bcrypt|scrypt|sha-?\d|md5|pbkdf2|aes|rsa|ed25519|oauth2|1password|2fa|base64|utf-?8"
    r"|keepass)\w{0,3}(?:[-_].*)?$",
    re.IGNORECASE,
)
_STATE_WORDS = """
required optional none null true false empty blank unknown unchanged changed missing expired
forgotten lost rotated reset wrong correct weak strong secret hidden private masked omitted
removed encrypted hashed salted pending disabled enabled vault keychain bitwarden lastpass
dashlane passkey passkeys login email string text field input here below above later never
always monthly yearly weekly manager reminder policy
requerida obligatoria opcional ninguna vacía pendiente desconocida caducada cambiada olvidada
secreta oculta cifrada débil primaria
obligatoire aucun vide masqué oublié requis
erforderlich keine leer geheim vergessen geändert unbekannt tresor
obrigatória nenhuma vazia esquecida alterada trocada
"""
_STATES = frozenset(_STATE_WORDS.split())


def _is_password(match: re.Match[str]) -> bool:
    value = _value(match)
    if len(value) < 4 or _is_no_value(value):
        return False
    given = bool(match["firm"] or match["told"])
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not letters:
        return given and value.isdigit()
    if not digits and value.isalpha():
        return given and _is_password_of_letters(match, value)
    if " " in value:
        return given and (digits or _is_password_of_words(value))
    return digits or _has_symbol(value) if given else digits and len(value) >= 6


def _is_password_of_letters(match: re.Match[str], value: str) -> bool:
    """A lone word is a password only where it is plainly given as one."""
    if _is_state(value):
        return False
    last = match["bare"] and (match["bare"][-1] in _AROUND or match["after"].strip(" \t") in _ENDS)
    plainly = match["quoted"] or (match["firm"] and last and len(value) > 5)
    return bool(plainly) or _changes(value) > 2 or len(value) >= 20


def _is_password_of_words(value: str) -> bool:
    words = value.casefold().split()
    return len(words) > 3 and STOP_WORDS.isdisjoint(words)


def _has_symbol(value: str) -> bool:
    return any(symbol in value[1:-1] for symbol in "!@#$%^&*+=?~")


def _is_key(match: re.Match[str]) -> bool:
    """A key is long and looks as if drawn by lot."""
    value = _value(match)
    given = bool(match["firm"] or match["told"])
    if len(value) < (12 if given else 20) or " " in value or _is_no_value(value):
        return False
    return any(map(str.isalpha, value)) and _changes(value) > 2


def _value(match: re.Match[str]) -> str:
    return (match["quoted"] or match["bare"]).strip().rstrip(_AROUND)


def _is_no_value(value: str) -> bool:
    return any(pattern.search(value) for pattern in (_PLACEHOLDER, _REFERENCE, _ABOUT))


def _is_state(value: str) -> bool:
    return value.strip(_AROUND).casefold() in _STATES


def _changes(value: str) -> int:
    """How often the sort of character changes: between letters and digits, or small to capital."""
    return sum(
        one.isdigit() != other.isdigit() or (one.islower() and other.isupper())
        for one, other in pairwise(value)
        if one.isalnum() and other.isalnum()
    )


# Payment cards

_DIGITS = re.compile(r"(?<![\w.])\d{3,19}(?:[ -]\d{3,19}){0,40}(?![\w])")
_CARD = re.compile(
    # Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay.
    r"4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
_LONGEST_CARD = 19


def _card(text: str) -> str | None:
    runs = (re.split("[ -]", match[0]) for match in _DIGITS.finditer(text))
    found = any(
        _CARD.fullmatch(number) and _luhn(number) for run in runs for number in _joined(run)
    )
    return "a payment card number" if found else None


def _joined(groups: list[str]) -> Iterator[str]:
    """Neighbouring groups as one number."""
    for first in range(len(groups)):
        number = ""
        for group in groups[first:]:
            number += group
            if len(number) > _LONGEST_CARD:
                break
            yield number


def _luhn(number: str) -> bool:
    """The check sum of ISO/IEC 7812."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2])
    return (sum(map(int, number[-1::-2])) + sum(doubled)) % 10 == 0
