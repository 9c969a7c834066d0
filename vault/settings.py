"""The settings of a vault: `zibaldone.toml` and two environment variables.

Every default works without the file. `ZIBALDONE_STATE_DIR` takes the place of the vault's
`.zibaldone` folder; `ZIBALDONE_CACHE_DIR` takes the place of the user's cache folder, and
each vault has a folder of its own in it.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import os
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeVar, get_args

import platformdirs

from .errors import PathRefused, SettingsInvalid, reason_of
from .paths import check_component, fold_name

SETTINGS_FILE = "zibaldone.toml"
STATE_FOLDER = ".zibaldone"
STATE_VARIABLE = "ZIBALDONE_STATE_DIR"
CACHE_VARIABLE = "ZIBALDONE_CACHE_DIR"

WriteGate = Literal["similar", "always", "off"]
Watch = Literal["native", "polling", "off"]
Trust = Literal["agent", "untrusted", "read-only"]
ANY_CLIENT = "*"
"""The name that stands for every client that is not named."""

_Choice = TypeVar("_Choice", bound=str)

POLL_SECONDS = (0.05, 3600)
DAYS = (1, 3650)
TOKENS = (0, 200_000)
MAX_SETTINGS_BYTES = 64 * 1024

_NAMES = re.compile(r"[A-Za-z0-9_-]+\*?|\*")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Client:
    """What the owner thinks of one client. Without a `write_gate` that of the vault holds."""

    trust: Trust = "agent"
    write_gate: WriteGate | None = None


@dataclass(frozen=True, slots=True)
class MemoryNames:
    """Which names a program may declare: those that `allow` fits, or all, but none of `deny`.

    Both hold names, or the beginnings of names with a `*` behind; case does not matter.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def admits(self, name: str) -> bool:
        """Whether a program may declare this name."""
        return not _fits(name, self.deny) and (not self.allow or _fits(name, self.allow))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the owner may choose.

    `memory_folder` and `projects_folder` are folder names. `ignore` holds glob patterns for
    relative paths and for names of folders. `write_gate` says when a write by an agent waits
    for a verdict: on similar memories, always or never. `watch` says how a long-lived process
    hears of changes, and `poll_seconds` how often a polling one looks. `thread_days` is how long
    a thread of short-term notes is kept after the last of them, and `audit_days` how long is
    kept what agents have asked, before a sweep takes it out. `personal_tokens`, `project_tokens`
    and `work_tokens` bound the three parts of a session's start. `memory_names` says which names
    programs may declare. `clients` has what is set for single clients, by `client_key`.
    """

    memory_folder: str = "agent-memory"
    projects_folder: str = "projects"
    ignore: tuple[str, ...] = ()
    write_gate: WriteGate = "similar"
    watch: Watch = "native"
    poll_seconds: float = 1.0
    thread_days: int = 14
    audit_days: int = 90
    personal_tokens: int = 1500
    project_tokens: int = 2500
    work_tokens: int = 1000
    memory_names: MemoryNames = MemoryNames()
    clients: Mapping[str, Client] = field(default_factory=dict, hash=False)

    def client(self, name: str) -> Client:
        """What is set for a client of this name, else for any."""
        return self.clients.get(client_key(name)) or self.clients.get(ANY_CLIENT) or Client()


def client_key(name: str) -> str:
    """What the spellings of a client's name have in common: case and Unicode form do not count."""
    return unicodedata.normalize("NFC", " ".join(name.split())).casefold()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes values of known types out of a parsed settings file."""

    table: Mapping[str, object]
    path: str

    def invalid(self, problem: str) -> SettingsInvalid:
        return SettingsInvalid(self.path, problem)

    def check_keys(self, shape: type) -> None:
        known = [each.name for each in dataclasses.fields(shape)]
        for key in self.table:
            if key not in known:
                near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.0)[0]
                raise self.invalid(f"there is no setting {key!r}; the nearest is {near!r}")

    def clients(self, key: str) -> dict[str, Client]:
        tables = self.table.get(key, {})
        if not isinstance(tables, dict):
            raise self.invalid(f'{key} has to be tables, each headed [{key}."name"]')
        found: dict[str, Client] = {}
        for name, table in tables.items():
            if not isinstance(table, dict) or not client_key(name) or client_key(name) in found:
                raise self.invalid(f"{key} has to hold one table for each name, and not {name!r}")
            try:
                found[client_key(name)] = _Reader(table, self.path).client()
            except SettingsInvalid as failure:
                raise self.invalid(f'in [{key}."{name}"], {failure.problem}') from failure
        return found

    def client(self) -> Client:
        self.check_keys(Client)
        trust = self.choice("trust", "agent", get_args(Trust))
        if "write_gate" not in self.table:
            return Client(trust)
        return Client(trust, self.choice("write_gate", "similar", get_args(WriteGate)))

    def memory_names(self, key: str) -> MemoryNames:
        table = self.table.get(key, {})
        if not isinstance(table, dict):
            raise self.invalid(f"{key} has to be a table with allow and deny")
        reader = _Reader(table, self.path)
        reader.check_keys(MemoryNames)
        return MemoryNames(reader.names("allow"), reader.names("deny"))

    def names(self, key: str) -> tuple[str, ...]:
        names = self.patterns(key)
        for name in names:
            if not _NAMES.fullmatch(name):
                raise self.invalid(f"{name!r} in {key} is no name, nor the beginning of one and *")
        return names

    def folder(self, key: str, default: str) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise self.invalid(f"{key} has to be the name of a folder, in quotes")
        try:
            return check_component(value, key)
        except PathRefused as refused:
            raise self.invalid(f"{refused.value!r} is not usable: {refused.reason}") from refused

    def patterns(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.invalid(f"{key} has to be a list of patterns, each in quotes")
        patterns = tuple(unicodedata.normalize("NFC", each).strip("/") for each in value)
        if not all(pattern.strip() for pattern in patterns):
            raise self.invalid(f"{key} holds a blank pattern")
        return patterns

    def choice(self, key: str, default: _Choice, choices: tuple[_Choice, ...]) -> _Choice:
        value = self.table.get(key, default)
        for each in choices:
            if value == each:
                return each
        listed = ", ".join(f'"{each}"' for each in choices)
        raise self.invalid(f"{key} has to be one of {listed}")

    def seconds(self, key: str, default: float) -> float:
        value = self.table.get(key, default)
        shortest, longest = POLL_SECONDS
        problem = f"{key} has to be a number of seconds from {shortest} to {longest}"
        # A bool is an int to Python, and no number of seconds to anyone.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.invalid(problem)
        if not shortest <= value <= longest:
            raise self.invalid(problem)
        return float(value)

    def days(self, key: str, default: int) -> int:
        return self.whole(key, default, "days", DAYS)

    def tokens(self, key: str, default: int) -> int:
        return self.whole(key, default, "tokens", TOKENS)

    def whole(self, key: str, default: int, unit: str, bounds: tuple[int, int]) -> int:
        value = self.table.get(key, default)
        least, most = bounds
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.invalid(f"{key} has to be a number of {unit} from {least} to {most}")
        return value


def parse_settings(table: Mapping[str, object], path: str) -> Settings:
    """Return the settings in a parsed TOML table; `path` names the file in errors.

    Raises SettingsInvalid for an unknown key, a wrong type and a folder name that is unsafe.
    """
    reader = _Reader(table, path)
    reader.check_keys(Settings)
    default = Settings()
    settings = Settings(
        memory_folder=reader.folder("memory_folder", default.memory_folder),
        projects_folder=reader.folder("projects_folder", default.projects_folder),
        ignore=reader.patterns("ignore"),
        write_gate=reader.choice("write_gate", default.write_gate, get_args(WriteGate)),
        watch=reader.choice("watch", default.watch, get_args(Watch)),
        poll_seconds=reader.seconds("poll_seconds", default.poll_seconds),
        thread_days=reader.days("thread_days", default.thread_days),
        audit_days=reader.days("audit_days", default.audit_days),
        personal_tokens=reader.tokens("personal_tokens", default.personal_tokens),
        project_tokens=reader.tokens("project_tokens", default.project_tokens),
        work_tokens=reader.tokens("work_tokens", default.work_tokens),
        memory_names=reader.memory_names("memory_names"),
        clients=reader.clients("clients"),
    )
    if fold_name(settings.memory_folder) == fold_name(settings.projects_folder):
        raise reader.invalid("memory_folder and projects_folder have to differ")
    return settings


def load_settings(root: Path) -> Settings:
    """Return the settings of the vault at `root`; the defaults when it has no settings file.

    Raises SettingsInvalid when the file cannot be read or used.
    """
    path = root / SETTINGS_FILE
    if not os.path.lexists(path):
        return Settings()
    if not path.is_file():
        raise SettingsInvalid(str(path), "it is not a regular file")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
        if len(data) > MAX_SETTINGS_BYTES:
            raise SettingsInvalid(str(path), f"it is larger than {MAX_SETTINGS_BYTES} bytes")
        table = tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        raise SettingsInvalid(str(path), reason_of(error)) from error
    except UnicodeDecodeError as error:
        raise SettingsInvalid(str(path), "it is not UTF-8 text") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsInvalid(str(path), f"it is not TOML: {error}") from error
    return parse_settings(table, str(path))


def vault_key(root: Path) -> str:
    """Return the name of a vault's own folder in the cache: readable, and one per real path."""
    plain = unicodedata.normalize("NFKD", root.name).encode("ascii", "ignore").decode().lower()
    slug = _NOT_SLUG.sub("-", plain)[:40].strip("-") or "vault"
    return f"{slug}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def _from_environment(variable: str) -> Path | None:
    value = os.environ.get(variable)
    if not value:
        return None
    try:
        return Path(os.path.realpath(Path(value).expanduser()))
    except (RuntimeError, ValueError) as error:
        raise SettingsInvalid(variable, f"{value!r} names no folder") from error


def state_folder(root: Path) -> Path:
    """Return where journal, audit and trash of the vault at `root` lie. Creates nothing.

    Raises SettingsInvalid when that would be the vault itself: its notes are not its trash.
    """
    folder = _from_environment(STATE_VARIABLE) or root / STATE_FOLDER
    if folder == root:
        raise SettingsInvalid(STATE_VARIABLE, "it is the vault itself; choose a folder in it")
    return folder


def cache_folder(root: Path) -> Path:
    """Return where index, catalog and locks of the vault at `root` lie. Creates nothing.

    Raises SettingsInvalid when that would be inside the vault: what a vault carries is never
    unpickled, and an index is.
    """
    base = _from_environment(CACHE_VARIABLE)
    if base is None:
        base = platformdirs.user_cache_path("zibaldone", appauthor=False)
    folder = Path(os.path.realpath(base / vault_key(root)))
    if folder.is_relative_to(root):
        problem = f"the cache would lie in the vault, at {folder}; choose a folder outside of it"
        raise SettingsInvalid(CACHE_VARIABLE, problem)
    return folder
