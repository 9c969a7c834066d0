"""From text to index terms, for all languages at once.

No language is guessed, so a short query cannot be misjudged: what is done to a word depends on
its script and its letters alone. Latin and Cyrillic words are folded (case, accents) and lose
their usual endings. Scripts without blanks between words give pairs of characters, the usual
index for Chinese and Japanese. Names, paths, handles, versions and words with symbols give the
whole as a term and their parts as well; a query counts the whole for more, so that the exact
form ranks first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, pairwise

QUERY_LIMIT = 64
"""Terms of one query; what comes later is not looked at."""

TERM_LENGTH = 64
"""Characters after which a term is cut off."""

TOKEN_LENGTH = 256
"""Characters from which a name or path is taken for its words only."""

WHOLE, PART = 2.0, 0.5
"""What the whole of a name counts in a query, and the share that is left to its parts."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """An index term to look for, and how much it counts; a plain word counts 1."""

    text: str
    weight: float


def terms(text: str) -> list[str]:
    """Return the index terms of a text, with repeats; stop words are left out."""
    text = _plain(text)
    tokens = _patterns(text.isascii()).token.findall(text)
    return list(chain.from_iterable(map(_TERMS.__getitem__, tokens)))


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """Return the terms to look for, each once, at most `QUERY_LIMIT`; stop words are left out."""
    weights: dict[str, float] = {}
    for term in chain.from_iterable(token.query for token in _tokens(text)):
        if term.text not in weights and len(weights) == QUERY_LIMIT:
            break
        weights[term.text] = max(term.weight, weights.get(term.text, 0.0))
    return tuple(QueryTerm(term, weight) for term, weight in weights.items())


def only_stop_words(text: str) -> bool:
    """Say whether a text has words, and all of them are too common to look for."""
    words = False
    for token in _tokens(text):
        if token.query:
            return False
        words = True
    return words


def stems(text: str) -> list[str]:
    """Return the words of a text in order, for comparing meanings.

    Stop words are left out, and negations are kept: those in `NEGATIONS` as they are, an
    English -n't as "not".
    """
    return [stem for token in _tokens(text) for stem in token.stems]


# Tokens: words with what belongs to them, as in `@name`, `c++`, `a/b.md`, `can't`, `v2.5`

_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u1100-\u11ff\u2e80-\u2fdf"
    "\u3005-\u3007\u3031-\u3035\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Han, Kana, Bopomofo and Hangul."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
)
"""Accents and points that readers leave out: Latin, Greek, Cyrillic, Hebrew, Arabic."""

_SIGNS = "\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
"""Scripts whose vowel signs are no letters to the regular expressions."""

_END = r"(?:\+\+|\#)?"
_JOINT = r"(?:://|::|:\\|[./\\@':&-]|(?<=[0-9]),(?=[0-9]))"
_JOINING, _STARTING = r"+#./\\@':&,-", r"@#$.~/-"
"""What `_END` and `_JOINT`, and what stands before a word, may begin with."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """A token, a word, and a run of a script without blanks."""

    token: re.Pattern[str]
    word: re.Pattern[str]
    run: re.Pattern[str]


@cache
def _patterns(ascii_only: bool) -> _Patterns:
    """Compile the patterns; those for all scripts take 20 ms, so ASCII text has its own."""
    run = r"[^\w\W]" if ascii_only else f"[{_UNSPACED}]"
    runs = "" if ascii_only else f"{run}++|"
    marks = "" if ascii_only else _MARKS + _SIGNS
    letter = r"\w" if ascii_only else rf"[^\W{_UNSPACED}]"
    word = rf"{letter}++" if ascii_only else rf"{letter}++(?:[{marks}]++{letter}*+)*+"
    start = rf"(?<![\w./\\@#$~)\]}}{marks}-])(?:--|~/|\.{{1,2}}/|[@\#$.~/])"
    # Where a word ends, or a blank stands, one look at a character saves a dozen attempts.
    more = rf"{_END}(?:{_JOINT}{word}{_END})*+"
    token = rf"{runs}{word}(?:(?=[{_JOINING}]){more})?|(?=[{_STARTING}]){start}{word}{more}"
    return _Patterns(re.compile(token), re.compile(rf"{runs}{word}"), re.compile(run))


_APOSTROPHES, _HYPHENS = "\u2018\u2019\u02bc\u2032", "\u2010\u2011\u05be"
_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff"
_ODD = re.compile(f"[{_APOSTROPHES}{_HYPHENS}{_INVISIBLE}]")
_REPLACED = {
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys((0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF), ""),
}


@dataclass(frozen=True, slots=True)
class _Token:
    """What one token gives to the index, to a query and to a comparison."""

    terms: tuple[str, ...] = ()
    query: tuple[QueryTerm, ...] = ()
    stems: tuple[str, ...] = ()


def _tokens(text: str) -> Iterator[_Token]:
    text = _plain(text)
    for match in _patterns(text.isascii()).token.finditer(text):
        token = match.group()
        if len(token) <= TERM_LENGTH:
            yield _analysed(token)
        else:
            yield from _analyse_long(token)


def _analyse_long(token: str) -> Iterator[_Token]:
    """A token too long to be kept; one that is far too long is taken for its words only."""
    if len(token) <= TOKEN_LENGTH:
        return iter((_analyse(token),))
    return map(_analyse, _patterns(token.isascii()).word.findall(token))


def _plain(text: str) -> str:
    """Compose characters, and give one form to apostrophes, hyphens and invisible marks."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    return composed.translate(_REPLACED) if _ODD.search(composed) else composed


def _analyse(token: str) -> _Token:
    if _patterns(token.isascii()).run.match(token):
        return _unspaced(token)
    token = token.strip("_")
    if token.isalpha():
        return _word(token)
    for rule in _RULES:
        found = rule(token)
        if found is not None:
            return found
    return _word(token)


_analysed = lru_cache(maxsize=1 << 15)(_analyse)


class _Terms(dict[str, tuple[str, ...]]):
    """The terms of each token met lately: a lookup that needs no Python where it is known."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(token) > TERM_LENGTH:
            return tuple(chain.from_iterable(each.terms for each in _analyse_long(token)))
        if len(self) >= _TERMS_KEPT:
            self.clear()
        found = self[token] = _analyse(token).terms
        return found


_TERMS_KEPT = 1 << 15
_TERMS = _Terms()


def _unspaced(run: str) -> _Token:
    """Pairs of characters; single ones, marked, only for queries of one character."""
    single = tuple(f"={character}" for character in run)
    if len(run) == 1:
        return _Token(single, (QueryTerm(single[0], 1.0),), (run,))
    pairs = tuple(map("".join, pairwise(run)))
    negations = tuple(character for character in run if character in NEGATIONS)
    return _Token(pairs + single, tuple(QueryTerm(pair, 1.0) for pair in pairs), pairs + negations)


def _word(word: str) -> _Token:
    folded = _fold(word)
    kept = (folded,) if folded in NEGATIONS else ()
    if folded in STOP_WORDS or not folded:
        return _Token(stems=kept)
    whole = stem(folded)
    parts = [_Token((part,), (QueryTerm(part, 1.0),)) for part in _parts(word, folded)]
    if not parts:
        return _Token((whole,), (QueryTerm(whole, 1.0),), kept or (whole,))
    return _whole(whole, parts)


def _parts(word: str, folded: str) -> list[str]:
    """The stems of the parts of `camelCase`, and of the letters of `python3`."""
    found = [_fold(part) for part in _humps(word)]
    if not folded.isalpha():
        found += _LETTERS.findall(folded)
    words = dict.fromkeys(part for part in found if len(part) > 1 and part not in STOP_WORDS)
    return [stem(part) for part in words if part != folded]


_LETTERS = re.compile(r"[^\W\d_]{3,}")


def _humps(word: str) -> list[str]:
    if word.islower() or word.isupper() or word[1:].islower():
        return []
    cuts = [0, *(at for at in range(1, len(word)) if _starts_hump(word, at)), len(word)]
    return [word[start:end] for start, end in pairwise(cuts)]


def _starts_hump(word: str, at: int) -> bool:
    if not word[at].isupper():
        return False
    after = word[at + 1 : at + 2]
    plural = after == "s" and at + 2 == len(word)  # as in PDFs
    return _is_small(word[at - 1]) or (_is_small(after) and not plural)


def _is_small(letter: str) -> bool:
    return letter != letter.upper()


def _whole(term: str, parts: Iterable[_Token], stems: tuple[str, ...] | None = None) -> _Token:
    """A name as a term of its own, and what its parts give, for less."""
    term = term[:TERM_LENGTH]
    found, query = [term], [QueryTerm(term, WHOLE)]
    for part in parts:
        found += part.terms
        query += [replace(each, weight=PART * each.weight) for each in part.query]
    return _Token(tuple(dict.fromkeys(found)), tuple(query), (term,) if stems is None else stems)


# Rules for tokens that are not one word. Each returns nothing when it does not apply.


def _number(token: str) -> _Token | None:
    """`1,200` is 1200; `2.5.1` is 2.5 too; `2026-05-03` is 2026, 05 and 03 too."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        return None
    digits = match["digits"]
    if _THOUSANDS.fullmatch(digits):
        return _word(digits.replace(",", ""))
    pieces = re.split(r"[^\d]", digits)
    whole = digits.replace(",", ".")
    extra = [token.casefold()] if match["v"] else []
    if len(pieces) > 2:
        extra.append(digits[: len(pieces[0]) + 1 + len(pieces[1])])
    if whole != ".".join(pieces) or "," in digits:
        extra += pieces
    elif _GROUPED.fullmatch(digits):
        extra.append(digits.replace(".", ""))
    if not extra:
        return _Token((whole,), (QueryTerm(whole, 1.0),), (whole,))
    return _whole(whole, [_Token((part,), (QueryTerm(part, 1.0),)) for part in extra])


_NUMBER = re.compile(r"(?P<v>[vV]?)(?P<digits>[0-9]+(?:[.,:/-][0-9]+)*)")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")


def _moment(token: str) -> _Token | None:
    """A date with a time is a date, and the time beside it."""
    match = _MOMENT.fullmatch(token)
    if match is None:
        return None
    date, time = map(_analyse, match.groups())
    return _Token(date.terms + time.terms, date.query + time.query, date.stems + time.stems)


_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt_]([0-9].*)")


def _started(token: str) -> _Token | None:
    """`@name`, `#tag`, `$HOME`, `.net`, `~/notes`, `/etc`, `--flag`."""
    rest = token.lstrip("@#$.~/-")
    if rest == token or not rest:
        return None
    inner = _analyse(rest)
    if token.startswith(("./", "../")):
        return inner
    return _whole(_fold(token), [inner], inner.stems)


def _path(token: str) -> _Token | None:
    """`a/b.md`, `km/h`, `name@host`, `std::vector`: the whole, its tails of a path, its parts."""
    pieces = [piece for piece in re.split(r"[/\\@:&,]+", token) if piece]
    if len(pieces) < 2:
        return None
    return _whole(_fold(token), _words_of(pieces))


def _ended(token: str) -> _Token | None:
    """`c++`, `c#`."""
    rest = token.rstrip("+#")
    return None if rest == token else _whole(_fold(token), [_analyse(rest)])


def _dotted(token: str) -> _Token | None:
    """`readme.md`, `node.js`; an abbreviation such as `U.S.A` is one word."""
    pieces = token.split(".")
    if len(pieces) < 2:
        return None
    if all(map(_is_letter, pieces)):
        return _word("".join(pieces).lower())
    return _whole(_fold(token), _words_of(pieces))


def _apostrophe(token: str) -> _Token | None:
    """`can't` is a term and a negation; `owner's` is owner; `l'heure` is heure."""
    head, mark, tail = token.rpartition("'")
    if not mark:
        return None
    folded = _fold(tail)
    if folded in _CLITICS:
        return _analyse(head)
    if folded == "t":
        negated = _fold(token)
        return _Token((negated,), (QueryTerm(negated, 1.0),), ("not",))
    if _fold(head) in _ELISIONS:
        return _analyse(tail)
    return _whole(_fold(token), _words_of(token.split("'")))


_CLITICS = _set("s m re ve ll d")
_ELISIONS = _set("c d j l m n s t qu jusqu lorsqu puisqu quoiqu un all dell nell sull")


def _joined(token: str) -> _Token | None:
    """`snake_case` and `kebab-case` are one word, and their parts; so `e-mail` is email."""
    pieces = [piece for piece in re.split("[_-]+", token) if piece]
    if len(pieces) < 2:
        return None
    words = _words_of(pieces)
    whole = stem(_fold("".join(pieces)))
    return _whole(whole, words, tuple(chain.from_iterable(word.stems for word in words)))


_RULES = (_number, _moment, _started, _path, _ended, _dotted, _apostrophe, _joined)


def _words_of(pieces: Iterable[str]) -> list[_Token]:
    """Analyse the parts of a name; single letters among them say nothing."""
    return [_analyse(piece) for piece in pieces if not _is_letter(piece)]


def _is_letter(piece: str) -> bool:
    return len(piece.casefold()) == 1 and piece.isalpha()


# Folding and stemming


def _fold(word: str) -> str:
    """Take away case and accents."""
    if word.isascii():
        return word.lower()[:TERM_LENGTH]
    letters = unicodedata.normalize("NFKD", word.casefold())
    bare = _ACCENT.sub("", letters).translate(_PLAIN_LETTER)
    return unicodedata.normalize("NFKC", bare)[:TERM_LENGTH]


_ACCENT = re.compile(f"[{_MARKS}]")
_PLAIN_LETTER = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ŀ": "l"}
)


def stem(word: str) -> str:
    """Take the usual endings off a folded word, whatever its language.

    What is left is treated as if it had stood alone, so that a word and its derivations meet
    even where what they share is no word.
    """
    if word.isascii():
        return _fixed_point(_singular(word), _shorter_latin) if word.isalpha() else word
    return _fixed_point(word, _shorter_cyrillic) if _CYRILLIC.fullmatch(word) else word


_CYRILLIC = re.compile("[а-я]+")


def _fixed_point(word: str, shorter: Callable[[str], str]) -> str:
    while len(word) > 3:
        less = shorter(word)
        if less == word or less in NEGATIONS:  # A note is no "not".
            break
        word = less
    return word


def _singular(word: str) -> str:
    plural = word.endswith(("s", "aux", "eux")) and not word.endswith(("ss", "us"))
    return word[:-1] if plural and len(word) > 3 else word


def _shorter_latin(word: str) -> str:
    if not word.endswith("eed"):
        for size in range(min(6, len(word) - 3), 1, -1):
            rest = word[:-size]
            least = _ENDINGS.get(word[-size:])
            if least and len(rest) >= least and _VOWEL.search(rest):
                return _single(rest)
    if word[-1] == "e" or (word[-1] in "aiouy" and len(word) > 4):
        return word[:-1]
    return _single(word) if len(word) > 4 else word


def _single(word: str) -> str:
    """Make the doubled consonant of `planned` a single one; not that of `class` or `call`."""
    double = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouys"
    return word[:-1] if double and (len(word) > 4 or word[-1] not in "lz") else word


_VOWEL = re.compile("[aeiouy]")
_ENDINGS = {
    **dict.fromkeys(_set("ing ed"), 3),
    **dict.fromkeys(
        # English, French, Spanish, Portuguese, German; many serve several of them.
        _set(
            "able ible ful ness ity ism ance ence ation ition ion al er en ent ant an "
            "ement ait aient ez ite ique isme euse eur "
            "amente mente acion acione icion icione cion cione ione encia ancia idad idade "
            "ismo ista ado ada ido ida ando endo iendo ar ir aba aban ante ente oso osa "
            "amento imento acao acoe icao icoe cao coe ao oe enca anca indo "
            "ung heit keit lich isch ern em itat"
        ),
        4,
    ),
    **dict.fromkeys(_set("ment ly"), 5),
}
"""Endings, folded, and how many letters must be left."""


def _shorter_cyrillic(word: str) -> str:
    for size in range(min(5, len(word) - 3), 0, -1):
        if word[-size:] in _RUSSIAN_ENDINGS:
            return word[:-size]
    return word


_RUSSIAN_ENDINGS = _set(
    # Folded as the words are: и stands for й too, е for ё.
    "а е и о у ы ь э ю я ам ем им ом ым ям ах ях их ых ая яя ое ее ие ые ую юю ью ия ию ии еи ои "
    "ыи ов ев ами ями иям иях иями ием ого его ому ему ыми ими ость ости остью ение ения ению "
    "ением ть ти ся сь ться ет ит ут ют ат ят ешь ишь ете ите ал ил ел ла ло ли ала али ало ила "
    "или ило ел ела ели ующии ющии щии нн"
)

# Words that are in so many notes that they tell none apart. Words that mean something in one of
# the languages are missing on purpose: war, hat, man, mit; car, son, pour, sur; sin, todo, sea.

STOP_WORDS = _set(
    "a am an and any are as at be because been being but by can could did do does doing for from "
    "had has have having he her hers herself him himself his how i if in into is it its itself me "
    "my myself nor no not of on or our ours ourselves she should so than that the their theirs "
    "them themselves then there these they this those to too very was we were what when where "
    "which while who whom whose why will with would you your yours yourself "
    "el la los las un una unos unas de del al y e o u que en es se por para con su sus lo le les "
    "como pero si yo tu ella ellos ellas nosotros mi mis te nos este esta estos estas ese esa esos "
    "esas eso esto ha han hay muy ya cuando donde quien cual porque tambien fue estan ser "
    "une des du et ou mais donc qui quoi dont ce cet cette ces il elle ils elles je nous vous sa "
    "ses mon ma mes ta tes notre votre nos vos leur leurs lui au aux dans avec est sont etait etre "
    "ai avait ont ne pas comme "
    "der die das den dem ein eine einen einem einer eines und oder aber dass ist sind waren wird "
    "werden wurde haben hatte ich du er sie wir ihr mein meine dein deine sein seine ihre unser "
    "mich mir dich dir sich ihm ihn uns nicht zu zum zur von vom bei auf aus fur um im als auch "
    "wie wenn weil noch nur wer "
    "os um uma uns umas da dos das na nas em pelo pela com eu ele ela eles elas voce voces meu "
    "minha seu sua seus suas isso isto esse essa aquele aquela foi estao tem muito mais mas quando "
    "onde quem qual ao aos ja nao lhe "
    "и в во на с со к у о об от из за по для что как это он она они мы вы я не а но же"
)
"""English, Spanish, French, German, Portuguese, Russian; folded."""

NEGATIONS = _set(
    "no not never none nothing nobody nor neither cannot without "
    "nunca jamas sin nada nadie ningun ninguno ninguna tampoco ni "
    "ne pas non jamais sans rien aucun aucune "
    "nicht nichts nie niemals kein keine keinen keinem keiner keines ohne weder "
    "nao sem nem nenhum nenhuma ninguem "
    "не нет ни без никогда ничего 不 没 沒"
)
"""Words that turn a statement round, in the same languages and Chinese; folded."""
