"""Are hidden states the body's own, computed once, and never those of something else?"""

from __future__ import annotations

import shutil
from collections import namedtuple
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import hidden
from litebert.tasks import layers as choice
from litebert.tasks.batches import Table
from litebert.tasks.featured import How
from litebert.tasks.hidden import MANIFEST, VECTORS, Hidden
from litebert.tasks.settings import Layers
from litebert.tasks.task import Item, Row
from litebert.train import precision
from litebert.train.precision import Chosen
from tasks.toy import Boats
from vectors.tiny import model_of, wordpiece_of

TASK, PAD = Boats(), wordpiece_of().specials.pad
FULL = precision.choose("float32", torch.device("cpu"))


def body(**more: object) -> Model:
    """Four blocks."""
    return model_of(wordpiece_of(), heads=[], **{"layers": 4, **more})


def table(*lengths: tuple[int, ...], left: bool = False, first: int = 5) -> Table:
    """Items of rows of so many tokens."""
    items = []
    for number, rows in enumerate(lengths):
        made = [Row([(first + number + place) % 30 + 5 for place in range(n)], [number % 2] * n) for n in rows]
        items.append(Item(number, tuple(made), number % 2))
    return Table(items, PAD, left=left)


def how(layers: Layers = "last", network: str = "bilstm") -> How:
    """For a head of two classes."""
    name, head = TASK.spec(body().config)
    return How(layers, network, name, head)  # type: ignore[arg-type]


def kept(folder: Path, made: Model | None = None, tables: list[Table] | None = None, asked: How | None = None,
         chosen: Chosen = FULL, **more: Any) -> tuple[Hidden, Mapping[str, Any]]:  # fmt: skip
    """The vectors, and what is told of them."""
    told: list[Mapping[str, Any]] = []
    rows = tables or [table((3,), (7,), (2, 5))]
    found = hidden.kept(made or body(), asked or how(), rows, TASK, chosen, folder, tell=told.append, **more)
    assert found is not None
    return found, told[0]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every forward pass."""
    seen: list[int] = []
    forward = Model.forward

    def counted(self: Model, ids: torch.Tensor, *given: Any, **named: Any) -> Any:
        seen.append(len(ids))
        return forward(self, ids, *given, **named)

    monkeypatch.setattr(Model, "forward", counted)
    return seen


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("layers", ["last", "concat-last-4", "embedding"])
def test_every_address_is_the_vector_of_its_token(layers: Layers, left: bool, tmp_path: Path) -> None:
    places = {"positions": "rotary", "max_positions": 0} if left else {}  # absolute ones would count the padding
    made, parts = body(**places), [table((3,), (9,), (2, 5), left=left), table((4,), (1,), first=11, left=left)]
    found, _ = kept(tmp_path, made, parts, how(layers))
    for part, addresses in zip(parts, found.tables, strict=True):
        for item, addressed in zip(part.items, addresses.items, strict=True):
            assert (item.target, item.example, item.width) == (addressed.target, addressed.example, addressed.width)
            for row, at in zip(item.rows, addressed.rows, strict=True):
                alone = made(torch.tensor([row.ids]), None, torch.tensor([row.segments])).hidden
                expected = choice.chosen(alone, layers)[0]
                torch.testing.assert_close(found.vectors[list(at.ids)].float(), expected, atol=5e-3, rtol=2e-3)
    assert found.first == 19
    assert (len(found.vectors), found.tables[1].left) == (24, left)
    micro = found.tables[0].fed(np.array([1, 0]), TASK)
    assert micro.mask is not None
    assert micro.mask[1].tolist() == ([False] * 6 + [True] * 3 if left else [True] * 3 + [False] * 6)


def test_the_mean_of_a_row_is_kept_alone_where_it_is_all_that_is_read(tmp_path: Path) -> None:
    made, part = body(), table((3,), (9,), (2, 5))
    found, told = kept(tmp_path, made, [part], how("concat-last-4", "linear"))
    assert tuple(found.vectors.shape) == (4, 4 * 16)
    assert told["bytes"] == 4 * 4 * 16 * 2 == (tmp_path / VECTORS).stat().st_size
    rows = [row for item in part.items for row in item.rows]
    for number, row in enumerate(rows):
        alone = made(torch.tensor([row.ids]), None, torch.tensor([row.segments])).hidden
        expected = choice.chosen(alone, "concat-last-4")[0].mean(dim=0)
        torch.testing.assert_close(found.vectors[number].float(), expected, atol=5e-3, rtol=2e-3)
    assert found.tables[0].tokens.tolist() == part.tokens.tolist() == [3, 9, 7]  # what is told is still of tokens


def test_they_are_computed_once(tmp_path: Path, passes: list[int]) -> None:
    first, told = kept(tmp_path)
    assert (told["computed"], told["why"]) == (True, "there are none yet")
    assert sum(passes) == 4
    again, told = kept(tmp_path)
    assert (told["computed"], sum(passes)) == (False, 4)
    assert again.vectors.equal(first.vectors)


OTHERS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "weights": ("of another model", lambda: {"made": _moved()}),
    "an activation": ("of another model", lambda: {"made": body(activation="relu")}),
    "layers": ("of another layers", lambda: {"asked": how("second-to-last")}),
    "a row": ("of another rows", lambda: {"tables": [table((3,), (7,), (2, 5), first=6)]}),
    "segments": ("of another rows", lambda: {"tables": [_other_segments()]}),
    "more rows": ("of another rows, vectors", lambda: {"tables": [table((3,), (7,), (2, 5), (1,))]}),
    "a tokenizer": ("of another tokenizer", lambda: {"tokenizer": "another"}),
    "precision": ("of another precision", lambda: {"chosen": FULL._replace(dtype=torch.bfloat16)}),
    "the mean": ("of another pooled, vectors", lambda: {"asked": how(network="linear")}),
}  # fmt: skip


def _moved() -> Model:
    made = body()
    with torch.no_grad():
        made.encoder.ffn[0].up.weight[0, 0] += 1e-3
    return made


def _other_segments() -> Table:
    items = table((3,), (7,), (2, 5)).items
    rows = (items[0].rows[0]._replace(segments=[1, 1, 1]),)
    return Table([items[0]._replace(rows=rows), *items[1:]], PAD)


@pytest.mark.parametrize(("why", "changes"), OTHERS.values(), ids=OTHERS.keys())
def test_vectors_of_anything_else_are_computed_again(
    why: str, changes: Callable[[], dict[str, Any]], tmp_path: Path
) -> None:
    kept(tmp_path / "one")
    found, told = kept(tmp_path / "one", **changes())
    assert (told["computed"], told["why"]) == (True, f"they are {why}")
    fresh, _ = kept(tmp_path / "two", **changes())
    assert found.vectors.equal(fresh.vectors)
    assert not kept(tmp_path / "one", **changes())[1]["computed"]


def test_a_dropout_that_a_frozen_body_has_no_use_for_changes_nothing(tmp_path: Path) -> None:
    kept(tmp_path)
    assert not kept(tmp_path, body(dropout=0.3, classifier_dropout=0.4))[1]["computed"]


def test_damaged_vectors_are_computed_again(tmp_path: Path) -> None:
    fresh, _ = kept(tmp_path)
    expected = fresh.vectors.clone()
    data = bytearray((tmp_path / VECTORS).read_bytes())
    data[7] ^= 1
    (tmp_path / VECTORS).write_bytes(data)
    found, told = kept(tmp_path)
    assert told["why"] == "they are damaged"
    assert found.vectors.equal(expected)
    (tmp_path / MANIFEST).write_text("{")
    assert kept(tmp_path)[1]["why"] == "their manifest is damaged"


def test_vectors_that_were_cut_off_are_not_taken_for_whole_ones(tmp_path: Path, passes: list[int]) -> None:
    kept(tmp_path)
    made = body(activation="relu")
    made.forward = lambda *given, **named: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path, made)
    assert [path.name for path in tmp_path.iterdir()] == [VECTORS]  # the old ones, of which nothing speaks
    assert kept(tmp_path)[1]["computed"]


def test_who_asks_for_the_end_gets_it_and_the_work_is_done_again(tmp_path: Path) -> None:
    calls = iter([False] * 2 + [True])
    found = hidden.kept(
        body(), how(), [table((3,), (7,), (2, 5))], TASK, FULL, tmp_path, asked_to_stop=lambda: next(calls)
    )
    assert found is None
    assert not (tmp_path / MANIFEST).exists()
    assert kept(tmp_path)[1]["computed"]


def test_many_vectors_are_mapped_and_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, _ = kept(tmp_path)
    monkeypatch.setattr(hidden, "IN_MEMORY", 0)
    monkeypatch.setattr(np, "fromfile", None)
    mapped, told = kept(tmp_path)
    assert not told["computed"]
    assert mapped.vectors.equal(small.vectors)


def test_a_disk_that_is_too_small_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 5, 5))
    with pytest.raises(UserError, match=r"hidden states of all rows take 0\.0 GB, and .* has 0\.0 left: choose fewer"):
        kept(tmp_path / "new")


def test_numbers_beyond_float16_are_an_error_and_no_infinity(tmp_path: Path) -> None:
    made = body()
    with torch.no_grad():
        made.encoder.ffn[0].norm.weight.fill_(1e6)
    with pytest.raises(UserError, match="hidden states of layers 'last' are beyond 65,504, or no numbers"):
        kept(tmp_path, made)


def test_mean_and_spread_are_those_of_all_vectors() -> None:
    vectors = torch.randn(40_000, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 30.0, 0.0])
    vectors = (vectors + torch.tensor([0.0, 200.0, 7.0])).half()
    mean, spread = hidden.standard(vectors)
    torch.testing.assert_close(mean, vectors.double().mean(dim=0).float())
    torch.testing.assert_close(spread[:2], vectors.double().std(dim=0, correction=0).float()[:2])
    assert spread[2] == 1.0  # what never differs is not blown up
