"""Is the log of a run that was killed and gone on with the log of a run that was not?"""

from __future__ import annotations

from pathlib import Path

from litebert.train import record
from litebert.train.record import Record


def written(folder: Path, steps: range, resumed: int = 0) -> None:
    """A stretch of a run."""
    log = Record(folder, resumed)
    for step in steps:
        log.write({"event": "step", "step": step, "loss": 1 / step, "seconds": step * 0.1})
    log.close()


def test_going_on_forgets_the_steps_that_will_be_run_again(tmp_path: Path) -> None:
    written(tmp_path, range(1, 8))
    written(tmp_path, range(5, 10), resumed=4)
    assert [event["step"] for event in record.read(tmp_path)] == [*range(1, 10)]


def test_beginning_anew_forgets_all(tmp_path: Path) -> None:
    written(tmp_path, range(1, 8))
    written(tmp_path, range(1, 3))
    assert [event["step"] for event in record.read(tmp_path)] == [1, 2]


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    written(tmp_path, range(1, 4))
    path = tmp_path / record.NAME
    path.write_bytes(path.read_bytes() + b'{"event": "step", "st')
    assert len(record.read(tmp_path)) == 3
    written(tmp_path, range(4, 6), resumed=3)
    assert [event["step"] for event in record.read(tmp_path)] == [1, 2, 3, 4, 5]


def test_what_a_clock_had_a_part_in_is_left_out_of_a_comparison() -> None:
    assert record.timeless({"step": 1, "seconds": 2.0, "tokens_per_s": 3.0}) == {"step": 1}
