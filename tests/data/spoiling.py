"""How is what an audit looks at spoilt? By a masker or a packer that does one thing wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from data.texts import shards, vocabulary
from litebert.data import masking, segments
from litebert.data.audit import Audit, audit
from litebert.data.packing import Plan
from litebert.data.recipe import recipe
from litebert.data.rows import Batch, Rows

TEXT, WORDS = shards(2500, seed=1, most=25, per_shard=500), vocabulary()
CORRUPT, LAY = masking.corrupt, segments.rows


def look(name: str = "albert", rows: int = 3000, **changes: Any) -> Audit:
    """An audit of a recipe at length 64."""
    return audit(TEXT, recipe(name, length=64, **changes), WORDS, rows=rows)


def off(found: Audit) -> set[str]:
    """The names of what is off."""
    return {measure.name.split(" (")[0] for measure in found.off}


def masked_by(monkeypatch: pytest.MonkeyPatch, spoil: Callable[..., Batch], name: str = "albert") -> set[str]:
    """What is off when the masker is spoilt: `spoil(batch, rows, draw)` changes each batch."""

    def broken(rows: Rows, *given: Any, **more: Any) -> Batch:
        batch = CORRUPT(rows, *given, **more)
        batch = batch._replace(**{k: v.copy() for k, v in batch._asdict().items() if isinstance(v, np.ndarray)})
        return spoil(batch, rows, np.random.default_rng(int(rows.examples[0])))

    monkeypatch.setattr(masking, "corrupt", broken)
    return off(look(name))


def laid_by(monkeypatch: pytest.MonkeyPatch, spoil: Callable[..., Rows], name: str = "albert") -> set[str]:
    """What is off when the rows are spoilt before anything is hidden."""

    def broken(made: Plan, which: np.ndarray, *given: Any) -> Rows:
        rows = LAY(made, which, *given)
        return spoil(Rows._make(part.copy() for part in rows), made)

    monkeypatch.setattr(segments, "rows", broken)
    return off(look(name))
