"""How fast is prediction on sentences of natural length, beside transformers' pipeline at its defaults in the same run?

Both are given one folder (random weights, as only speed is measured) and the same sentences in one order; each answers
in a process of its own. The pipeline is slow, so it is given fewer of them, drawn as evenly: rates are compared. What
both were asked is compared too, as a fast wrong answer is none.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from litebert import rng
from litebert.bench import apart
from litebert.bench.train import SIZES
from litebert.config import Config
from litebert.errors import UserError
from litebert.model.model import build
from litebert.tasks import trained
from litebert.tasks.classify import Classify
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Text, collect
from litebert.tasks.readers import glue
from litebert.tasks.settings import Tuning
from litebert.tasks.trained import Trained
from litebert.text import tokenizer as tokenizers

LABELS = ("0", "1")
LENGTH = 128
WARM = 64  # sentences that are answered before the clock starts
_SPREAD = 0.05  # of the weights: with what training begins from, all answers would be alike


def measure(
    data: Path, tokenizer: Path, size: str = "base", *, texts: int = 20_000, peer_texts: int = 1000, batch: int = 32,
    watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:  # fmt: skip
    """Sentences a second of both, how many times faster we are, and whether they agree; peer_texts 0 = only ours."""
    if size not in SIZES:
        raise UserError(f"size {size!r} is not measured: choose {', '.join(SIZES)}")
    apart.check_modes(("pipeline",) if peer_texts else (), ("pipeline",))
    sentences = _drawn(data, texts + WARM)
    with tempfile.TemporaryDirectory() as folder:
        model, asked = Path(folder) / "model", Path(folder) / "sentences.json"
        _save(tokenizer, size, model)
        asked.write_text(json.dumps(sentences), encoding="utf-8")
        counts = {"ours": texts, "peer": min(peer_texts, texts)}
        found: dict[str, dict[str, Any]] = {}
        for name, count in counts.items():
            if count:
                call = {"folder": str(model), "sentences": str(asked), "count": count, "batch": batch, "mode": name,
                        "out": f"{folder}/{name}.npy"}  # fmt: skip
                found[name] = dict(apart.measured(f"litebert.bench.predict_{name}", call))
                watch(f"{name}: {found[name]['texts_per_s']:,.1f} sentences/s, {count:,} of them")
        said = [np.load(f"{folder}/{name}.npy") for name in found]
    ours, theirs = found["ours"], found.get("peer")
    told = {"size": size, "batch": batch, "texts": texts, "peer_texts": counts["peer"], **ours}
    if theirs:
        apart_by = np.abs(said[0][: len(said[1])] - said[1])
        agree = float(((said[0][: len(said[1])] > 0.5) == (said[1] > 0.5)).mean())
        told |= {"peer": theirs, "times_faster": round(ours["texts_per_s"] / theirs["texts_per_s"], 3),
                 "same_label": round(agree, 4), "largest_difference": round(float(apart_by.max()), 5)}  # fmt: skip
    return told


def _save(tokenizer: Path, size: str, folder: Path) -> None:
    """A fine-tuning to two classes that nobody trained."""
    words = tokenizers.load(tokenizer)
    task: Any = Classify(LABELS, Cut(LENGTH))
    config = Config(**SIZES[size]).but(vocab=max(Config().vocab, words.size), pad=words.specials.pad)
    name, head = task.spec(config)
    model = build(config.but(init_std=_SPREAD), {name: head}, seed=0).eval()
    trained.save(Trained(model, words, task, Tuning(length=LENGTH)), folder)


def _drawn(data: Path, count: int) -> list[str]:
    """So many sentences of a file as SST-2 has them, drawn evenly."""
    examples = [one.text for one in collect(glue.read(data, "sst-2")).examples if isinstance(one, Text)]
    if len(examples) < count:
        raise UserError(f"{data} has {len(examples):,} sentences, and {count:,} are needed: ask for fewer (--texts)")
    chosen = rng.generator(0, "bench").permutation(len(examples))[:count]
    return [examples[number] for number in chosen.tolist()]
