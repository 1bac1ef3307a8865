"""With what settings does a fine-tuning begin? What the papers published and laptop-size models want, as short diffs.

A model that is at most 512 wide is of laptop size. `settings("sst-2", "classify", config)` is what a user then changes.
"""

from __future__ import annotations

from typing import Any

from litebert.config import Config
from litebert.tasks.readers.columns import Kind
from litebert.tasks.settings import Tuning

LAPTOP = 512  # the widest hidden state of a model of laptop size

# The published sizes. First every kind of task, as BERT's authors advise (Devlin et al. 2018, appendix A.3).
_KINDS: dict[Kind, dict[str, Any]] = {
    "classify": {"rate": 2e-5},
    "regress": {"rate": 2e-5},
    "tag": {"rate": 3e-5},
    "span": {"rate": 3e-5, "length": 384, "epochs": 2.0},
    "choice": {"rate": 2e-5, "length": 512, "question": 128},
}


def _table14(
    rate: float, batch: int, dropout: float, steps: int, warmup: int, length: int = 512, **more: Any
) -> dict[str, Any]:
    return {
        "rate": rate, "batch": batch, "dropout": dropout, "attention_dropout": dropout, "head_dropout": 0.1,
        "steps": steps, "warmup": float(warmup), "length": length, **more,
    }  # fmt: skip


# ALBERT (Lan et al. 2019, table 14): rate, batch, dropout, steps, steps of warm-up.
_PUBLISHED: dict[str, dict[str, Any]] = {
    "cola": _table14(1e-5, 16, 0.0, 5336, 320),
    "sts-b": _table14(2e-5, 16, 0.0, 3598, 214),
    "sst-2": _table14(1e-5, 32, 0.0, 20935, 1256),
    "mnli": _table14(3e-5, 128, 0.0, 10000, 1000),
    "mnli-mm": _table14(3e-5, 128, 0.0, 10000, 1000),
    "qnli": _table14(1e-5, 32, 0.0, 33112, 1986),
    "qqp": _table14(5e-5, 128, 0.1, 14000, 1000),
    "rte": _table14(3e-5, 32, 0.1, 800, 200),
    "mrpc": _table14(2e-5, 32, 0.0, 800, 200),
    "wnli": _table14(2e-5, 16, 0.1, 2000, 250),
    "squad-1.1": _table14(5e-5, 48, 0.0, 3649, 365, 384),
    "squad-2.0": _table14(3e-5, 48, 0.0, 8144, 814, 512),
    "race": _table14(2e-5, 32, 0.1, 12000, 1000, question=128),  # released v2: 1e-5 and no dropout
    # a part of RACE is shorter
    "race-middle": {"rate": 2e-5, "epochs": 4.0, "dropout": 0.1, "attention_dropout": 0.1, "head_dropout": 0.1},
    "race-high": {"rate": 2e-5, "epochs": 4.0, "dropout": 0.1, "attention_dropout": 0.1, "head_dropout": 0.1},
    # first values within the ranges of BERT's advice; nobody published them for ALBERT
    "conll-2003": {"rate": 3e-5, "epochs": 4.0},
    "cmrc": {"rate": 3e-5, "length": 512, "epochs": 2.0},
    "c3": {"rate": 2e-5, "length": 512, "question": 128, "epochs": 8.0, "batch": 24},
    "chnsenticorp": {"rate": 2e-5, "length": 256},
    "cluener": {"rate": 3e-5, "length": 64, "epochs": 4.0},
    "ocnli": {"rate": 2e-5}, "cmnli": {"rate": 3e-5}, "afqmc": {"rate": 2e-5}, "tnews": {"rate": 2e-5},
    "iflytek": {"rate": 2e-5, "length": 256, "epochs": 5.0},
    "csl": {"rate": 1e-5, "length": 256}, "cluewsc": {"rate": 1e-5, "epochs": 20.0, "batch": 16},
    "sts-b-zh": {"rate": 2e-5},
}  # fmt: skip

# Laptop sizes, some 3 to 15 million parameters: higher rates, as their own pre-training has them. Those of GLUE's four
# tasks that lie at hand were chosen on their development sets (LOG.md, 2026-11-20); the rest are first values.
_LAPTOP_KINDS: dict[Kind, dict[str, Any]] = {
    "classify": {"rate": 2e-4},
    "regress": {"rate": 8e-4, "epochs": 6.0},
    "tag": {"rate": 3e-4, "epochs": 5.0},
    "span": {"rate": 2e-4, "length": 256, "epochs": 3.0},
    "choice": {"rate": 1e-4, "length": 256, "question": 64},
}
_LAPTOP: dict[str, dict[str, Any]] = {
    "sst-2": {"rate": 3e-4, "length": 64, "dropout": 0.1, "attention_dropout": 0.1, "head_dropout": 0.1},
    "cola": {"rate": 1e-4, "length": 64, "epochs": 6.0},
    "mrpc": {"rate": 1e-4, "epochs": 6.0, "batch": 16},
    "sts-b": {"rate": 8e-4, "epochs": 6.0},
    "rte": {"rate": 1e-4, "length": 256, "epochs": 8.0, "batch": 16},
    "wnli": {"rate": 1e-4, "epochs": 4.0, "batch": 16},
    "qqp": {"rate": 2e-4, "batch": 64}, "mnli": {"rate": 2e-4, "batch": 64}, "mnli-mm": {"rate": 2e-4, "batch": 64},
    "qnli": {"rate": 1e-4},
    "chnsenticorp": {"rate": 1e-4, "length": 256},
    "cluener": {"rate": 3e-4, "length": 64, "epochs": 8.0},
    "sts-b-zh": {"rate": 8e-4, "length": 64, "epochs": 6.0},
}  # fmt: skip

_FEATURES: dict[str, Any] = {
    "mode": "features", "rate": 1e-3, "epochs": 20.0, "steps": 0, "batch": 32, "warmup": 0.1, "dropout": None,
    "attention_dropout": None, "head_dropout": 0.1,
}  # fmt: skip


def settings(name: str, kind: Kind, config: Config) -> Tuning:
    """The settings to begin with for a benchmark, or ('') for a task of one's own, on a model of this shape."""
    diff = changes(name, kind, config.hidden)
    limit = config.max_positions
    if limit and diff.get("length", Tuning().length) > limit:
        quarter = limit // 4
        diff |= {"length": limit, "head": min(Tuning().head, quarter), "question": min(Tuning().question, quarter)}
    return Tuning(**diff)


def on_features(found: Tuning, config: Config) -> Tuning:
    """The same where a head alone learns: its weights are all new, and an epoch costs next to nothing."""
    layers = Tuning().layers if config.depth >= 4 else "last"
    return found.but(**_FEATURES, layers=layers)


def changes(name: str, kind: Kind, hidden: int) -> dict[str, Any]:
    """What differs from `Tuning()` for a benchmark and a hidden width; the sizes share nothing but this function."""
    kinds, named = (_LAPTOP_KINDS, _LAPTOP) if hidden <= LAPTOP else (_KINDS, _PUBLISHED)
    return {**kinds[kind], **named.get(name, {})}
