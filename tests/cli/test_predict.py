"""Does `litebert predict` answer every row of any input once, in order, in whole lines, and say what it leaves out?"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from cli.running import litebert, refused
from tasks.finished import folder
from tasks.test_predict import sentences

TEXTS = ["the old boat", "x", "the sea and the wind, cold", "under water"]
KINDS = ("classify", "multilabel", "regress", "tag", "span", "choice")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fine-tuning of each kind."""
    root = tmp_path_factory.mktemp("runs")
    for kind in KINDS:
        folder(kind, root / kind)
    return root


def written(path: Path, name: str) -> Path:
    """The texts, in the form that the name says."""
    file = path / name
    match file.suffix:
        case ".txt":
            file.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
        case ".jsonl":
            file.write_text(
                "".join(json.dumps({"text": text, "label": 3.5}) + "\n" for text in TEXTS), encoding="utf-8"
            )
        case ".csv":
            text = io.StringIO()
            csv.writer(text).writerows([["id", "review"], *([i, one] for i, one in enumerate(TEXTS))])
            file.write_text("\ufeff" + text.getvalue(), encoding="utf-8")
        case ".tsv":
            file.write_text("sentence\tlabel\n" + "".join(f"{one}\tno such label\n" for one in TEXTS), encoding="utf-8")
        case _:
            parquet.write_table(pa.table({"text": TEXTS, "label": [None] * len(TEXTS)}), file)
    return file


def lines(path: Path) -> list[dict[str, Any]]:
    """The answers of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl", "in.csv", "in.tsv", "in.parquet"])
def test_every_form_of_input_gives_the_same_answers(name: str, runs: Path, tmp_path: Path) -> None:
    """Labels that the model does not know, a byte order mark, numbers of rows that count a header or do not."""
    source, out = written(tmp_path, name), tmp_path / "out.jsonl"
    done = litebert("predict", runs / "classify", "--input", source, "--output", out, "--text", "review") if (
        name == "in.csv") else litebert("predict", runs / "classify", "--input", source, "--output", out)  # fmt: skip
    assert done.code == 0, done.err
    assert "4 answers written" in done.out
    first = 2 if name in ("in.csv", "in.tsv") else 1
    assert [line["row"] for line in lines(out)] == [first, first + 1, first + 2, first + 3]
    whole = litebert("predict", runs / "classify", "--input", written(tmp_path, "in.txt"))
    assert [(one["prediction"], one["probability"]) for one in lines(out)] == [
        (one["prediction"], one["probability"]) for one in map(json.loads, whole.out.splitlines())
    ]


def test_a_table_with_another_delimiter_is_answered_where_it_is_named(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text;label\n" + "".join(f"{one};a\n" for one in TEXTS), encoding="utf-8")
    call = ["predict", runs / "classify", "--input", file, "--output", tmp_path / "out.jsonl"]
    assert "name the delimiter, ';'" in refused(*call)
    assert litebert(*call, "--delimiter", ";").code == 0
    assert len(lines(tmp_path / "out.jsonl")) == len(TEXTS)


def test_answers_are_not_written_over_what_is_read(runs: Path, tmp_path: Path) -> None:
    """Opened to be written it would be empty before its second row is read."""
    source = written(tmp_path, "in.jsonl")
    before = source.read_text(encoding="utf-8")
    (tmp_path / "other.jsonl").hardlink_to(source)
    for output in ("in.jsonl", "other.jsonl"):
        said = refused("predict", runs / "classify", "--input", source, "--output", tmp_path / output)
        assert "--input" in said
        assert source.read_text(encoding="utf-8") == before


def test_answers_as_a_table_are_those_of_the_lines(runs: Path, tmp_path: Path) -> None:
    source = written(tmp_path, "in.csv")
    shared = ("predict", runs / "classify", "--input", source, "--text", "review")
    plain = [json.loads(line) for line in litebert(*shared).out.splitlines()]
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        done = litebert(*shared, "--output-form", form, "--echo")
        rows = list(csv.DictReader(io.StringIO(done.out), delimiter=delimiter))
        assert [row["text"] for row in rows] == TEXTS
        assert [row["prediction"] for row in rows] == [line["prediction"] for line in plain]
        assert [float(row["probabilities.cold"]) for row in rows] == [line["probabilities"]["cold"] for line in plain]
        assert [row["id"] for row in rows] == ["0", "1", "2", "3"]


def test_a_field_with_breaks_keeps_to_its_row(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "the\told\nboat"}) + "\n", encoding="utf-8")
    done = litebert("predict", runs / "regress", "--input", tmp_path / "in.jsonl", "--output-form", "tsv", "--echo")
    assert len(done.out.splitlines()) == 2
    assert done.out.splitlines()[1].split("\t")[2] == "the old boat"


@pytest.mark.parametrize(
    ("kind", "row", "fields"),
    [
        ("multilabel", {"text": "x"}, {"prediction", "probabilities"}),
        ("tag", {"text": "the sea, x"}, {"text", "words", "prediction", "entities", "probability"}),
        ("tag", {"tokens": ["the", "sea"], "ner_tags": [0, 1]}, {"words", "entities"}),
        ("span", {"question": "where", "context": "the old boat", "answers": "gone"}, {"prediction", "start", "end"}),
        ("choice", {"context": "x", "options": ["the sea", "a boat"], "answer": "Z"}, {"prediction", "option"}),
    ],
)
def test_every_kind_is_answered_without_regard_to_its_answers(
    kind: str, row: dict[str, Any], fields: set[str], runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = litebert("predict", runs / kind, "--input", tmp_path / "in.jsonl")
    assert done.code == 0, done.err
    assert fields <= set(done.value)


def test_a_bad_row_is_refused_by_file_and_row_or_counted(runs: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "the sea"}\n{"text": ""}\n{"text": 3}\n{"text": "x"}\n', encoding="utf-8")
    done = litebert("predict", runs / "classify", "--input", source)
    assert done.code == 2
    assert f"{source}:2: column 'text' is empty" in done.err
    done = litebert("predict", runs / "classify", "--input", source, "--bad", "skip", "--output", out, "--json")
    assert done.code == 0
    assert [line["row"] for line in lines(out)] == [1, 4]
    assert (done.value["answers"], done.value["left_out"]) == (2, 2)
    assert done.err.count("left out") == 2


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("--input", "nowhere.csv"), "does not exist"),
        (("--input", "."), "is a folder"),
        (("--output", "out.xml"), "call it .jsonl, .csv or .tsv"),
        (("--output", "nowhere/out.csv", "--input", "{file}"), "name a file in a folder that is there"),
        (("--submission", "glue"), "name a folder"),
        (("--bad", "ignore"), "choose refuse, skip"),
        (("--format", "xml", "--input", "{file}"), "format 'xml'"),
        (("--task", "rte", "--text", "a", "--input", "{file}"), "a form of its own"),
        (("--task", "squad-1.1", "--input", "{file}"), "fine-tuned to classify"),
        (("--columns", "text", "--input", "{file}"), "role=column"),
        (("--input", "{file}", "--pair", "b"), "no column 'b'"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: tuple[str, ...], wrong: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, "in.jsonl")
    assert wrong in refused("predict", runs / "classify", *(one.format(file=file) for one in arguments))


def test_files_for_leaderboards_are_written(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("index\tsentence1\tsentence2\n0\tx\tthe sea\n1\ty\tboat\n", encoding="utf-8")
    done = litebert("predict", runs / "regress", "--task", "sts-b", "--input", tmp_path, "--submission", "glue",
                    "--output", tmp_path / "sent")  # fmt: skip
    assert done.code == 0, done.err
    table = (tmp_path / "sent" / "STS-B.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in table] == ["index", "0", "1"]
    questions = [{"id": f"q{i}", "question": "where", "answers": []} for i in range(3)]
    squad = {"data": [{"title": "t", "paragraphs": [{"context": "the old boat", "qas": questions}]}]}
    (tmp_path / "dev-v1.1.json").write_text(json.dumps(squad), encoding="utf-8")
    done = litebert("predict", runs / "span", "--task", "squad-1.1", "--input", tmp_path, "--part", "dev",
                    "--submission", "squad", "--output", tmp_path / "sent")  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads((tmp_path / "sent" / "predictions.json").read_text(encoding="utf-8"))
    assert set(said) == {"q0", "q1", "q2"}
    assert all(answer in "the old boat" for answer in said.values())


def started(*arguments: object, **more: Any) -> subprocess.Popen[bytes]:
    """`litebert predict` as a process of its own."""
    command = [sys.executable, "-m", "litebert", "predict", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **more)


def test_a_pipe_is_answered_while_it_is_open_and_may_be_left(runs: Path) -> None:
    """An answer that waits for more texts, a traceback when nobody reads any more."""
    process = started(runs / "classify", stdin=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.write(b"the old boat\n")
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    assert first["row"] == 1
    process.stdin.write("河 山\n".encode())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["row"] == 2
    process.stdout.close()
    process.stdin.write(b"x\n" * 10)
    process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


def test_ctrl_c_leaves_whole_lines_in_order(runs: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    texts = sentences(5000)
    source.write_text("\n".join(texts * 40) + "\n", encoding="utf-8")
    process = started(runs / "classify", "--input", source, "--output", out, "--echo", "--batch-tokens", 512)
    end = time.monotonic() + 60
    while (not out.exists() or not out.stat().st_size) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"in whole lines" in error
    assert b"Traceback" not in error
    text = out.read_text(encoding="utf-8")
    assert text.endswith("\n")
    found = [json.loads(line) for line in text.splitlines()]
    assert 0 < len(found) < 200_000
    assert [one["text"] for one in found] == (texts * 40)[: len(found)]
