"""How does a head alone learn? The rows of a fine-tuning are read by the frozen body once; the rest goes as ever.

What comes out is a `fit.Ready` whose rows are addresses of vectors and whose learner is a head: the same loop, the same
evaluation, the same folders and seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.optim.freezing import Frozen
from litebert.optim.groups import Treated, excluded
from litebert.optim.lamb import Lamb
from litebert.optim.rule import rule
from litebert.optim.schedule import Schedule
from litebert.tasks import featured, hidden
from litebert.tasks import learner as learners
from litebert.tasks.evaluation import Asked
from litebert.tasks.featured import Featured, How
from litebert.tasks.fit import Ready
from litebert.tasks.hidden import Tell
from litebert.tasks.learner import Learner, Learning
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Task
from litebert.train import allocation, precision
from litebert.train.distributed import World
from litebert.train.loop import Trainer
from litebert.train.precision import Chosen


def ready(
    made: Ready, folder: Path, tell: Tell = lambda event: None, asked_to_stop: Callable[[], bool] = lambda: False
) -> Ready | None:
    """The same seeds over hidden states, which lie in `folder`; they are computed if they are not there yet.

    None if somebody asked for the end before.
    """
    body = body_of(made)
    how = how_of(made.task, body, made.tuning)
    chosen = precision.choose(made.tuning.precision, made.device)
    found = hidden.kept(
        body, how, [made.train, made.dev.table], made.task, chosen, folder / hidden.FOLDER,
        tokenizer=made.tokenizer.fingerprint, tell=tell, asked_to_stop=asked_to_stop,
    )  # fmt: skip
    if found is None:
        return None
    mean, spread = hidden.standard(found.vectors[: found.first])
    train, dev = found.tables

    def learns(tuning: Tuning, steps: int) -> Learner:
        head = featured.drawn(body, how, tuning.seed, found.vectors)
        head.mean.copy_(mean)
        head.spread.copy_(spread)
        return learner(head.to(made.device), made.task, tuning, steps, made.device)

    return made._replace(train=train, dev=Asked(made.task, made.dev.examples, dev), learns=learns)


def reading(made: Ready) -> Learner:
    """What will learn, fed by the body itself: one step of it tells what reading the rows will take."""
    body = body_of(made)
    head = featured.drawn(body, how_of(made.task, body, made.tuning), made.tuning.seed).to(made.device)
    found = learner(head, made.task, made.tuning, made.total, made.device)
    chosen = precision.choose(made.tuning.precision, made.device)
    return found._replace(trainer=found.trainer._replace(precision=chosen))


def learner(head: Featured, task: Task, tuning: Tuning, steps: int, device: torch.device) -> Learner:
    """The head, its optimizer and its schedule over so many steps."""
    allocation.keep()
    schedule = Schedule(kind=tuning.schedule, peak=tuning.rate, warmup=tuning.warmup, total=float(steps))
    moves = rule("adamw", decay=tuning.decay, beta2=tuning.beta2, clip=tuning.clip)
    trainer = Trainer(
        model=head, objective=Learning(task), optimizer=Lamb(treated(head), moves), schedule=schedule,
        precision=Chosen(torch.float32, "a head alone learns", device.type), world=World(device=device),
        seed=tuning.seed,
    )  # fmt: skip
    how, size = head.how, sum(one.numel() for one in head.parameters())
    remark = f"the body stands still: a {how.network} head of {size:,} numbers learns on layers {how.layers}"
    return Learner(trainer, Frozen(head.config.depth, (), ("embedding", "encoder"), (remark,)))


def treated(head: Featured) -> list[Treated]:
    """What of a head learns, without decay of its vectors: an LSTM's biases have names of their own."""
    return [Treated(name, one, excluded(name) or one.dim() == 1) for name, one in head.named_parameters()]


def body_of(made: Ready) -> Model:
    """The model that a fine-tuning begins from, without a head; a preset's weights are drawn from the first seed."""
    start, tuning = made.start, made.tuning
    config, _ = start.shape(made.tokenizer)
    learners.check(config, start, tuning, made.tokenizer)
    source = config if start.random else start.model
    return folders.load(source, {}, seed=tuning.seed, dtype=torch.float32).to(made.device).eval()


def how_of(task: Task, body: Model, tuning: Tuning) -> How:
    """What of the body is read, and by what."""
    name, head = task.spec(body.config)
    if tuning.head_dropout is not None:
        head = head.model_copy(update={"dropout": tuning.head_dropout})
    return How(tuning.layers, tuning.network, name, head)
