import errno
import io
import os
import random
import stat
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zibaldone.indexer import _whoosh
from zibaldone.indexer.segments import (
    DamagedIndex,
    PostingCache,
    Segment,
    SegmentStamp,
    engine_stamp,
    merge_segments,
    write_segment,
)

OPEN_FILES = Path("/proc/self/fd")
SMALL = [{"tea": 1.5, "cup": 0.25}, {}, {"tea": 0.75, "茶": 2.0, "c++": 1.0}]


def single(value):
    """The float32 that is nearest."""
    return array("f", [value])[0]


def many_documents(count=3000):
    """Long lists of several blocks, short ones, alike and different impacts."""
    chance = random.Random(7)
    return [
        {
            "every": 1.0,
            "alike": 0.5,
            "varied": chance.random() * 2,
            f"rare{number}": chance.random(),
            **{f"w{chance.randrange(200)}": chance.random() for _ in range(5)},
        }
        for number in range(count)
    ]


def expected(documents):
    found = {}
    for number, impacts in enumerate(documents):
        for term, impact in impacts.items():
            found.setdefault(term, []).append((number, single(impact)))
    return found


def contents(segment):
    return {
        term.decode("utf-8", "surrogatepass"): list(zip(*postings, strict=True))
        for term, postings in segment.rows()
    }


@pytest.fixture
def written(tmp_path):
    """Writes and opens segments, and closes them."""
    opened = []

    def write(documents, **options):
        folder = tmp_path / f"segment-{len(opened)}"
        segment = Segment.open(folder, write_segment(folder, documents), **options)
        opened.append(segment)
        return segment

    yield write
    for segment in opened:
        segment.close()


class TestWhatIsWritten:
    def test_postings_come_back_with_their_impacts(self, written):
        segment = written(SMALL)
        assert segment.document_count == 3
        numbers, impacts = segment.postings("tea")
        assert (numbers.typecode, impacts.typecode) == ("I", "f")
        assert (list(numbers), list(impacts)) == ([0, 2], [1.5, 0.75])
        assert list(segment.postings("茶")[0]) == [2]
        assert segment.postings("coffee") is None

    @pytest.mark.parametrize("documents", [[], [{}], [{}, {}, {}]])
    def test_a_segment_may_be_empty(self, written, documents):
        segment = written(documents)
        assert segment.document_count == len(documents)
        assert segment.postings("tea") is None
        assert segment.terms_starting("", 10) == []
        assert contents(segment) == {}

    def test_lists_longer_than_a_block(self, written):
        documents = many_documents()
        assert contents(written(documents)) == expected(documents)

    @settings(max_examples=50)
    @given(
        st.lists(
            st.dictionaries(st.text(min_size=1), st.floats(0.125, 100, width=32), max_size=6),
            max_size=12,
        )
    )
    def test_any_documents(self, tmp_path_factory, documents):
        folder = tmp_path_factory.mktemp("any") / "segment"
        segment = Segment.open(folder, write_segment(folder, documents))
        assert contents(segment) == expected(documents)
        for term in expected(documents):
            assert list(zip(*segment.postings(term), strict=True)) == expected(documents)[term]
        segment.close()

    def test_terms_that_start_with_a_prefix(self, written):
        segment = written([{"tea": 1, "team": 1, "ten": 1, "tez": 1, "zoo": 1, "été": 1}])
        assert segment.terms_starting("te", 3) == ["tea", "team", "ten"]
        assert segment.terms_starting("tea", 10) == ["tea", "team"]
        assert segment.terms_starting("é", 10) == ["été"]
        assert segment.terms_starting("zz", 10) == []
        assert segment.terms_starting("", 2) == ["tea", "team"]

    def test_only_the_user_may_enter_the_folder(self, written):
        assert stat.S_IMODE(written(SMALL).folder.stat().st_mode) == 0o700

    def test_an_existing_folder_is_left_alone(self, tmp_path):
        (tmp_path / "here").mkdir()
        (tmp_path / "here" / "kept").write_text("x")
        with pytest.raises(FileExistsError):
            write_segment(tmp_path / "here", SMALL)
        assert (tmp_path / "here" / "kept").read_text() == "x"

    def test_a_full_disk_leaves_no_folder(self, tmp_path, monkeypatch):
        def full(postings):
            raise OSError(errno.ENOSPC, "no space left")

        monkeypatch.setattr(_whoosh, "encode", full)
        with pytest.raises(OSError, match="no space left"):
            write_segment(tmp_path / "segment", SMALL)
        assert list(tmp_path.iterdir()) == []


class TestPlainWhoosh:
    """Any Whoosh must read a segment without our code, and we what Whoosh encodes."""

    def test_its_reader_finds_the_same_postings(self, written):
        from whoosh import index

        documents = many_documents()
        folder = written(documents).folder
        reader = index.open_dir(str(folder)).reader()
        found = {}
        for field, term in reader.all_terms():
            matcher = reader.postings(field, term)
            pairs = found[term.decode()] = []
            while matcher.is_active():
                pairs.append((matcher.id(), matcher.weight()))
                matcher.next()
        assert found == expected(documents)
        assert reader.doc_count() == len(documents)
        assert reader.stored_fields(17) == {}
        info = reader.term_info("term", "varied")
        impacts = [impact for _, impact in expected(documents)["varied"]]
        assert info.doc_frequency() == len(documents)
        assert info.max_weight() == max(impacts)
        assert info.weight() == pytest.approx(sum(impacts), rel=1e-5)
        reader.close()

    def test_its_searcher_finds_the_documents(self, written):
        from whoosh import index, query

        segment = written(SMALL)
        with index.open_dir(str(segment.folder)).searcher() as searcher:
            both = query.Or([query.Term("term", "cup"), query.Term("term", "茶")])
            assert sorted(hit.docnum for hit in searcher.search(both, limit=None)) == [0, 2]

    def test_no_file_is_left_that_whoosh_does_not_need(self, written):
        endings = sorted(path.suffix for path in written(SMALL).folder.iterdir())
        assert endings == [".col", ".pst", ".toc", ".trm"]

    @pytest.mark.parametrize("weights", [[1.0] * 300, [0.5] * 300, [n / 8 for n in range(300)]])
    def test_its_posting_lists_are_decoded(self, weights):
        from whoosh.codec.whoosh3 import W3Codec, W3TermInfo
        from whoosh.filedb.structfile import StructFile
        from whoosh.formats import Existence

        file = StructFile(io.BytesIO())
        writer = W3Codec().postings_writer(file)
        writer.start_postings(Existence(), W3TermInfo())
        for number, weight in enumerate(weights):
            writer.add_posting(3 * number, weight, b"")
        writer.finish_postings()
        numbers, found = _whoosh.decode(file.file.getvalue())
        assert list(numbers) == list(range(0, 900, 3))
        assert list(found) == weights


class TestMerging:
    def test_documents_are_renumbered_and_dropped(self, written, tmp_path):
        first = written([{"a": 1, "b": 2}, {"a": 3}, {"gone": 4}])
        second = written([{"a": 5}, {"b": 6, "new": 7}])
        folder = tmp_path / "merged"
        stamp = merge_segments(folder, [(first, [3, 1, -1]), (second, [0, 2])])
        merged = Segment.open(folder, stamp)
        assert contents(merged) == {
            "a": [(0, 5.0), (1, 3.0), (3, 1.0)],
            "b": [(2, 6.0), (3, 2.0)],
            "new": [(2, 7.0)],
        }
        assert merged.document_count == 4
        merged.close()

    @settings(max_examples=40)
    @given(st.data())
    def test_merging_is_writing_the_living_documents_at_once(self, tmp_path_factory, data):
        folder = tmp_path_factory.mktemp("merge")
        terms = st.sampled_from(["a", "b", "c", "ä", "zz"])
        part = st.lists(st.dictionaries(terms, st.sampled_from([0.5, 1.0, 2.5])), max_size=5)
        parts = data.draw(st.lists(part, max_size=4))
        alive = [(at, n) for at, part in enumerate(parts) for n in range(len(part))]
        kept = data.draw(st.permutations(alive))[: data.draw(st.integers(0, len(alive)))]
        sources = []
        for at, documents in enumerate(parts):
            stamp = write_segment(folder / str(at), documents)
            new = [kept.index((at, n)) if (at, n) in kept else -1 for n in range(len(documents))]
            sources.append((Segment.open(folder / str(at), stamp), new))
        stamp = merge_segments(folder / "merged", sources)
        merged = Segment.open(folder / "merged", stamp)
        assert merged.document_count == len(kept)
        assert contents(merged) == expected([parts[at][n] for at, n in kept])
        for segment in (merged, *(source for source, _ in sources)):
            segment.close()

    @pytest.mark.parametrize("numbers", [[0, 0, 1], [0, 1], [0, 1, 2, 3]])
    def test_numbers_that_do_not_fit_are_refused(self, written, tmp_path, numbers):
        with pytest.raises(ValueError, match="number"):
            merge_segments(tmp_path / "merged", [(written(SMALL), numbers)])
        assert not (tmp_path / "merged").exists()

    def test_a_damaged_source_leaves_no_folder(self, written, tmp_path):
        segment = written(many_documents(300))
        for path in segment.folder.glob("*.pst"):
            path.write_bytes(b"")
        with pytest.raises(DamagedIndex):
            merge_segments(tmp_path / "merged", [(segment, range(300))])
        assert not (tmp_path / "merged").exists()


class TestDamage:
    @pytest.fixture
    def folder_and_stamp(self, tmp_path):
        folder = tmp_path / "segment"
        return folder, write_segment(folder, many_documents(120))

    def test_one_changed_bit_is_noticed(self, folder_and_stamp):
        folder, stamp = folder_and_stamp
        for path in folder.iterdir():
            good = path.read_bytes()
            for at in (0, len(good) // 2, len(good) - 1):
                path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
                with pytest.raises(DamagedIndex):
                    Segment.open(folder, stamp)
            path.write_bytes(good)
        Segment.open(folder, stamp).close()

    def test_a_file_missing_emptied_added_or_renamed(self, folder_and_stamp):
        folder, stamp = folder_and_stamp
        (folder / "another").write_text("x")
        with pytest.raises(DamagedIndex):
            Segment.open(folder, stamp)
        (folder / "another").unlink()
        for path in list(folder.iterdir()):
            good = path.read_bytes()
            path.write_bytes(b"")
            with pytest.raises(DamagedIndex):
                Segment.open(folder, stamp, verify=False)
            path.unlink()
            with pytest.raises(DamagedIndex):
                Segment.open(folder, stamp, verify=False)
            path.with_name("other").write_bytes(good)
            with pytest.raises(DamagedIndex):
                Segment.open(folder, stamp)
            path.with_name("other").rename(path)

    def test_no_folder_a_file_for_a_folder_or_another_segment(self, folder_and_stamp, tmp_path):
        folder, stamp = folder_and_stamp
        with pytest.raises(DamagedIndex):
            Segment.open(tmp_path / "nowhere", stamp)
        (tmp_path / "file").write_text("x")
        with pytest.raises(DamagedIndex):
            Segment.open(tmp_path / "file", stamp)
        with pytest.raises(DamagedIndex):
            Segment.open(folder, SegmentStamp(119, stamp.checksum, stamp.size))

    def test_whatever_whoosh_makes_of_damaged_bytes_is_one_error(self, folder_and_stamp):
        """Without the checksum, each reading works or raises `DamagedIndex`, never another."""
        folder, stamp = folder_and_stamp
        chance = random.Random(3)
        paths = sorted(folder.iterdir())
        good = {path: path.read_bytes() for path in paths}
        raised = 0
        for turn in range(200):
            path = paths[turn % len(paths)]
            bad = bytearray(good[path])
            for _ in range(chance.choice((1, 4, 40))):
                bad[chance.randrange(len(bad))] = chance.randrange(256)
            path.write_bytes(bad)
            raised += self._reads_or_raises(folder, stamp)
            path.write_bytes(good[path])
        assert raised > 50

    @staticmethod
    def _reads_or_raises(folder, stamp):
        try:
            segment = Segment.open(folder, stamp, verify=False)
        except DamagedIndex:
            return True
        calls = (
            lambda: segment.postings("varied"),
            lambda: segment.postings("rare17"),
            lambda: segment.terms_starting("w1", 20),
            lambda: list(segment.rows()),
        )
        raised = False
        for call in calls:
            try:
                call()
            except DamagedIndex:
                raised = True
        segment.close()
        return raised

    def test_a_document_that_is_not_there_is_damage(self, tmp_path):
        _whoosh.write_index(tmp_path, 2, [(b"tea", (array("I", [0, 2]), array("f", [1, 1])))])
        reader = _whoosh.Reader.open(tmp_path)
        with pytest.raises(ValueError, match="does not fit"):
            reader.find(b"tea")
        reader.close()

    def test_a_refusal_by_the_system_is_no_damage(self, folder_and_stamp, monkeypatch):
        def refuse(folder):
            raise OSError(errno.EMFILE, "too many open files")

        monkeypatch.setattr(_whoosh.Reader, "open", refuse)
        with pytest.raises(OSError, match="too many open files"):
            Segment.open(*folder_and_stamp)

    def test_a_bare_exception_of_whoosh_is_damage(self):
        assert _whoosh.is_damage(Exception("Block tag error"))
        assert not _whoosh.is_damage(RuntimeError())
        assert not _whoosh.is_damage(KeyboardInterrupt())


class TestIntact:
    def test_an_untouched_segment_is(self, written):
        segment = written(SMALL)
        segment.postings("tea")
        assert segment.intact()

    @pytest.mark.parametrize("ending", [".pst", ".trm", ".toc", ".col"])
    @pytest.mark.parametrize("harm", ["delete", "cut", "change", "replace"])
    def test_a_file_that_was_harmed_is_noticed(self, written, ending, harm):
        segment = written(SMALL)
        (path,) = segment.folder.glob(f"*{ending}")
        good, times = path.read_bytes(), path.stat()
        if harm == "delete":
            path.unlink()
        elif harm == "cut":
            os.truncate(path, len(good) // 2)
        elif harm == "change":
            path.write_bytes(bytes(len(good)))
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
        else:
            path.with_name("new").write_bytes(good)
            os.utime(path.with_name("new"), ns=(times.st_atime_ns, times.st_mtime_ns))
            path.with_name("new").replace(path)
        assert not segment.intact()

    def test_a_folder_that_is_gone_is_noticed(self, written):
        segment = written(SMALL)
        segment.folder.rename(segment.folder.with_name("elsewhere"))
        assert not segment.intact()


class TestStamp:
    def test_text_and_back(self, written, tmp_path):
        stamp = write_segment(tmp_path / "segment", SMALL)
        assert stamp.documents == 3
        assert SegmentStamp.parse(str(stamp)) == stamp
        assert stamp.size == sum(path.stat().st_size for path in (tmp_path / "segment").iterdir())

    @pytest.mark.parametrize("text", ["", "1 2", "1 zz 3", "1 2 3 4", "a b c"])
    def test_any_other_text_is_damage(self, text):
        with pytest.raises(DamagedIndex):
            SegmentStamp.parse(text)

    def test_the_format_is_named(self):
        assert engine_stamp().startswith("segments-")


class TestCache:
    def test_lists_used_longest_ago_are_forgotten(self, written):
        cache = PostingCache(capacity=1000)
        segment = written(many_documents(300), cache=cache)
        kept = segment.postings("every")
        for number in range(100):
            segment.postings("every")
            segment.postings(f"rare{number}")
            assert cache.size <= 1000
        assert segment.postings("every") is kept

    def test_a_list_too_large_is_still_returned(self, written):
        cache = PostingCache(capacity=100)
        segment = written(many_documents(300), cache=cache)
        assert len(segment.postings("every")[0]) == 300
        assert cache.size == 0

    def test_segments_share_one_and_leave_it_when_closed(self, written):
        cache = PostingCache()
        one, two = written(SMALL, cache=cache), written([{"tea": 9}], cache=cache)
        assert list(one.postings("tea")[1]) == [1.5, 0.75]
        assert list(two.postings("tea")[1]) == [9.0]
        assert two.postings("coffee") is None
        two.close()
        assert cache.size == 18
        one.close()
        assert cache.size == 0

    def test_a_file_is_not_read_twice_for_one_term(self, written, monkeypatch):
        segment = written(SMALL)
        found = segment.postings("tea"), segment.postings("coffee")
        monkeypatch.setattr(_whoosh.Reader, "find", None)
        assert (segment.postings("tea"), segment.postings("coffee")) == found


class TestClosing:
    def test_a_closed_segment_says_so(self, written):
        segment = written(SMALL)
        rows = segment.rows()
        next(rows)
        segment.close()
        segment.close()
        with pytest.raises(ValueError, match="closed"):
            segment.postings("tea")
        with pytest.raises(ValueError, match="closed"):
            next(rows)

    @pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="needs /proc")
    def test_no_file_stays_open(self, tmp_path):
        folder = tmp_path / "segment"
        stamp = write_segment(folder, SMALL)
        wrong = SegmentStamp(4, stamp.checksum, stamp.size)
        before = len(list(OPEN_FILES.iterdir()))
        for _ in range(20):
            Segment.open(folder, stamp).close()
            with pytest.raises(DamagedIndex):
                Segment.open(folder, wrong)
        assert len(list(OPEN_FILES.iterdir())) == before


def test_threads_read_the_right_postings(written):
    documents = many_documents(1500)
    segment = written(documents, cache=PostingCache(capacity=2000))
    right = expected(documents)
    wrong = []

    def read(seed):
        chance = random.Random(seed)
        for _ in range(150):
            term = chance.choice(("varied", "every", f"w{chance.randrange(200)}", "rare3"))
            if list(zip(*segment.postings(term), strict=True)) != right[term]:
                wrong.append(term)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        rows = dict(segment.rows())
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
    assert len(rows) == len(right)


def test_whoosh_is_imported_late_and_in_silence(tmp_path):
    """The byte code is compiled anew, so that warnings about old syntax would be printed."""
    program = (
        "import sys, pathlib; from zibaldone.indexer.segments import *; "
        "assert not any(name.startswith('whoosh') for name in sys.modules); "
        "stamp = write_segment(pathlib.Path(sys.argv[1]), [{'tea': 1.0}]); "
        "segment = Segment.open(pathlib.Path(sys.argv[1]), stamp); "
        "segment.postings('tea'); segment.close(); "
        "assert 'whoosh' in sys.modules"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "always", "-c", program, str(tmp_path / "segment")],
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "pycache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
