"""How are hidden states computed once and then looked up? One file of vectors in a folder, and tables of addresses.

Every token of every row, or every row where its mean is enough, has a number: where its vector stands in the file. A
table of such numbers in the place of ids goes through batches, loop and evaluation as any other. The manifest beside
the file names all that the vectors depend on; where it names anything else, they are computed again.

Shapes: I items, N vectors, F width of a vector.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litebert import __version__, files
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import batches, featured
from litebert.tasks import layers as choice
from litebert.tasks.batches import Table
from litebert.tasks.featured import How
from litebert.tasks.task import Item, Row, Task
from litebert.train.precision import Chosen

FOLDER, VECTORS, MANIFEST = "features", "vectors.bin", "manifest.json"
IN_MEMORY = 1 << 29  # bytes; a larger file is mapped
_BYTES = 2  # of a float16
_PIECE = 1 << 14  # vectors that are averaged at a time

Tell = Callable[[Mapping[str, Any]], None]


class Hidden(NamedTuple):
    """Vectors, and the tables whose numbers are their addresses."""

    vectors: Tensor  # [N, F] float16
    tables: list[Table]
    first: int  # so many of them belong to the first table


def kept(
    body: Model, how: How, tables: Sequence[Table], task: Task, chosen: Chosen, folder: Path, *,
    tokenizer: str = "", tell: Tell = lambda event: None, asked_to_stop: Callable[[], bool] = lambda: False,
) -> Hidden | None:  # fmt: skip
    """The body's vectors for all rows of some tables: those of the folder if they fit, else computed and put there.

    None if somebody asked for the end before.
    """
    addressed, at = [], 0
    starts: list[NDArray[np.int64]] = []
    for table in tables:
        made, begins, at = _addressed(table, how.pooled, at)
        addressed.append(made)
        starts.append(begins)
    width = choice.count(how.layers, body.config.depth) * body.config.hidden
    depends = {
        "litebert": __version__, "model": digest_of(body), "tokenizer": tokenizer, "layers": how.layers,
        "pooled": how.pooled, "precision": str(chosen.dtype).removeprefix("torch."), "dtype": "float16",
        "rows": [_digest(table) for table in tables], "vectors": at, "width": width,
    }  # fmt: skip
    why = _misfit(folder, depends)
    began = time.monotonic()
    if why:
        _check_room(folder, at * width * _BYTES)
        if not _written(body, how, tables, starts, task, chosen, folder, width, asked_to_stop):
            return None
        values = {**depends, "sha256": files.digest(folder / VECTORS)}
        files.write_json(folder / MANIFEST, values)
    tell({"event": "features", "vectors": at, "width": width, "bytes": at * width * _BYTES, "computed": bool(why),
          "why": why, "seconds": round(time.monotonic() - began, 3)})  # fmt: skip
    first = int(starts[1][0]) if len(starts) > 1 else at
    return Hidden(_opened(folder / VECTORS, at, width), addressed, first)


def standard(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and spread [F] of vectors [N, F]: a head that reads them so learns at one rate whatever the layer."""
    total = torch.zeros(vectors.shape[1], dtype=torch.float64)
    squares = torch.zeros_like(total)
    for begin in range(0, len(vectors), _PIECE):
        numbers = vectors[begin : begin + _PIECE].double()
        total += numbers.sum(dim=0)
        squares += (numbers**2).sum(dim=0)
    mean = total / len(vectors)
    spread = (squares / len(vectors) - mean**2).clamp(min=0.0).sqrt()
    spread = torch.where(spread > 1e-4 * mean.abs().clamp(min=1e-4), spread, 1.0)  # what never differs tells nothing
    return mean.float(), spread.float()


def digest_of(body: Model) -> str:
    """SHA-256 of what a model's hidden states depend on: its config but for dropout, its weights but for its heads."""
    fields = {name: value for name, value in body.config.model_dump(mode="json").items() if "dropout" not in name}
    found = hashlib.sha256(json.dumps(fields, sort_keys=True).encode())
    for name, tensor in sorted(body.state_dict().items()):
        if name.startswith(("embedding.", "encoder.")):
            found.update(name.encode())
            found.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return found.hexdigest()


def _addressed(table: Table, pooled: bool, at: int) -> tuple[Table, NDArray[np.int64], int]:
    """The table with addresses from `at` on instead of ids, where each of its rows begins, and the next address."""
    begins: list[int] = []
    items: list[Item] = []
    for item in table.items:
        rows = []
        for row in item.rows:
            begins.append(at)
            at += 1 if pooled else len(row.ids)
            rows.append(Row(range(begins[-1], at), ()))
        items.append(item._replace(rows=tuple(rows)))
    made = Table(items, begins[0], segments=False, left=table.left, device=table.device)
    made.tokens = table.tokens  # what they stand for
    return made, np.array(begins), at


def forget(folder: Path) -> None:
    """Take the vectors away: they can be computed again, and are large."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _written(
    body: Model, how: How, tables: Sequence[Table], starts: Sequence[NDArray[np.int64]], task: Task, chosen: Chosen,
    folder: Path, width: int, asked_to_stop: Callable[[], bool],
) -> bool:  # fmt: skip
    """Whether all vectors are in their file; without a manifest it counts for nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # it speaks of other vectors
    with files.whole(folder / VECTORS) as temporary, temporary.open("wb") as file:
        for table, begins in zip(tables, starts, strict=True):
            for begin, vectors in _computed(body, how, table, begins, task, chosen):
                if asked_to_stop():
                    return False
                _put(file, begin * width * _BYTES, vectors)
    return True


@torch.no_grad()
def _computed(
    body: Model, how: How, table: Table, begins: NDArray[np.int64], task: Task, chosen: Chosen
) -> Iterator[tuple[int, NDArray[np.float16]]]:
    """Where a row's vectors begin, and they [its tokens or 1, F]; the longest rows first."""
    firsts = np.cumsum(table.rows) - table.rows  # [I] the first row of an item
    body.eval()
    for numbers in batches.unordered(table):
        micro = table.fed(numbers, task)
        with chosen.context():
            states = featured.read(body, how, micro.ids, micro.mask, micro.segments).cpu().numpy()
        real = None if how.pooled or micro.mask is None else micro.mask.cpu().numpy()
        rows = [row for number in numbers for row in range(firsts[number], firsts[number] + table.rows[number])]
        for place, row in enumerate(rows):
            yield int(begins[row]), states[place] if real is None else states[place][real[place]]


def _put(file: BinaryIO, place: int, vectors: NDArray[np.float16]) -> None:
    file.seek(place)
    file.write(np.ascontiguousarray(vectors).data)


def _misfit(folder: Path, depends: Mapping[str, Any]) -> str:
    """Why the folder's vectors are not those that are asked for; '' if they are."""
    path = folder / VECTORS
    if not (folder / MANIFEST).is_file() or not path.is_file():
        return "there are none yet"
    try:
        written = files.read_json(folder / MANIFEST)
    except files.FolderError:
        return "their manifest is damaged"
    other = [name for name, value in depends.items() if written.get(name) != value]
    if other:
        return f"they are of another {', '.join(other)}"
    return "" if files.digest(path) == written.get("sha256") else "they are damaged"


def _opened(path: Path, count: int, width: int) -> Tensor:
    """[count, width], in memory where they are few."""
    if count * width * _BYTES <= IN_MEMORY:
        return torch.from_numpy(np.fromfile(path, np.float16).reshape(count, width))
    return torch.from_numpy(np.memmap(path, np.float16, "c", shape=(count, width)))  # c: torch wants to write, and may


def _digest(table: Table) -> str:
    """SHA-256 of a table's rows."""
    found = hashlib.sha256()
    for item in table.items:
        for row in item.rows:
            for part in row:
                found.update(np.asarray(part, np.int32).tobytes() + b"|")
        found.update(b"/")
    return found.hexdigest()


def _check_room(folder: Path, need: int) -> None:
    above = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    free = shutil.disk_usage(above).free
    if need > free:
        raise UserError(f"hidden states of all rows take {need / 1e9:,.1f} GB, and {above} has {free / 1e9:,.1f} left: "
                        "choose fewer layers (last), shorter rows or fewer examples")  # fmt: skip
