"""Does a model learn here to find answers as in transformers? The same windows, the same targets, the same losses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from interop.peers import peer
from litebert.data.stream import Position
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Answer, Question
from litebert.tasks.fit import Ready, fit
from litebert.tasks.learner import Start
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Span
from litebert.train import record
from vectors.tiny import WORDS, wordpiece_of

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

STEPS, WARM, RATE = 20, 4, 5e-3
NONE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
ROOM, STRIDE, ASKED = 12, 6, 4  # pieces of context in a row, from one window to the next, and of a question
TUNING = Tuning(
    length=ROOM + ASKED + 3, question=ASKED, stride=STRIDE, batch=8, steps=STEPS, warmup=float(WARM), rate=RATE,
    dropout=0.0, attention_dropout=0.0, head_dropout=0.0, precision="float32",
)  # fmt: skip


def questions(count: int) -> list[Question]:
    """Contexts of one, two or three full windows: transformers would have padding take part in the loss."""
    draw, found = np.random.default_rng(0), []
    for _ in range(count):
        words = [str(one) for one in draw.choice(WORDS, ROOM + STRIDE * int(draw.integers(3)))]
        first = int(draw.integers(len(words)))
        text = " ".join(words[first : first + int(draw.integers(1, 5))])
        answer = Answer(text, len(" ".join([*words[:first], ""])))
        found.append(Question(" ".join(draw.choice(WORDS, ASKED)), " ".join(words), (answer,)))
    return found


@pytest.fixture
def ready(tmp_path: Path) -> Ready:
    """A fine-tuning of a tiny random model of transformers."""
    tokenizer = wordpiece_of()
    peer("albert", "ForQuestionAnswering", tmp_path / "peer", **NONE)
    examples = questions(50)
    task = Span.settled(examples, TUNING)
    table = Table(task.items(examples, tokenizer), tokenizer.specials.pad)
    few = [item for item in table.items if item.example < 4]
    asked = Asked(task, examples[:4], Table(few, tokenizer.specials.pad))
    return Ready(Start(str(tmp_path / "peer")), task, TUNING, tokenizer, examples, table, asked)


def prepared(ready: Ready) -> list[dict[str, list[int]]]:
    """The windows as transformers' own tokenizer cuts them, and targets by the offsets it tells."""
    engine = transformers.PreTrainedTokenizerFast(
        tokenizer_object=ready.tokenizer.engine, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip
    chosen: list[Any] = list(ready.examples)
    found = engine(
        [one.question for one in chosen], [one.context for one in chosen], truncation="only_second",
        max_length=TUNING.length, stride=ROOM - STRIDE, return_overflowing_tokens=True, return_offsets_mapping=True,
        return_token_type_ids=True,
    )  # fmt: skip
    rows = []
    for number, example in enumerate(found["overflow_to_sample_mapping"]):
        (answer,) = chosen[example].answers
        places = zip(found["offset_mapping"][number], found.sequence_ids(number), strict=True)
        offsets = [place if whose == 1 else (-1, -1) for place, whose in places]
        starts = [at for at, (begin, _) in enumerate(offsets) if begin == answer.start]
        ends = [at for at, (_, end) in enumerate(offsets) if end == answer.start + len(answer.text)]
        place = (starts[0], ends[0]) if starts and ends else (0, 0)
        row = {name: found[name][number] for name in ("input_ids", "attention_mask", "token_type_ids")}
        rows.append({**row, "start_positions": place[0], "end_positions": place[1]})
    return rows


def theirs(ready: Ready, rows: list[dict[str, list[int]]], folder: Path) -> list[float]:
    """The losses of transformers' own Trainer, fed the steps of seed 0."""
    steps, place, batches = ready.steps(0), Position(0, 0), []
    for _ in range(STEPS):
        chosen = [rows[number] for number in steps.items(place).tolist()]
        batches.append({name: torch.tensor([row[name] for row in chosen]) for name in chosen[0]})
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
    model = transformers.AlbertForQuestionAnswering.from_pretrained(str(ready.start.model))
    Told(model=model, args=arguments, train_dataset=batches, data_collator=lambda one: one[0]).train()
    return told


def test_windows_and_targets_are_those_of_transformers(ready: Ready) -> None:
    rows = prepared(ready)
    assert [list(map(int, item.rows[0].ids)) for item in ready.train.items] == [row["input_ids"] for row in rows]
    assert [(item.target.start, item.target.end) for item in ready.train.items] == [
        (row["start_positions"], row["end_positions"]) for row in rows
    ]
    assert 0.2 < sum(item.target.absent for item in ready.train.items) / len(rows) < 0.7


def test_the_losses_are_those_of_transformers(ready: Ready, tmp_path: Path) -> None:
    assert fit(ready, 0, tmp_path / "ours") is not None
    ours = [event["loss"] for event in record.read(tmp_path / "ours") if event["event"] == "step"]
    wanted = theirs(ready, prepared(ready), tmp_path / "theirs")
    assert len(ours) == len(wanted) == STEPS
    assert max(abs(one - other) for one, other in zip(ours, wanted, strict=True)) < 1e-4
    assert abs(wanted[-1] - wanted[0]) > 0.05  # the weights have moved: it is no equality of beginnings
