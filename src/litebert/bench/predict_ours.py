"""One competitor of `bench predict`: a predictor of ours. Started as a process; prints one JSON line."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch

from litebert.bench.predict import LABELS, WARM
from litebert.tasks import given
from litebert.tasks.predict import opened


def measure(folder: str, sentences: str, count: int, batch: int, mode: str, out: str) -> dict[str, float | str]:
    """Sentences a second from text to answer; the model is loaded before, as a user's is."""
    asked = json.loads(Path(sentences).read_text(encoding="utf-8"))
    predictor, _ = opened(folder)
    predictor.answers(asked[:WARM])
    began = time.perf_counter()
    said = list(predictor.stream(given.of_values(asked[WARM : WARM + count], "classify")))
    seconds = time.perf_counter() - began
    np.save(out, np.array([one.answer.probabilities[LABELS[1]] for one in said]))
    tokens = sum(one.tokens for one in said)
    return {
        "texts_per_s": round(count / seconds, 2), "real_tokens_per_s": round(tokens / seconds, 1),
        "mean_length": round(tokens / count, 2), "seconds": round(seconds, 2),
        "precision": str(predictor.chosen.dtype).removeprefix("torch."),
        "peak_rss_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3),
        "threads": torch.get_num_threads(),
    }  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
