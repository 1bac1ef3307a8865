"""Is every task of GLUE read as it was published, train, dev and test, whatever column a file has or lacks?"""

from __future__ import annotations

from pathlib import Path

import pytest

from litebert.tasks.examples import Text
from litebert.tasks.readers import glue
from tasks.readers.written import by, refused, whys, write


def lines(*rows: str) -> str:
    """Rows whose columns are written with bars."""
    return "".join("\t".join(row.split("|")) + "\n" for row in rows)


PARSES = "sentence1_binary_parse|sentence2_binary_parse|sentence1_parse|sentence2_parse|sentence1|sentence2"
# task -> a file with labels, a test file, made up in the published layouts; what they give: text, pair, label and id
FILES: dict[str, tuple[str, str, list[tuple], list[tuple]]] = {
    "cola": (lines("gj04|1||She left.", "b_73|0|*|Left she it."), lines("index|sentence", "0|He came."),
             [("She left.", None, "1", ""), ("Left she it.", None, "0", "")], [("He came.", None, None, "0")]),
    "sst-2": (lines("sentence|label", 'a "quiet joy |1', "dull |0"), lines("index|sentence", "0|fine "),
              [('a "quiet joy ', None, "1", ""), ("dull ", None, "0", "")], [("fine ", None, None, "0")]),
    "mrpc": ("\ufeff" + lines("Quality|#1 ID|#2 ID|#1 String|#2 String", '1|7|8|He said " no .|" No , he said .'),
             "\ufeff" + lines("index|#1 ID|#2 ID|#1 String|#2 String", "0|1|2|A .|B ."),
             [('He said " no .', '" No , he said .', "1", "")], [("A .", "B .", None, "0")]),
    "sts-b": (lines("index|genre|filename|year|old_index|source1|source2|sentence1|sentence2|score",
                    "4|main|MSRvid|2012|1|none|none|A dog.|A cat.|2.600"),
              lines("index|genre|filename|year|old_index|source1|source2|sentence1|sentence2",
                    "0|main|MSRvid|2012|1|none|none|One.|Two."),
              [("A dog.", "A cat.", 2.6, "4")], [("One.", "Two.", None, "0")]),
    "qqp": (lines("id|qid1|qid2|question1|question2|is_duplicate", "133|5|6|How?|Why?|0"),
            lines("id|question1|question2", "0|Who?|What?"),
            [("How?", "Why?", "0", "133")], [("Who?", "What?", None, "0")]),
    "mnli": (lines(f"index|promptID|pairID|genre|{PARSES}|label1|label2|label3|label4|label5|gold_label",
                   "0|63|63n|fiction|( a )|( b )|(A)|(B)|A man.|Someone.|neutral|entailment|neutral|x|x|neutral"),
             lines(f"index|promptID|pairID|genre|{PARSES}", "9|1|1|fiction|( a )|( b )|(A)|(B)|One.|Two."),
             [("A man.", "Someone.", "neutral", "0")], [("One.", "Two.", None, "9")]),
    "qnli": (lines("index|question|sentence|label", "0|Where?|Here it is.|entailment", "1|Who?|There.|not_entailment"),
             lines("index|question|sentence", "0|What?|That."),
             [("Where?", "Here it is.", "entailment", "0"), ("Who?", "There.", "not_entailment", "1")],
             [("What?", "That.", None, "0")]),
    "rte": (lines("index|sentence1|sentence2|label", "0|It rains.|It is wet.|entailment"),
            lines("index|sentence1|sentence2", "0|A.|B."),
            [("It rains.", "It is wet.", "entailment", "0")], [("A.", "B.", None, "0")]),
    "wnli": (lines("index|sentence1|sentence2|label", "0|The box holds it.|The box is big.|1"),
             lines("index|sentence1|sentence2", "0|A.|B."),
             [("The box holds it.", "The box is big.", "1", "0")], [("A.", "B.", None, "0")]),
}  # fmt: skip


@pytest.mark.parametrize("task", FILES)
def test_a_task_is_read_in_its_published_layout(task: str, tmp_path: Path) -> None:
    known, test, examples, asked = FILES[task]
    found = by(glue.read, write(tmp_path / "train.tsv", known), task=task)
    assert [tuple(one)[:4] for one in found.examples] == examples
    assert {one.label for one in found.examples if isinstance(one, Text)} <= {*glue.LABELS[task], 2.6}
    path = write(tmp_path / "test.tsv", test)
    assert [tuple(one)[:4] for one in by(glue.read, path, task=task, labelled=False).examples] == asked
    assert "test.tsv has no column" in refused(by, glue.read, path, task=task)


def test_the_diagnostics_are_asked_without_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "diagnostic.tsv", lines("index|sentence1|sentence2", "0|The cat sat.|It did not."))
    assert by(glue.read, path, task="ax", labelled=False).examples[0][:4] == ("The cat sat.", "It did not.", None, "0")


def test_the_training_files_of_mnli_have_fewer_columns_than_its_development_files(tmp_path: Path) -> None:
    header = f"index|promptID|pairID|genre|{PARSES}|label1|gold_label"
    row = "0|1|1n|slate|( a )|( b )|(A)|(B)|One.|Two.|neutral|contradiction"
    path = write(tmp_path / "train.tsv", lines(header, row))
    assert by(glue.read, path, task="mnli").examples[0][:4] == ("One.", "Two.", "contradiction", "0")


def test_rows_that_annotators_left_open_or_that_are_cut_off_are_counted(tmp_path: Path) -> None:
    header = "id|qid1|qid2|question1|question2|is_duplicate"
    path = write(
        tmp_path / "train.tsv", lines(header, "1|1|2|How?|Why?|1", "2|3|4|Who", "3|1|2|How?||0", "4|5|6|A?|B?|0")
    )
    found = by(glue.read, path, task="qqp", bad="skip")
    assert [one[3] for one in found.examples] == ["1", "4"]
    assert whys(found) == ["3: the row has 4 columns, the first one 6 (are its fields held together by quotes?)",
                           "4: column 'question2' is empty"]  # fmt: skip


def test_scores_that_are_missing_are_left_out_and_counted(tmp_path: Path) -> None:
    known = FILES["sts-b"][0] + lines("5|main|x|2012|1|none|none|C.|D.|", "6|main|x|2012|1|none|none|E.|F.|nan")
    found = by(glue.read, write(tmp_path / "train.tsv", known), task="sts-b", bad="skip")
    assert len(found.examples) == 1
    assert whys(found) == ["3: column 'score' is empty", "4: column 'score' nan is not a number"]


@pytest.mark.parametrize("task,of", [("cola", "sst-2"), ("sst-2", "cola"), ("rte", "wnli"), ("wnli", "rte"),
                                     ("mrpc", "qqp"), ("qnli", "rte"), ("sts-b", "rte")])  # fmt: skip
def test_the_files_of_another_task_are_not_taken_for_its_own(task: str, of: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", FILES[of][0])
    assert "train.tsv" in refused(by, glue.read, path, task=task)


def test_a_table_of_ones_own_is_not_called_a_test_file(tmp_path: Path) -> None:
    path = write(tmp_path / "own.csv", "text,label\nfine,1\n")
    said = refused(by, glue.read, path, task="sst-2")
    assert "test file" not in said
    assert "say classify instead for a table of your own" in said


def test_a_task_that_is_none_is_named() -> None:
    assert refused(by, glue.read, Path("x"), task="sst2") == "unknown GLUE task 'sst2': did you mean 'sst-2'?"
