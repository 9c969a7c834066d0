"""What the tests of the indexer share: a vault that is written to, indexes, and whole processes."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from zibaldone.indexer.catalog import Catalog
from zibaldone.indexer.index import Index
from zibaldone.indexer.view import Scope
from zibaldone.vault.layout import open_layout


class Notes:
    """The vault as its owner's editor sees it, and questions about it."""

    def __init__(self, root):
        self.root = root

    def write(self, path, text, *, old=True):
        """Write a note; an old one lies long enough for its times to be trusted."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        file.write_bytes(data)
        if old:
            self.age(path)
        return file

    def age(self, path, seconds=100.5):
        """Set a file's time back."""
        moment = time.time_ns() - int(seconds * 1e9)
        os.utime(self.root / path, ns=(moment, moment), follow_symlinks=False)

    def state(self):
        """Bytes, times and modes of everything in the vault."""
        return {
            str(path.relative_to(self.root)): (
                path.read_bytes() if path.is_file() else None,
                path.lstat().st_mtime_ns,
                path.lstat().st_mode,
            )
            for path in sorted(self.root.rglob("*"))
        }


class Asker:
    """An index, and the questions that tests ask most."""

    def __init__(self, index):
        self.index = index

    def find(self, text, limit=20, **scope):
        return self.index.ask(lambda: self.index.find(text, Scope(**scope), limit))

    def paths(self, text, **scope):
        """The paths of the notes that a question finds, best first, each once."""
        return list(dict.fromkeys(hit.row.path for hit in self.find(text, **scope).hits))

    def texts(self, text, **scope):
        return [hit.text for hit in self.find(text, **scope).hits]

    def state(self):
        return self.index.ask(self.index.freshness)

    def row(self, path):
        return self.index.ask(lambda: self.index.row(path))

    def links(self, path):
        """Where a note links to, and what links to it."""
        graph = self.index.ask(self.index.graph)
        return graph.outgoing(path), graph.incoming(path)

    def everything(self, questions):
        """All that can be asked, as text, to be compared byte for byte."""

        def ask():
            rows = self.index.rows(Scope())
            graph = self.index.graph()
            shown = [
                [row.path, row.id, row.token, row.title, row.note_class, row.project, row.category,
                 row.muted, row.conflict_copy, row.problem, row.summary, row.expires, row.names]
                for row in rows
            ]  # fmt: skip
            parts = [
                (hit.row.path, hit.part, hit.passage, hit.text)
                for row in rows
                for hit in self.index.parts(row)
            ]
            links = [(row.path, graph.outgoing(row.path), graph.incoming(row.path)) for row in rows]
            found = [
                (found.notes, found.hint, hit.row.path, hit.part, hit.score, hit.text)
                for text in questions
                for found in [self.index.find(text, Scope(), 20)]
                for hit in found.hits
            ]
            return repr((shown, parts, links, found, self.index.problems()))

        return self.index.ask(ask)


@pytest.fixture
def notes(vault_dir):
    return Notes(vault_dir)


@pytest.fixture
def open_index(vault_dir):
    """Opens indexes on the vault, and closes them."""
    opened = []

    def open_one(root=vault_dir):
        index = Index(open_layout(root))
        opened.append(index)
        return Asker(index)

    yield open_one
    for index in opened:
        index.close()


@pytest.fixture
def asker(open_index):
    return open_index()


@pytest.fixture
def index_folder(vault_dir):
    """Where the files of the index are."""

    def find():
        (folder,) = open_layout(vault_dir).cache_dir.glob("index-*")
        return folder

    return find


CHILD = """
import os, sys, time
from pathlib import Path
from zibaldone.indexer import index as index_module, sync, upkeep
from zibaldone.indexer.catalog import Catalog
from zibaldone.indexer.index import Index
from zibaldone.indexer.view import Scope
from zibaldone.vault.layout import open_layout
from zibaldone.vault.store import Store

root = Path(sys.argv[1])
layout = open_layout(root)
store, index = Store(layout), Index(layout)

def paths(text):
    found = index.ask(lambda: index.find(text, Scope(), 50))
    return sorted({hit.row.path for hit in found.hits})
"""


@pytest.fixture
def start(vault_dir):
    """Starts Python processes that have an index of the vault, and ends them."""
    running = []

    def start_one(code, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD + code, str(vault_dir), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start_one
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def open_files():
    """Tells what this process has open."""

    def names():
        found = []
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found.append(str(link.readlink()))
        return sorted(found)

    return names


@pytest.fixture
def wait_for():
    """Waits until something is so."""

    def wait(condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not come about in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def catalogs(tmp_path):
    """Opens connections to one catalog."""
    opened = []

    def open_one():
        catalog = Catalog(tmp_path / "catalog.db")
        opened.append(catalog)
        return catalog

    yield open_one
    for catalog in opened:
        catalog.close()


@pytest.fixture
def catalog(catalogs):
    """A connection to it."""
    return catalogs()
