"""One competitor of `bench train`: transformers' Trainer and collator. Started as a process; prints one JSON line."""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import tempfile
import time
from typing import Any

import numpy as np
import torch

from litebert.bench import train
from litebert.config import Config

_WARM = 3  # steps that are not counted: torch.compile works in the first


def measure(size: str, length: int, batch: int, steps: int, ids: str, compiled: bool, mode: str) -> dict[str, float]:
    """Seconds of a step, by the median, and the most memory that was held."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    shape, vocab = train.SIZES[size], Config().vocab
    config = transformers.AlbertConfig(
        vocab_size=vocab, hidden_size=shape["hidden"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], intermediate_size=shape["ffn"],
    )  # fmt: skip
    marks: list[float] = []

    class Clock(transformers.TrainerCallback):  # type: ignore[misc]  # the peer is not typed
        """Notes when a step ends."""

        def on_step_end(self, *anything: Any, **more: Any) -> None:
            marks.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=batch, max_steps=steps + _WARM, learning_rate=1e-4,
            use_cpu=True, bf16=mode != "default", torch_compile=mode == "best", report_to=[], save_strategy="no",
            logging_steps=10**9, disable_tqdm=True,
        )  # fmt: skip
        transformers.Trainer(
            model=transformers.AlbertForMaskedLM(config), args=arguments, train_dataset=_Rows(np.load(ids), length),
            callbacks=[Clock()],
            data_collator=transformers.DataCollatorForLanguageModeling(_tokenizer(vocab), mlm_probability=0.15),
        ).train()  # fmt: skip
    step = statistics.median(np.diff(marks)[_WARM - 1 :])
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"tokens_per_s": batch * length / step, "rss": rss, "threads": torch.get_num_threads()}


class _Rows(torch.utils.data.Dataset[dict[str, list[int]]]):
    """Full rows of running text between [CLS] and [SEP]."""

    def __init__(self, ids: np.ndarray[Any, Any], length: int) -> None:
        self._rows = ids[: len(ids) // (length - 2) * (length - 2)].reshape(-1, length - 2)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> dict[str, list[int]]:
        return {"input_ids": [2, *self._rows[number].tolist(), 3]}


def _tokenizer(vocab: int) -> Any:
    """Something that knows which ids are special, as the collator wants."""
    import tokenizers
    import transformers

    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "[CLS]", "sep_token": "[SEP]",
             "mask_token": "[MASK]"}  # fmt: skip
    words = {word: number for number, word in enumerate([*names.values(), *(f"w{i}" for i in range(5, vocab))])}
    engine = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=engine, **names)


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
