"""Does a classifier learn here what it learns in transformers? The same batches give the same losses, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from interop.peers import peer
from litebert.data.stream import Position
from litebert.tasks.batches import Table
from litebert.tasks.classify import Classify
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Text
from litebert.tasks.fit import Ready, fit
from litebert.tasks.learner import Start
from litebert.tasks.settings import Tuning
from litebert.train import record
from vectors.tiny import WORDS, wordpiece_of

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

STEPS, WARM, RATE = 20, 4, 5e-3
NONE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout_prob": 0.0}
LABELS = ("cold", "green", "old")
TUNING = Tuning(
    length=24, batch=8, steps=STEPS, warmup=float(WARM), rate=RATE, dropout=0.0, attention_dropout=0.0,
    head_dropout=0.0, precision="float32",
)  # fmt: skip


def texts(count: int) -> list[Text]:
    """Texts and pairs of many lengths, some too long."""
    draw, found = np.random.default_rng(0), []
    for _ in range(count):
        first, second = (" ".join(draw.choice(WORDS, draw.integers(1, 20))) for _ in range(2))
        found.append(Text(first, second if draw.random() < 0.5 else None, str(draw.choice(LABELS))))
    return found


@pytest.fixture
def ready(tmp_path: Path) -> Ready:
    """A fine-tuning of a tiny random model of transformers."""
    tokenizer = wordpiece_of()
    named = {"id2label": dict(enumerate(LABELS)), "label2id": {name: place for place, name in enumerate(LABELS)}}
    peer("albert", "ForSequenceClassification", tmp_path / "peer", **named, **NONE)  # names, or the head is drawn anew
    examples = texts(60)  # an epoch is shorter than the run
    task = Classify.settled(examples, TUNING)
    table = Table(task.items(examples, tokenizer), tokenizer.specials.pad)
    asked = Asked(task, examples[:4], Table(table.items[:4], tokenizer.specials.pad))
    return Ready(Start(str(tmp_path / "peer")), task, TUNING, tokenizer, examples, table, asked)


def theirs(ready: Ready, seed: int, folder: Path) -> list[float]:
    """The losses of transformers' own Trainer, fed the steps of a seed as its tokenizer would lay them out."""
    steps, place, batches = ready.steps(seed), Position(0, 0), []
    for _ in range(STEPS):
        batches.append(steps.items(place).tolist())
        place = steps.following(place)
    told: list[float] = []

    class Told(transformers.Trainer):  # type: ignore[misc]  # the peer is not typed
        """Notes every loss, and takes the batches in their order."""

        def compute_loss(self, model: Any, inputs: Any, *more: Any, **named: Any) -> Any:
            loss = super().compute_loss(model, inputs, *more, **named)
            told.append(float((loss[0] if isinstance(loss, tuple) else loss).detach()))
            return loss

        def _get_train_sampler(self, *more: Any) -> Any:
            return torch.utils.data.SequentialSampler(self.train_dataset)

    arguments = transformers.TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=1, max_steps=STEPS, learning_rate=RATE, warmup_steps=WARM,
        lr_scheduler_type="linear", weight_decay=TUNING.decay, adam_epsilon=1e-6, max_grad_norm=TUNING.clip,
        use_cpu=True, report_to=[], save_strategy="no", logging_steps=10**9, disable_tqdm=True,
    )  # fmt: skip
    model = transformers.AlbertForSequenceClassification.from_pretrained(str(ready.start.model))
    Told(model=model, args=arguments, train_dataset=[laid_out(ready, one) for one in batches],
         data_collator=lambda rows: rows[0]).train()  # fmt: skip
    return told


def laid_out(ready: Ready, numbers: list[int]) -> dict[str, torch.Tensor]:
    """Examples by the engine of the tokenizer, with its own pairing, cutting and padding."""
    engine = transformers.PreTrainedTokenizerFast(
        tokenizer_object=ready.tokenizer.engine, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip
    chosen: list[Any] = [ready.examples[number] for number in numbers]
    rows = [engine(*filter(None, (one.text, one.pair)), truncation="longest_first", max_length=TUNING.length,
                   return_token_type_ids=True) for one in chosen]  # fmt: skip
    batch = engine.pad(rows, return_tensors="pt")
    labels = torch.tensor([LABELS.index(one.label) for one in chosen])
    return {**batch, "labels": labels}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_losses_are_those_of_transformers(seed: int, ready: Ready, tmp_path: Path) -> None:
    assert fit(ready, seed, tmp_path / "ours") is not None
    ours = [event["loss"] for event in record.read(tmp_path / "ours") if event["event"] == "step"]
    wanted = theirs(ready, seed, tmp_path / "theirs")
    assert len(ours) == len(wanted) == STEPS
    assert max(abs(one - other) for one, other in zip(ours, wanted, strict=True)) < 1e-4
    assert abs(wanted[-1] - wanted[0]) > 0.02  # the weights have moved: it is no equality of beginnings
