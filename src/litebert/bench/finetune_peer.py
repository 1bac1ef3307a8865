"""One competitor of `bench finetune`: transformers' Trainer. Started as a process; prints one JSON line."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from typing import Any

import torch

from litebert.bench import finetune
from litebert.bench.train import SIZES

_Row = dict[str, Any]


def measure(
    size: str, vocab: int, pad: int, batch: int, rows: str, tokenizer: str, steps: int, mode: str
) -> dict[str, float]:  # fmt: skip
    """Real tokens a second, and the most memory that was held."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    shape = SIZES[size]
    torch.manual_seed(0)
    model = transformers.AlbertForSequenceClassification(transformers.AlbertConfig(
        vocab_size=vocab, pad_token_id=pad, hidden_size=shape["hidden"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], intermediate_size=shape["ffn"],
    ))  # fmt: skip
    marks, fed = list[float](), list[tuple[int, int]]()

    class Fed(transformers.Trainer):  # type: ignore[misc]  # the peer is not typed
        """Takes the batches in the order that they are given."""

        def _get_train_sampler(self, *anything: Any, **more: Any) -> Any:
            return torch.utils.data.SequentialSampler(self.train_dataset)

    class Clock(transformers.TrainerCallback):  # type: ignore[misc]  # the peer is not typed
        """Notes when a step ends."""

        def on_step_end(self, *anything: Any, **more: Any) -> None:
            marks.append(time.perf_counter())

    def collate(found: list[_Row]) -> dict[str, torch.Tensor]:
        made = laid_side_by_side(found, pad, finetune.LENGTH if mode == "default" else 0)
        fed.append((int(made["attention_mask"].sum()), made["input_ids"].numel()))
        return made

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=batch, max_steps=steps + finetune.WARM, learning_rate=1e-5,
            use_cpu=True, bf16=mode == "best", report_to=[], save_strategy="no", logging_steps=10**9,
            disable_tqdm=True,
        )  # fmt: skip
        ids, classes = finetune.read_rows(rows)
        lengths = [len(one) for one in ids]
        chosen = finetune.evenly(_epoch(lengths, batch, mode), lengths, steps)
        dataset = [{"input_ids": ids[i].tolist(), "labels": classes[i]} for numbers in chosen for i in numbers]
        Fed(model=model, args=arguments, train_dataset=dataset, data_collator=collate, callbacks=[Clock()]).train()
    tokens, held = zip(*fed, strict=True)
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**finetune.rates(tokens, held, marks, batch), "rss": rss, "threads": torch.get_num_threads()}


def laid_side_by_side(found: list[_Row], pad: int, length: int) -> dict[str, torch.Tensor]:
    """A batch as the peer's own collator makes it: padded to a length, or (0) to its longest row."""
    width = length or max(len(one["input_ids"]) for one in found)
    ids = torch.full((len(found), width), pad)
    mask = torch.zeros_like(ids)
    for row, one in enumerate(found):
        count = len(one["input_ids"])
        ids[row, :count], mask[row, :count] = torch.tensor(one["input_ids"]), 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids),
            "labels": torch.tensor([one["labels"] for one in found])}  # fmt: skip


def _epoch(lengths: list[int], batch: int, mode: str) -> list[list[int]]:
    """The full batches that the peer puts an epoch into: at random, or by its own sampler of like lengths."""
    from transformers.trainer_pt_utils import LengthGroupedSampler

    draw = torch.Generator().manual_seed(0)
    if mode == "default":
        numbers = torch.randperm(len(lengths), generator=draw).tolist()
    else:
        numbers = list(LengthGroupedSampler(batch, lengths=lengths, generator=draw))
    return [numbers[i : i + batch] for i in range(0, len(numbers) // batch * batch, batch)]


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
