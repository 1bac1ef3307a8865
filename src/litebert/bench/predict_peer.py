"""One competitor of `bench predict`: transformers' pipeline at its defaults, as a process; prints one JSON line."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch

from litebert.bench.predict import LABELS, WARM


def measure(folder: str, sentences: str, count: int, batch: int, mode: str, out: str) -> dict[str, float | str]:
    """Sentences a second from text to answer, the model loaded before."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    asked = json.loads(Path(sentences).read_text(encoding="utf-8"))
    ask = transformers.pipeline("text-classification", model=folder, tokenizer=folder)
    ask(asked[:WARM], batch_size=batch)
    began = time.perf_counter()
    said = ask(asked[WARM : WARM + count], batch_size=batch)
    seconds = time.perf_counter() - began
    np.save(out, np.array([one["score"] if one["label"] == LABELS[1] else 1.0 - one["score"] for one in said]))
    return {
        "texts_per_s": round(count / seconds, 2), "seconds": round(seconds, 2),
        "precision": str(ask.model.dtype).removeprefix("torch."), "transformers": transformers.__version__,
        "peak_rss_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3),
        "threads": torch.get_num_threads(),
    }  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
