"""Does a packed file come out whole, from any place on, or say where it broke?"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest

from litebert.errors import UserError
from litebert.text.items import Problem
from litebert.text.sources import sources
from litebert.text.unpack import opened
from text.readings import assert_resumes, problems, read, texts

DRAW = random.Random(0)
TEXT = "\n\n".join(f"Document {i} holds {DRAW.getrandbits(400):x}." for i in range(300))


def packed(data: bytes, packing: str) -> bytes:
    if packing == "gzip":
        return gzip.compress(data, mtime=0)
    if packing == "zstd":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return bytes(sink.getvalue())
    return data


SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "none": ""}


@pytest.fixture(params=["gzip", "zstd"])
def packing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(tmp_path: Path, packing: str) -> Path:
    """A packed file of text."""
    path = tmp_path / f"a.txt{SUFFIXES[packing]}"
    path.write_bytes(packed(TEXT.encode(), packing))
    return path


def test_a_packed_text_is_the_text(file: Path) -> None:
    assert texts(file) == TEXT.split("\n\n")


def test_members_one_after_another_are_one_text(file: Path, packing: str) -> None:
    file.write_bytes(packed(b"one\n", packing) + packed(b"more\n", packing) + packed(b"\ntwo", packing))
    assert texts(file) == ["one\nmore", "two"]


def test_reading_goes_on_from_every_mark(file: Path, packing: str) -> None:
    file.write_bytes(packed(TEXT[:2000].encode(), packing))
    assert assert_resumes(file) > 10


@pytest.mark.parametrize("packing", SUFFIXES)
@pytest.mark.parametrize("at", [0, 1, 12345, len(TEXT)])
def test_a_stream_begins_at_any_byte_and_knows_where_it_is(tmp_path: Path, packing: str, at: int) -> None:
    path = tmp_path / f"a.txt{SUFFIXES[packing]}"
    path.write_bytes(packed(TEXT.encode(), packing))
    [source] = sources([path])
    with opened(source, at) as stream:
        assert stream.at == at
        assert stream.read() == TEXT.encode()[at : at + (1 << 20)]
        assert stream.at == len(TEXT)
        assert stream.read() == b""


def test_a_stream_that_is_cut_off_anywhere_is_an_error_never_an_end(file: Path) -> None:
    data = file.read_bytes()
    for end in [*range(1, 30), *range(30, len(data) - 30, 997), *range(len(data) - 30, len(data))]:
        file.write_bytes(data[:end])
        with pytest.raises(
            UserError, match=r"a\.txt\.\w+ is cut off or damaged: its \w+ stream breaks after [\d,]+ bytes of text"
        ):
            read(file)


def test_what_was_whole_before_the_break_is_handed_on_and_the_place_is_said(file: Path, packing: str) -> None:
    first = b"Some words.\n" * 200_000
    file.write_bytes(packed(first, packing) + packed(TEXT.encode(), packing)[:-9])
    [source] = sources([file])
    with opened(source) as stream, pytest.raises(UserError, match=r"breaks after (2,[\d,]+|1,[\d,]+) bytes of text"):
        sum(map(len, iter(stream.read, b"")))
    assert 1 << 20 <= stream.at <= len(first) + len(TEXT)


def test_damage_and_what_was_never_packed_are_errors(file: Path, packing: str) -> None:
    for data in (b"plain text, not packed at all", file.read_bytes() + b"something else"):
        file.write_bytes(data)
        with pytest.raises(UserError, match=r"cut off or damaged: its \w+ stream breaks after .*: copy it again, or"):
            read(file)
    if packing == "gzip":  # which always holds a checksum
        data = bytearray(gzip.compress(TEXT.encode()))
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        with pytest.raises(UserError, match="is cut off or damaged"):
            read(file)


def test_an_empty_file_and_an_empty_text_are_counted(file: Path, packing: str) -> None:
    for data, detail in ((b"", "0 bytes"), (packed(b"", packing), "it has no text")):
        file.write_bytes(data)
        assert [item for item, _ in read(file)] == [Problem("empty file", str(file), 0, detail)]
    assert problems(file) == [("empty file", 0, 1)]


def test_a_build_of_pyarrow_without_the_codec_is_told_what_to_do(
    file: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pa, "Codec", type("None", (), {"is_available": staticmethod(lambda name: False)}))
    with pytest.raises(UserError, match=rf"is packed by {packing}, which this build of pyarrow cannot unpack: install"):
        read(file)


def test_a_file_that_cannot_be_read_on_is_named_with_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    [source] = sources([path])
    with opened(source) as stream:

        class Broken:
            def read(self, size: int, /) -> bytes:
                raise OSError(5, "Input/output error")

        monkeypatch.setattr(stream, "_file", Broken())
        with pytest.raises(UserError, match=r"a\.txt \(from byte 0 on\) cannot be read \(input/output error\)"):
            stream.read()
    path.unlink()
    with pytest.raises(UserError, match=r"a\.txt cannot be read \(no such file"), opened(source):
        pass
