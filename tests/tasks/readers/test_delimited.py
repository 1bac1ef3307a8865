"""Does every text come out of a table as it went in, whatever characters it holds and however the file is written?"""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from litebert.tasks.examples import Text
from litebert.tasks.readers import tables
from tasks.readers.written import table, whys, write

# all that UTF-8 can hold but NUL, which is refused, and the return, which ends a line; they have tests of their own
FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)
ROWS = st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=8)
HEADER = ("text", "b c", "label")


def read_back(path: Path, rows: list[tuple[str, str, str]], header: bool = True) -> None:
    """The rows that a file gives are these."""
    opened = tables.opened(path, header=header)
    assert opened.columns == (HEADER if header else ("1", "2", "3"))
    assert [tuple(found) for _, found in opened.rows(opened.columns)] == rows


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), st.booleans())
@example([("", "", "")], "\n", "", False)
@example([('"', '""', ',"\n",')], "\r\n", "\ufeff", True)
@example([("\u2028\x85\x0b\x1c", "\ufeff", " ")], "\n", "", False)
def test_what_python_writes_as_csv_is_read_back(rows: list, end: str, mark: str, quoted: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        writer.writerows([HEADER, *rows])
        read_back(write(Path(folder) / "a.csv", mark + out.getvalue()), rows)


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\t"), max_size=12)


@given(st.lists(st.tuples(LINE, LINE, LINE), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example([('"', 'a "b"', "'")], "\n", True)
def test_what_stands_between_tabs_is_read_as_it_is(rows: list, end: str, ended: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        content = end.join("\t".join(row) for row in [HEADER, *rows]) + (end if ended else "")
        read_back(write(Path(folder) / "a.tsv", content), rows)
        packed = gzip.compress("\n".join("\t".join(row) for row in [("x", "y", "z"), *rows]).encode())
        read_back(write(Path(folder) / "b.tsv.gz", packed), [("x", "y", "z"), *rows], header=False)


@pytest.mark.parametrize(
    "name,row", [("a.csv", '"{}",1\n'), ("a.tsv", "{}\t1\n"), ("a.jsonl", '{{"text": "{}", "label": 1}}\n')]
)
def test_a_text_of_a_million_characters_is_one_text(name: str, row: str, tmp_path: Path) -> None:
    long = "wörter, " * 125_000
    header = {"a.csv": "text,label\n", "a.tsv": "text\tlabel\n", "a.jsonl": ""}[name]
    found = table(tmp_path, name, header + row.format(long) + row.format("short"))
    assert [one.text for one in found.examples if isinstance(one, Text)] == [long, "short"]


def test_rows_across_the_blocks_of_a_file_keep_their_numbers(tmp_path: Path) -> None:
    rows = [f"text {i} {'x' * (i % 997)}\t{i % 2}" for i in range(6000)]
    content = "\n".join(["text\tlabel", *rows[:4000], "\t1", *rows[4000:]])
    assert len(content) > 2 << 20  # a block is a megabyte
    found = table(tmp_path, "a.tsv", content, bad="skip")
    assert whys(found) == ["4002: column 'text' is empty"]
    assert [one.text for one in found.examples if isinstance(one, Text)] == [row.split("\t")[0] for row in rows]
    assert [one.place.row for one in found.examples] == [*range(2, 4002), *range(4003, 6003)]


def test_quotes_in_a_table_of_tabs_are_characters(tmp_path: Path) -> None:
    found = table(tmp_path, "a.tsv", 'text\tlabel\n"never closed\t1\nhe said "no" .\t0\n')
    assert [one.text for one in found.examples if isinstance(one, Text)] == ['"never closed', 'he said "no" .']


def test_blank_lines_are_no_rows_and_count_as_lines(tmp_path: Path) -> None:
    for name, content in (("a.csv", "\n\ntext,label\n\na,1\n\n"), ("a.tsv", "\n\ntext\tlabel\n\na\t1\n\n")):
        (one,) = table(tmp_path, name, content).examples
        assert (one.place.row, one.place.file) == (5, str(tmp_path / name))


def test_a_delimiter_that_is_named_parts_columns(tmp_path: Path) -> None:
    found = table(tmp_path, "a.dat", 'text;label\n"a;b";1\n', delimiter=";")
    assert found.examples[0][:3] == ("a;b", None, "1")
    found = table(tmp_path, "a.csv", "good,1\n", header=False, columns={"text": "1", "label": "2"})
    assert found.examples[0][:3] == ("good", None, "1")


def test_a_table_may_be_read_twice(tmp_path: Path) -> None:
    for name, content in (("a.csv", "text,label\na,1\nb,0\n"), ("a.jsonl", '{"text": "a"}\n{"text": "b"}\n')):
        opened = tables.opened(write(tmp_path / name, content))
        first = list(opened.rows(["text"]))
        assert [found for _, found in first] == [["a"], ["b"]]
        assert list(opened.rows(["text"])) == first
