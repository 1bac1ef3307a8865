"""Which settings are best? All combinations of some values, each a fine-tuning of its own, in order of their medians.

Each lies in a folder named for its values (`rate=0.0001,batch=16`) and goes on where it was cut off, as any does.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litebert import files
from litebert.config import ConfigError
from litebert.errors import UserError
from litebert.tasks import prepared as preparing
from litebert.tasks import seeds as attempts
from litebert.tasks import standing
from litebert.tasks.fit import Tell
from litebert.tasks.prepared import Prepared, Shaped
from litebert.tasks.seeds import Outcome
from litebert.tasks.settings import Tuning
from litebert.tasks.trained import TASK

FILE = "sweep.json"
MOST = 200  # fine-tunings


class Point(NamedTuple):
    """One combination."""

    values: dict[str, Any]
    outcome: Outcome

    @property
    def median(self) -> float:
        """Of the measure that decides; a point without a number is the last."""
        return self.outcome.median.get(self.outcome.measure, -math.inf)


class Swept(NamedTuple):
    """All combinations that were trained, the best first."""

    folder: Path
    points: tuple[Point, ...]
    stopped: bool = False


def values(sweeps: Sequence[str]) -> dict[str, list[Any]]:
    """`["rate=1e-4,2e-4", "batch=16,32"]` as what is to be tried of each setting."""
    found: dict[str, list[Any]] = {}
    for text in sweeps:
        name, equals, listed = text.partition("=")
        if not equals or not listed:
            raise ConfigError(f"--sweep {text!r} is not of the form name=value,value: write --sweep rate=1e-4,2e-4")
        (name,) = preparing.parsed([f"{name}=0"])
        if name in found:
            raise ConfigError(f"--sweep {name} is given twice: write all its values behind one =")
        tried = [preparing.parsed([f"{name}={value}"])[name] for value in listed.split(",")]
        found[name] = list(dict.fromkeys(tried))
    return found


def points(model: Shaped, base: Tuning, tried: Mapping[str, Sequence[Any]]) -> list[tuple[dict[str, Any], Tuning]]:
    """All combinations, the last name's values changing fastest; each is checked before any is trained."""
    count = math.prod(len(one) for one in tried.values())
    if count > MOST:
        raise UserError(f"{count} combinations are more than {MOST}: try fewer values of each setting")
    made = []
    for combination in itertools.product(*tried.values()):
        chosen = dict(zip(tried, combination, strict=True))
        made.append((chosen, preparing.changed(model, base, chosen)))
    return made


def sweep(
    prepared: Prepared, folder: str | Path, tried: Mapping[str, Sequence[Any]], seeds: int = 1, *,
    tell: Tell = lambda event: None, restart: bool = False, asked_to_stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Swept:  # fmt: skip
    """Train every combination with so many seeds."""
    root, done, stopped = Path(folder), list[Point](), False
    unmixed(root)
    for chosen, settings in points(prepared.shaped, prepared.tuning, tried):
        made = prepared if settings == prepared.tuning else preparing.prepare(
            prepared.shaped, prepared.source, settings, prepared.columns, prepared.ready.device
        )  # fmt: skip
        path = root / name_of(chosen)
        tell({"event": "point", "folder": str(path), "values": chosen})
        outcome = attempts.train(
            made, path, seeds, tell=tell, restart=restart, asked_to_stop=asked_to_stop, clock=clock
        )  # fmt: skip
        done.append(Point(chosen, outcome))
        stopped = outcome.stopped
        if stopped:
            break
    swept = Swept(root, tuple(sorted(done, key=lambda point: -point.median)), stopped)
    files.write_json(root / FILE, as_values(swept))
    return swept


def unmixed(folder: Path) -> None:
    """Raise where a sweep would lie among files that are not its own."""
    if (folder / TASK).is_file():
        raise UserError(f"{folder} holds one fine-tuning, and a sweep is a folder of several: name another with --out")
    if not (folder / FILE).is_file() and not any(folder.glob(f"*=*/{TASK}")):
        standing.unmixed(folder)


def name_of(chosen: Mapping[str, Any]) -> str:
    """What the folder of a combination is called."""
    return ",".join(f"{name}={value}" for name, value in chosen.items())


def as_values(swept: Swept) -> dict[str, Any]:
    """A sweep for a program."""
    return {
        "folder": str(swept.folder), "stopped": swept.stopped,
        "points": [{"values": point.values, **attempts.as_values(point.outcome)} for point in swept.points],
    }  # fmt: skip
