"""One competitor of `bench learning`: transformers' Trainer on the same text. Started as a process; prints JSON lines.

AlbertForMaskedLM of the recipe's block shape, the collator at 15 %, bfloat16 and torch.compile where they are to be
had, fused AdamW, linear decay after a warm-up. How many steps fit in the minutes is measured first, in a short stretch
of another model; neither that nor what is compiled counts.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from litebert.bench import learning_rows
from litebert.bench.learning_curve import Clock, Curve, say
from litebert.bench.learning_rows import Running
from litebert.data.shards import open_shards
from litebert.data.vocabulary import vocabulary
from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.text import tokenizer as tokenizers
from litebert.train import allocation, distributed, precision, recipe, work
from litebert.train.precision import Chosen
from litebert.train.recipe import Run

WARM = 3  # steps in which compiling is done
_LEAST = 8  # steps of the measured stretch, and its seconds
_SECONDS = 20.0
_MOST = 10**6  # steps that a stretch never makes


class Settings(NamedTuple):
    """What is tuned of the peer."""

    rate: float
    batch: int
    warmup: float = 0.1  # share of the steps
    attention: str = "auto"  # eager on CPU, where its backward pass is the faster one once compiled, else sdpa
    compiled: bool = True


class Made(NamedTuple):
    """What its Trainer is built from."""

    run: Run
    settings: Settings
    data: Any
    collator: Any
    chosen: Chosen
    folder: Path

    def model(self) -> Any:
        """A new model, the same every time."""
        import transformers

        transformers.set_seed(self.run.training.seed)
        config = transformers.AlbertConfig(**_shape(self.run))
        return transformers.AutoModelForMaskedLM.from_config(config, attn_implementation=self.settings.attention)

    def trainer(self, model: Any, steps: int, watch: Any) -> Any:
        """transformers' Trainer with its best flags."""
        import transformers

        own, cuda = self.settings, self.chosen.device == "cuda"
        arguments = transformers.TrainingArguments(
            output_dir=str(self.folder / "trainer"), max_steps=steps, per_device_train_batch_size=own.batch,
            learning_rate=own.rate, lr_scheduler_type="linear", warmup_steps=round(own.warmup * steps),
            weight_decay=0.01, optim="adamw_torch_fused", use_cpu=not cuda, torch_compile=own.compiled,
            bf16=self.chosen.dtype == torch.bfloat16, dataloader_drop_last=True, dataloader_pin_memory=cuda,
            report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
            seed=self.run.training.seed,
        )  # fmt: skip
        return transformers.Trainer(model=model, args=arguments, train_dataset=self.data, data_collator=self.collator,
                                    callbacks=[watch])  # fmt: skip


def measure(
    shards: str, recipe_name: str, changes: list[str], device: str, rows: int, moments: int, folder: str,
    minutes: float, tokens: float, steps: int, settings: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Train so many steps, or tokens, or as many steps as fit in the minutes; what it came to."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    run = recipe.load(recipe_name, changes)
    where = distributed.join({}, device).device
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    own = Settings(**settings)
    if own.attention == "auto":
        own = own._replace(attention="eager" if where.type == "cpu" else "sdpa")
    made = _made(run, shards, own, precision.choose(run.training.precision, where), out)
    row_tokens = made.settings.batch * run.data.length
    found: dict[str, Any] = {"settings": made.settings._asdict()}
    pace, planned = 0.0, steps or round(tokens / row_tokens)
    if not planned:
        compiling, pace = _pace(made)
        planned = max(WARM + 1, round(60 * minutes / pace))
        found |= {"step_seconds": round(pace, 5), "compile_seconds": round(compiling, 1)}
        say({"tell": f"peer: {1000 * pace:.1f} ms a step, {compiling:.0f} s of compiling aside: {planned:,} steps"})
    asked = learning_rows.questions(run, shards, where, rows)
    clock, model = Clock(made.chosen.device), made.model()

    def look() -> dict[str, float]:
        model.save_pretrained(out)
        return learning_rows.scored(folders.load(out, ["mlm"], device=str(where)), asked, made.chosen)

    curve = Curve(out.with_suffix(".jsonl"), moments, look, clock, lambda line: say({"tell": f"peer: {line}"}))
    watch = _watch(curve, clock, made.chosen.device, row_tokens, planned, pace)
    curve.look(0, 0, 0.0)
    made.trainer(model, planned, watch).train()
    final = curve.look(watch.step, watch.step * row_tokens, watch.seconds())
    return found | {
        "steps": final["step"], "tokens": final["tokens"], "seconds": round(final["seconds"], 1),
        "tokens_per_s": round(final["tokens"] / final["seconds"], 1), "precision": made.chosen.reason,
        "device": made.chosen.device, "threads": torch.get_num_threads(), "rows": asked.rows, "final": final,
    }  # fmt: skip


def _made(run: Run, shards: str, settings: Settings, chosen: Chosen, folder: Path) -> Made:
    """Text, collator and shape; the tokenizer goes into the folder where the model will lie."""
    import transformers

    allocation.keep()
    tokenizer = tokenizers.load(shards)
    tokenizer.save(folder)
    words, text = vocabulary(tokenizer), open_shards(shards, "train", tokenizer)
    data = _Rows(Running(text, run.data.length, words))
    if len(data) < settings.batch:
        raise UserError(f"{shards} holds {len(data)} rows, not one batch of {settings.batch}: use more text")
    fast = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    collator = transformers.DataCollatorForLanguageModeling(fast, mlm_probability=0.15)
    model = run.model.but(vocab=tokenizer.size, pad=tokenizer.specials.pad)
    return Made(run.but(model=model), settings, data, collator, chosen, folder)


def _shape(run: Run) -> dict[str, Any]:
    """The recipe's block shape as AlbertConfig's fields; all else is as that class has it."""
    model = run.model
    return {
        "vocab_size": model.vocab, "embedding_size": model.embedding, "hidden_size": model.hidden,
        "num_hidden_layers": model.layers, "num_attention_heads": model.heads, "intermediate_size": model.ffn,
        "num_hidden_groups": model.groups, "inner_group_num": model.inner, "pad_token_id": model.pad,
        "max_position_embeddings": max(512, run.data.length),
    }  # fmt: skip


class _Rows(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """The rows as the collator is served best: tensors, and which pieces are structure."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._special: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self._running)

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        ids = torch.from_numpy(self._running.row(number))
        if self._special is None:
            self._special = torch.zeros_like(ids)
            self._special[0] = self._special[-1] = 1
        return {"input_ids": ids, "special_tokens_mask": self._special}


def _pace(made: Made) -> tuple[float, float]:
    """(seconds of compiling, seconds of a step) of a model that is thrown away."""
    import transformers

    marks = [time.monotonic()]

    class Stretch(transformers.TrainerCallback):  # type: ignore[misc]  # the peer is not typed
        """Notes when a step ends, and ends the stretch."""

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            work.settle(made.chosen.device)
            marks.append(time.monotonic())
            steps = len(marks) - 1 - WARM
            control.should_training_stop = steps >= _LEAST and marks[-1] - marks[WARM] > _SECONDS

    made.trainer(made.model(), _MOST, Stretch()).train()
    pace = (marks[-1] - marks[WARM]) / (len(marks) - 1 - WARM)
    return marks[WARM] - marks[0] - WARM * pace, pace


def _watch(curve: Curve, clock: Clock, device: str, row_tokens: int, total: int, pace: float) -> Any:
    """A callback that looks at the learner between steps and knows what they took."""
    import transformers

    class Watch(transformers.TrainerCallback):  # type: ignore[misc]  # the peer is not typed
        """The first steps, in which it is compiled, count as any others."""

        step, _began = 0, 0.0

        def seconds(self) -> float:
            """Trained so far."""
            if self.step <= WARM:
                return self.step * pace
            taken = clock.read() - self._began
            return taken + WARM * (pace or taken / (self.step - WARM))

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.step = int(state.global_step)
            if self.step == WARM:
                work.settle(device)
                self._began = clock.read()
            if curve.due(self.step / total):
                work.settle(device)
                curve.look(self.step, self.step * row_tokens, self.seconds())
                control.should_training_stop = curve.points[-1]["single_loss"] is None  # it came apart

        def on_train_end(self, *anything: Any, **more: Any) -> None:
            work.settle(device)

    return Watch()


if __name__ == "__main__":
    say({"found": measure(**json.loads(sys.argv[1]))})
