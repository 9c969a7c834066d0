"""The laws of the house that a reader of the source can check: who imports, writes and prints."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
ROOMS = ("vault", "indexer", "tools", "lenses")
# The doors: they speak to the outside, so they may print and may load what they speak with.
DOORS = {
    "lenses/explore.py",
    "lenses/guard.py",
    "lenses/live.py",
    "lenses/server.py",
    "lenses/serving.py",
    "tools/__main__.py",
    "tools/audit_command.py",
    "tools/cli.py",
    "tools/commands.py",
    "tools/evaluation/command.py",
    "tools/mark_commands.py",
    "tools/mcp_server.py",
    "tools/mcp_start.py",
    "tools/owner.py",
    "tools/render.py",
    "tools/serve.py",
}
# What only costs start-up time where it is not used; `mcp` and HTTP besides belong to the doors.
HEAVY = {
    "detect_secrets",
    "mcp",
    "mcp_types",
    "networkx",
    "pydantic",
    "requests",
    "rich",
    "typer",
    "whoosh",
}
HTTP = {
    "anyio",
    "http",
    "httpx",
    "httpx2",
    "requests",
    "socket",
    "starlette",
    "urllib.request",
    "uvicorn",
}
# Where a failure of any kind has to become an answer, a rebuild or a visible state; and why.
PROCESS_EDGES = {
    "indexer/keeper.py": "the index of a server must not stand still after a failure; it is logged",
    "indexer/sync.py": "one note that fails must not hide the rest; it shows as a problem",
    "tools/mcp_server.py": "one call that fails must not end the others; it is answered and logged",
}
# The writer of notes; what the journal is written with; and what writes only into the cache.
NOTE_WRITER = "vault/store.py"
JOURNAL_WRITER = "vault/files.py"
CACHE_WRITERS = {
    "indexer/_whoosh.py",
    "indexer/catalog.py",
    "indexer/engine.py",
    "indexer/segments.py",
    "indexer/upkeep.py",
    "vault/history_db.py",
}
# What copies a vault into a folder of its own, and never writes into one.
COPIER = "tools/evaluation/suite.py"
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
DOCUMENTED = 0.85

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
# Calls that change the file system, by the last part of their name.
WRITING_NAMES = {
    "chmod",
    "copyfile",
    "ftruncate",
    "copytree",
    "create_file",
    "hardlink_to",
    "makedirs",
    "mkdir",
    "mkdtemp",
    "mkstemp",
    "removedirs",
    "rename",
    "renames",
    "rmdir",
    "rmtree",
    "symlink",
    "symlink_to",
    "truncate",
    "unlink",
    "utime",
    "write_bytes",
    "write_text",
}
OS_WRITING_NAMES = {"replace", "remove", "link"}
OTHER_WRITERS = {"shutil.copy", "shutil.copy2", "shutil.move", "os.write", "sqlite3.connect"}
TEMPORARY = {"NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryDirectory", "TemporaryFile"}


class Module:
    """One source file: where it lies, its text and its syntax tree."""

    def __init__(self, path):
        self.name = path.relative_to(REPOSITORY).as_posix()
        self.room = self.name.split("/")[0]
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    def at(self, node):
        return f"{self.name}:{node.lineno}"


def source_of(text, name="tools/example.py"):
    """A module that a test of these checks makes up."""
    module = Module.__new__(Module)
    module.name, module.room = name, name.split("/")[0]
    module.text, module.tree = text, ast.parse(text)
    return module


MODULES = [Module(p) for room in ROOMS for p in sorted((REPOSITORY / room).rglob("*.py"))]


def imports(module):
    """Every import as (node, room or None, dotted name): the room of ours, or the outside name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, None, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node, None, node.module
                for alias in node.names:
                    yield node, None, f"{node.module}.{alias.name}"
            elif node.level <= len(module.name.split("/")) - 1:
                yield node, module.room, node.module or ""
            elif node.module:
                yield node, node.module.split(".")[0], node.module
            else:
                for alias in node.names:
                    yield node, alias.name, alias.name
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            for name in node.args:
                if isinstance(name, ast.Constant):
                    yield node, None, str(name.value)


def inside_functions(tree):
    """The nodes that run only when a function is called, or never but for a type checker."""
    inner = set()
    for node in ast.walk(tree):
        lazy = isinstance(node, FUNCTION) or (
            isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        )
        if lazy:
            inner.update(ast.walk(node))
    return inner


def within(name, packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def writes(node):
    """Whether a call changes the file system."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    last = called.split(".")[-1]
    if last in {"open", "fdopen"}:
        return opens_for_writing(node, called)
    if last in OS_WRITING_NAMES:
        return called.startswith("os.") or is_path_replace(node, last)
    if last == "touch":
        return not node.args
    return last in WRITING_NAMES or last in TEMPORARY or called in OTHER_WRITERS


def is_path_replace(node, last):
    """`path.replace(target)` has one argument; that of `str` has two, and others name theirs."""
    return last == "replace" and len(node.args) == 1 and not node.keywords


def opens_for_writing(node, called):
    if called == "os.open":
        return any(flag in ast.unparse(node) for flag in ("O_WRONLY", "O_RDWR", "O_CREAT"))
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
    modes = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any(re.fullmatch(r"[rwaxbt+]{1,4}", m) and set(m) & set("wax+") for m in modes)


def writers(modules):
    return {m.name for m in modules if any(writes(node) for node in ast.walk(m.tree))}


def prints(node):
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
        return True
    return isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.__stdout__"}


def catches_everything(handler):
    """Whether a handler takes any failure and keeps it; one that raises it again only tidies up."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(t).split(".")[-1] in {"Exception", "BaseException"} for t in types)


def broad_handlers(modules):
    return [
        module.at(node)
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    ]


def test_there_is_something_to_check():
    assert {m.room for m in MODULES} == set(ROOMS)


def test_imports_go_one_way():
    wrong = [
        f"{module.at(node)} imports {room}"
        for module in MODULES
        for node, room, _ in imports(module)
        if room is not None and (room not in ROOMS or ROOMS.index(room) > ROOMS.index(module.room))
    ]
    assert wrong == []


def test_rooms_import_each_other_relatively():
    wrong = [m.at(n) for m in MODULES for n, _, name in imports(m) if within(name, {"zibaldone"})]
    assert wrong == []


def test_only_the_doors_speak_mcp_or_http():
    wrong = [
        f"{module.at(node)} imports {name}"
        for module in MODULES
        for node, room, name in imports(module)
        if room is None and module.name not in DOORS and within(name, {"mcp", "mcp_types", *HTTP})
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("package", "homes"),
    [
        ("whoosh", {"indexer/_whoosh.py", "indexer/segments.py"}),
        ("networkx", {"indexer/graph.py"}),
        ("frontmatter", {"vault/frontmatter.py"}),
        (
            "markdown_it",
            {"lenses/markup.py", "lenses/syntax.py", "vault/inline.py", "vault/markdown.py"},
        ),
        ("jinja2", {"lenses/pages.py"}),
        ("nh3", {"lenses/markup.py"}),
        ("starlette", {"lenses/guard.py", "lenses/live.py", "lenses/server.py"}),
        ("uvicorn", {"lenses/serving.py"}),
        ("watchdog", {"indexer/watcher.py"}),
        ("detect_secrets", {"tools/secrets.py"}),
    ],
)
def test_a_package_has_one_home(package, homes):
    users = {
        module.name
        for module in MODULES
        for _, room, name in imports(module)
        if room is None and within(name, {package})
    }
    assert users <= homes


def test_what_is_slow_to_load_is_loaded_where_it_is_used():
    wrong = []
    for module in MODULES:
        if module.name in DOORS:
            continue
        lazy = inside_functions(module.tree)
        wrong += [
            f"{module.at(node)} imports {name}"
            for node, room, name in imports(module)
            if room is None and node not in lazy and within(name, HEAVY)
        ]
    assert wrong == []


def test_loading_the_api_loads_nothing_slow():
    loads = "import sys, zibaldone.tools.vault; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    slow = {*HEAVY, "jinja2", "nh3", "starlette", "uvicorn", "watchdog.observers"}
    assert set(done.stdout.split()) & slow == set()


def test_one_module_writes_into_a_vault():
    assert writers(MODULES) == {NOTE_WRITER, JOURNAL_WRITER, COPIER} | CACHE_WRITERS


def test_only_journal_store_and_eraser_use_what_the_journal_is_written_with():
    users = {
        module.name
        for module in MODULES
        for _, room, name in imports(module)
        if room is not None and name.split(".")[-1] == "files"
    }
    readers = {"vault/chain.py", "vault/redaction.py"}
    # What lies beside the notes, such as the trash, is not journalled when words leave it.
    beside = {"vault/audit.py", "vault/eraser.py", "vault/stops.py"}
    assert users <= {NOTE_WRITER, "vault/journal.py", *beside, *readers}


def test_only_the_doors_print():
    wrong = [
        module.at(node)
        for module in MODULES
        if module.name not in DOORS
        for node in ast.walk(module.tree)
        if prints(node)
    ]
    assert wrong == []


def test_failures_are_caught_by_their_class():
    found = {place.split(":")[0] for place in broad_handlers(MODULES)}
    assert found == set(PROCESS_EDGES)
    assert all(PROCESS_EDGES.values())


def test_files_and_functions_stay_small():
    long_files = {m.name: n for m in MODULES if (n := len(m.text.splitlines())) > MAX_FILE_LINES}
    assert long_files == {}
    long_functions = {
        f"{module.at(node)} {node.name}": lines
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, FUNCTION)
        and (lines := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long_functions == {}


def test_every_function_says_what_it_returns():
    wrong = [
        f"{module.at(node)} {node.name}"
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, FUNCTION) and node.returns is None
    ]
    assert wrong == []


def public_definitions(module):
    """The module, and its classes, functions and methods that others may use, as (name, node)."""
    yield "module", module.tree
    queue = [(module.tree, "")]
    while queue:
        owner, prefix = queue.pop()
        for node in owner.body:
            if isinstance(node, (ast.ClassDef, *FUNCTION)) and not node.name.startswith("_"):
                yield f"{prefix}{node.name}", node
                if isinstance(node, ast.ClassDef):
                    queue.append((node, f"{prefix}{node.name}."))


def undocumented(module):
    """Public names without a docstring, and how many there are; an override inherits its own."""
    definitions = list(public_definitions(module))
    inherited = {n.split(".")[-1] for n, d in definitions if "." in n and ast.get_docstring(d)}
    bare = [
        f"{module.name} {name}"
        for name, node in definitions
        if ast.get_docstring(node) is None
        and not ("." in name and name.split(".")[-1] in inherited)
    ]
    return bare, len(definitions)


def test_what_is_public_is_documented():
    counted = [undocumented(module) for module in MODULES]
    bare = [name for names, _ in counted for name in names]
    assert len(bare) <= (1 - DOCUMENTED) * sum(total for _, total in counted), bare


def test_the_lowest_versions_are_those_of_the_package():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = (REPOSITORY / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in pins if "==" in line)
    for requirement in project["dependencies"]:
        name, bound = requirement.split(">=")
        version = pinned[name]
        assert version == bound or version.removesuffix(".0") == bound, name


# The checks themselves have to see what they look for.


@pytest.mark.parametrize(
    "call",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "p.open('x')",
        "os.open(p, os.O_WRONLY | os.O_CREAT)",
        "os.fdopen(f, 'wb')",
        "os.replace(a, b)",
        "a.replace(b)",
        "os.rename(a, b)",
        "p.unlink()",
        "p.touch()",
        "p.mkdir(parents=True)",
        "p.write_text(text)",
        "shutil.rmtree(p)",
        "shutil.move(a, b)",
        "sqlite3.connect(p)",
        "tempfile.NamedTemporaryFile()",
    ],
)
def test_a_writing_call_is_seen(call):
    assert writers([source_of(f"def f():\n    {call}\n")])


@pytest.mark.parametrize(
    "call",
    [
        "open(p)",
        "open(p, 'rb')",
        "p.open(encoding='utf-8')",
        "text.replace('w', 'a')",
        "dataclasses.replace(a, b=1)",
        "os.open(p, os.O_RDONLY)",
        "copy.copy(a)",
        "recently_used.touch(key)",
        "p.read_bytes()",
    ],
)
def test_a_reading_call_is_not(call):
    assert not writers([source_of(f"def f():\n    {call}\n")])


def test_every_form_of_import_is_seen():
    text = (
        "import a.b\nfrom c import d\nfrom . import e\nfrom .f import g\n"
        "from .. import vault\nfrom ..indexer.scan import walk\nimportlib.import_module('h')\n"
    )
    assert [(room, name) for _, room, name in imports(source_of(text))] == [
        (None, "a.b"),
        (None, "c"),
        (None, "c.d"),
        ("tools", ""),
        ("tools", "f"),
        ("vault", "vault"),
        ("indexer", "indexer.scan"),
        (None, "h"),
    ]


def test_a_room_may_have_a_folder_of_its_own():
    text = "from . import a\nfrom .. import b\nfrom ..c import d\nfrom ...vault.note import e\n"
    found = imports(source_of(text, "tools/folder/example.py"))
    assert [(room, name) for _, room, name in found] == [
        ("tools", ""),
        ("tools", ""),
        ("tools", "c"),
        ("vault", "vault.note"),
    ]


def test_every_broad_handler_is_seen():
    for caught in ("", " Exception", " (OSError, BaseException)", " builtins.Exception as e"):
        assert broad_handlers([source_of(f"try:\n    pass\nexcept{caught}:\n    pass\n")])
        assert not broad_handlers([source_of(f"try:\n    pass\nexcept{caught}:\n    raise\n")])
    assert not broad_handlers(
        [source_of("try:\n    pass\nexcept (OSError, ValueError):\n    pass\n")]
    )
