"""Do all processes together get the batches that one gets, and does a position lead back to the same place?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from litebert.data import stream
from litebert.data.batch import Tensors
from litebert.errors import UserError
from litebert.train import feeding
from litebert.train.distributed import World
from litebert.train.loop import Portion
from litebert.train.recipe import Phase, Run
from train.tiny import HELD_OUT, TEXT, WORDS, run_of

BY = [
    pytest.param([], id="rows"),
    pytest.param(["training.micro=4"], id="rows in pieces"),
    pytest.param(["training.batch=0", "training.tokens=768", "training.micro=3"], id="tokens"),
]


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few batches are made beforehand, not hundreds of these small ones."""
    monkeypatch.setattr(stream, "AT_ONCE", 4096)


def fed(
    run: Run, count: int, world: World = World(), position: tuple[int, ...] = feeding.START,
    share: Callable[[], float] = lambda: 0.0,
) -> list[Portion]:  # fmt: skip
    """The first portions from a position on."""
    running = feeding.portions(run, TEXT, WORDS, world, position, share)
    found = list(itertools.islice(running, count))
    running.close()  # type: ignore[attr-defined]  # a generator: its thread ends
    return found


def rows(portion: Portion) -> list[dict[str, Any]]:
    """Every row of a portion by field, whatever micro-batch it came in."""
    found = []
    for micro in portion.micros:
        for i in range(len(micro.ids)):
            found.append({name: part[i] if isinstance(part, Tensor) else part
                          for name, part in zip(Tensors._fields, micro, strict=True)})  # fmt: skip
    return found


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether all rows are equal, to the bit."""

    def equal(a: object, b: object) -> bool:
        return torch.equal(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else a == b

    return len(one) == len(other) and all(
        equal(a[name], b[name]) for a, b in zip(one, other, strict=True) for name in Tensors._fields
    )


def worlds(size: int) -> Iterator[World]:
    """Every process of a world."""
    return (World(rank, size) for rank in range(size))


@pytest.mark.parametrize("changes", BY)
@pytest.mark.parametrize("size", [2, 4])
def test_processes_together_are_fed_what_one_is_fed(changes: list[str], size: int) -> None:
    run = run_of(*changes)
    alone = fed(run, 30)
    assert alone[-1].position[1] >= 1, "an epoch's border is to be crossed"
    parts = [fed(run, 30, world) for world in worlds(size)]
    for step, whole in enumerate(alone):
        shares = [part[step] for part in parts]
        assert same([row for share in shares for row in rows(share)], rows(whole))
        assert {share.position for share in shares} == {whole.position}
        assert sum(share.tokens for share in shares) == whole.tokens > 0


@pytest.mark.parametrize("changes", BY)
def test_a_position_leads_back_whatever_the_number_of_processes_was(changes: list[str]) -> None:
    run = run_of(*changes)
    alone = fed(run, 12)
    for stop in (0, 5, 10):
        for size in (1, 2):
            later = [fed(run, 1, world, alone[stop].position)[0] for world in worlds(size)]
            assert same([row for part in later for row in rows(part)], rows(alone[stop + 1]))


def test_pieces_are_the_rows_in_order_and_the_last_may_be_shorter() -> None:
    whole, cut = fed(run_of(), 1)[0], fed(run_of("training.micro=5"), 1)[0]
    assert [len(micro.ids) for micro in whole.micros] == [12]
    assert [len(micro.ids) for micro in cut.micros] == [5, 5, 2]
    assert same(rows(whole), rows(cut))
    assert whole.tokens == int(sum(int(row["mask"].sum()) for row in rows(whole)))


def test_a_portion_is_named_by_its_examples() -> None:
    few, many = fed(run_of("training.batch=4"), 1)[0], fed(run_of(), 1)[0]
    examples = [int(row["examples"]) for row in rows(few)]
    assert few.name == f"examples {', '.join(map(str, examples))}"
    assert many.name.endswith(" …")


def phased(*changes: str) -> Run:
    """Three quarters at 24, the rest at 48."""
    return run_of(*changes, phase=[{"share": 0.75, "length": 24}, {"share": 0.25, "length": 48}])


def test_phases_change_where_the_run_is_so_far_and_resume_in_either() -> None:
    run, done = phased(), [0.0]
    found = []
    for step, portion in enumerate(feeding.portions(run, TEXT, WORDS, World(), feeding.START, lambda: done[0])):
        found.append(portion)
        done[0] = (step + 1) / 20
        if step == 19:
            break
    assert [portion.position[0] for portion in found] == [0] * 15 + [1] * 5
    assert {micro.ids.shape[0] for portion in found[:15] for micro in portion.micros} == {24}
    assert {micro.ids.shape[0] for portion in found[15:] for micro in portion.micros} == {12}
    assert max(micro.ids.shape[1] for portion in found[:15] for micro in portion.micros) <= 24
    assert max(micro.ids.shape[1] for portion in found[15:] for micro in portion.micros) > 24
    for stop in (3, 13, 14, 17):
        later = fed(run, 1, position=found[stop].position, share=lambda at=stop: (at + 1) / 20)  # type: ignore[misc]
        assert same(rows(later[0]), rows(found[stop + 1]))
        assert later[0].position == found[stop + 1].position


@pytest.mark.parametrize(
    "changes, phase, wanted",
    [
        ([], Phase(share=1.0, length=48), 12),
        ([], Phase(share=1.0, length=96), 6),
        ([], Phase(share=1.0, length=24), 24),
        ([], Phase(share=1.0, length=24, batch=7), 7),
        (["training.batch=0", "training.tokens=1000"], Phase(share=1.0, length=48), 16),
    ],
)
def test_a_step_keeps_its_tokens_when_rows_are_longer(changes: list[str], phase: Phase, wanted: int) -> None:
    assert feeding.rows_of(run_of(*changes), phase) == wanted


def test_less_than_a_row_is_refused_and_so_is_a_batch_that_processes_cannot_share() -> None:
    with pytest.raises(UserError, match=r"batch 1 at length 48 is not one row at 512: set training.batch higher"):
        feeding.rows_of(run_of("training.batch=1"), Phase(share=1.0, length=512))
    with pytest.raises(UserError, match="batch 12 is not divisible by 5 ranks: choose 10 or 15"):
        fed(run_of(), 1, World(0, 5))


@pytest.mark.parametrize("size", [2, 4])
def test_the_held_out_rows_are_the_same_every_time_and_for_any_number_of_processes(size: int) -> None:
    run = run_of()
    alone = feeding.held_out(run, HELD_OUT, WORDS, World())
    again = feeding.held_out(run, HELD_OUT, WORDS, World())
    assert sum(len(rows(portion)) for portion in alone) == 24
    parts = [feeding.held_out(run, HELD_OUT, WORDS, world) for world in worlds(size)]
    for step, whole in enumerate(alone):
        assert same(rows(whole), rows(again[step]))
        assert same([row for part in parts for row in rows(part[step])], rows(whole))


def test_held_out_text_that_is_short_is_read_once_about() -> None:
    run = run_of("training.evaluation_rows=10_000", "training.batch=8")
    found = [int(row["examples"]) for portion in feeding.held_out(run, HELD_OUT, WORDS, World())
             for row in rows(portion)]  # fmt: skip
    count = feeding.stream_of(run, run.stretches()[-1], HELD_OUT, WORDS, World()).count(0)
    assert len(found) == count // 8 * 8
    assert len(set(found)) == len(found)
