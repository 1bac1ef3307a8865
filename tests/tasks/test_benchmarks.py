"""Does a task's name find its files where they were published, and do the real ones give all the examples they have?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from litebert.presets import preset
from litebert.tasks.benchmarks import BENCHMARKS, PARTS, Part, named
from litebert.tasks.defaults import LAPTOP, changes
from litebert.tasks.examples import Choice, Question, Text, Words
from litebert.tasks.readers import clue, glue
from litebert.tasks.readers.columns import KINDS
from litebert.tasks.settings import Tuning
from tasks.readers.written import refused, write

# name, part -> examples and rows left out, of the real files
COUNTS: dict[tuple[str, Part], tuple[int, int]] = {
    ("cola", "train"): (8551, 0), ("cola", "dev"): (1043, 0),
    ("sst-2", "train"): (67349, 0), ("sst-2", "dev"): (872, 0),
    ("mrpc", "train"): (3667, 0),  # 3,668 lines with the header
    ("mrpc", "dev"): (408, 0), ("sts-b", "train"): (5749, 0), ("sts-b", "dev"): (1500, 0),
    ("squad-1.1", "dev"): (10570, 0), ("squad-2.0", "dev"): (11873, 0),
    ("race-middle", "train"): (25421, 0), ("race-middle", "dev"): (1436, 0),
    ("c3", "dev"): (3816, 0), ("c3", "test"): (3892, 0),
    ("chnsenticorp", "train"): (9600, 0), ("chnsenticorp", "dev"): (1200, 0), ("chnsenticorp", "test"): (1200, 0),
    ("sts-b-zh", "train"): (5231, 0), ("sts-b-zh", "dev"): (1458, 0), ("sts-b-zh", "test"): (1361, 0),
    ("cluener", "train"): (10748, 2), ("cluener", "dev"): (1343, 0),  # two entities lie within a longer one
    ("ocnli", "train"): (9985, 15), ("ocnli", "dev"): (2950, 50),  # rows labelled -
}  # fmt: skip


def test_every_real_file_is_found_by_its_task_and_no_other(shared_data: Path) -> None:
    found = {(one.name, part) for one in BENCHMARKS.values() for part in PARTS if one.where(shared_data, part)}
    assert found == set(COUNTS)


@pytest.mark.parametrize("name,part", COUNTS)
def test_a_real_file_gives_all_its_examples(name: str, part: Part, shared_data: Path) -> None:
    read = named(name).read(shared_data, part)
    assert (len(read.examples), len(read.left)) == COUNTS[name, part]
    if named(name).labels:
        assert {one.label for one in read.examples if isinstance(one, Text)} == set(named(name).labels)


def test_real_questions_have_their_answers_where_they_are_said_to_stand(shared_data: Path) -> None:
    old, new = (named(name).read(shared_data, "dev").examples for name in ("squad-1.1", "squad-2.0"))
    for one in [*old, *new]:
        assert isinstance(one, Question)
        assert one.answers is not None
        assert all(one.context[start : start + len(text)] == text for text, start in one.answers)
    assert sum(one.answers == () for one in old if isinstance(one, Question)) == 0
    assert sum(one.answers == () for one in new if isinstance(one, Question)) == 5945
    assert len({one.group for one in old if isinstance(one, Question)}) == 48


def test_real_passages_are_as_many_as_their_files(shared_data: Path) -> None:
    for part, passages in (("train", 6409), ("dev", 368)):
        found = named("race-middle").read(shared_data, part).examples  # type: ignore[arg-type]
        assert len({one.place.file for one in found}) == passages
        options = Counter(len(one.options) for one in found if isinstance(one, Choice))
        assert set(options) == {4}


def test_real_entities_are_spelt_by_their_characters(shared_data: Path) -> None:
    found = named("cluener").read(shared_data, "dev").examples
    begun = Counter(
        tag[2:] for one in found if isinstance(one, Words) for tag in one.tags or () if tag.startswith("B-")
    )
    assert set(begun) == set(clue.ENTITIES)
    assert sum(begun.values()) == 3072


def test_real_answers_of_the_test_of_c3_are_not_known(shared_data: Path) -> None:
    assert {one.answer for one in named("c3").read(shared_data, "test").examples if isinstance(one, Choice)} == {None}


def test_files_are_found_in_the_folder_in_its_own_and_one_below(tmp_path: Path) -> None:
    rte = named("rte")
    assert rte.where(tmp_path, "dev") == []
    below = write(tmp_path / "glue/RTE/dev.tsv", "")
    assert (
        rte.where(tmp_path, "dev") == rte.where(tmp_path / "glue", "dev") == rte.where(below.parent, "dev") == [below]
    )
    near = write(tmp_path / "rte/dev.tsv", "")
    assert rte.where(tmp_path, "dev") == [near]
    assert rte.where(tmp_path / "none", "dev") == []
    assert rte.where(near, "dev") == []


def test_a_part_in_several_files_is_read_whole_or_in_another_layout(tmp_path: Path) -> None:
    question = [[["t"], [{"question": "q", "choice": ["x", "y"], "answer": "y"}], "n"]]
    write(tmp_path / "c3-m-train.json", question)
    assert named("c3").where(tmp_path, "train") == []
    write(tmp_path / "c3-d-train.json", question)
    found = named("c3").read(tmp_path, "train").examples
    assert [one.group for one in found if isinstance(one, Choice)] == ["mixed", "dialogue"]
    write(tmp_path / "race/train/middle/1.txt", "{}")
    assert named("race").where(tmp_path, "train") == []  # without the other school it would be another task
    assert named("race-middle").where(tmp_path, "train") == [tmp_path / "race/train/middle"]


def test_the_two_development_sets_of_mnli_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "dev_matched.tsv", "index\tsentence1\tsentence2\tgold_label\n0\ta\tb\tneutral\n")
    write(tmp_path / "dev_mismatched.tsv", "index\tsentence1\tsentence2\tgold_label\n0\tc\td\tentailment\n1\te\tf\t-\n")
    assert named("mnli").read(tmp_path, "dev").examples[0][:3] == ("a", "b", "neutral")
    read = named("mnli-mm").read(tmp_path, "dev")
    assert read.examples[0][:3] == ("c", "d", "entailment")
    assert [str(one.place).rpartition("/")[2] for one in read.left] == ["dev_mismatched.tsv:3"]


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path) -> None:
    message = refused(named("rte").read, tmp_path, "dev")
    assert message == f"{tmp_path} holds no dev files of rte (it holds nothing): put dev.tsv into it"
    write(tmp_path / "b.txt", "")
    write(tmp_path / "a.tsv", "")
    assert "(it holds a.tsv, b.txt): put train.50k.json, or train.json, or " in refused(
        named("ocnli").read, tmp_path, "train"
    )
    assert "(it is a file, not a folder)" in refused(named("rte").read, tmp_path / "a.tsv", "dev")
    assert "(there is no such folder)" in refused(named("rte").read, tmp_path / "none", "dev")
    assert "put c3-m-dev.json and c3-d-dev.json, or" in refused(named("c3").read, tmp_path, "dev")
    assert refused(named("ax").read, tmp_path, "dev").endswith(": none were published")


def test_rows_of_a_test_need_no_answer_but_where_they_are_published(tmp_path: Path) -> None:
    content = "label\ttext_a\n1\t好\n\t坏\n"
    write(tmp_path / "test.tsv", content)
    assert "test.tsv:3: column 'label' is empty" in refused(named("chnsenticorp").read, tmp_path, "test")
    assert len(named("chnsenticorp").read(tmp_path, "test", labelled=False).examples) == 2
    write(tmp_path / "test.tsv", "index\tsentence1\tsentence2\n0\ta\tb\n")
    assert len(named("rte").read(tmp_path, "test").examples) == 1
    assert "has no column 'label'" in refused(named("rte").read, tmp_path, "test", labelled=True)
    assert len(named("rte").read_files([tmp_path / "test.tsv"], labelled=False).examples) == 1


def test_a_name_is_known_in_capitals_and_the_nearest_is_told() -> None:
    assert named("SST-2") is named("sst-2")
    assert refused(named, "sst2") == "unknown benchmark 'sst2': did you mean 'sst-2'?"


def test_every_task_says_what_it_is(tmp_path: Path) -> None:
    for name, one in BENCHMARKS.items():
        assert (one.name, name) == (name, name.lower())
        assert one.kind in KINDS
        assert 20 <= len(one.about) <= 100
        assert one.measures
        assert one.files
        assert one.folders
        assert all(one.wanted(part) for part in PARTS)
        assert isinstance(one.settings(preset("albert-base")), Tuning)
    assert {*glue.COLUMNS, *clue.LABELS} <= set(BENCHMARKS)


def test_every_published_setting_belongs_to_a_task() -> None:
    for name, one in BENCHMARKS.items():
        if name != "ax":  # which MNLI's model answers
            assert changes(name, one.kind, 768) != changes("", one.kind, 768) or name in (
                "ocnli",
                "afqmc",
                "tnews",
                "sts-b-zh",
            )
        assert changes(name, one.kind, LAPTOP)
