"""How do several processes train one model? Each takes its rows of the same global batch; sums are made over all.

Gradients are summed, never averaged: every process divides by the targets of the whole global batch beforehand, so
the sum is the gradient of one big batch whatever the number of processes. torchrun starts them (gloo on CPU, nccl on
CUDA); one process alone needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from litebert.errors import RunError, UserError
from litebert.train import meeting

_BUCKET = 1 << 24  # numbers that are sent together: gradients are many and mostly small
_PATIENCE = timedelta(minutes=10)  # a process that is waited for longer than this is gone


class World(NamedTuple):
    """Who takes part: this process's rank, how many there are, and where it computes."""

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")

    @property
    def leads(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def sums(self, values: Sequence[float]) -> list[float]:
        """The sums over all processes of some numbers, in float64."""
        if self.size == 1:
            return [float(v) for v in values]
        kind = torch.float64 if self.device.type != "mps" else torch.float32
        together = torch.tensor(list(values), dtype=kind, device=self.device)
        _reduced(together)
        return [float(v) for v in together.tolist()]

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Every gradient becomes its sum over all processes; a tensor that nobody used keeps none."""
        if self.size == 1:
            return
        for bucket in _buckets([p for p in parameters if p.requires_grad]):
            used = torch.tensor([float(p.grad is not None) for p in bucket], device=self.device)
            for p in bucket:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
            gradients = [p.grad for p in bucket if p.grad is not None]
            flat = torch.cat([g.flatten() for g in gradients])
            _reduced(used)
            _reduced(flat)
            for p, part, anyone in zip(
                bucket, torch.split(flat, [g.numel() for g in gradients]), used.tolist(), strict=True
            ):
                p.grad = part.view_as(p) if anyone else None

    def meet(self) -> None:
        """Wait for all."""
        if self.size > 1:
            self.sums([0.0])

    def agree(self, digest: float) -> bool:
        """Whether a number is the same in every process: what must not differ is checked once, before the start."""
        low = high = digest
        if self.size > 1:
            pair = torch.tensor([digest, -digest], dtype=torch.float64, device=self.device)
            _reduced(pair, dist.ReduceOp.MAX)
            high, low = float(pair[0]), -float(pair[1])
        return low == high


def _reduced(tensor: Tensor, how: dist.ReduceOp.RedOpType = dist.ReduceOp.SUM) -> None:
    """A tensor becomes the sum, or another reduction, over all processes."""
    try:
        dist.all_reduce(tensor, op=how)
    except RuntimeError as error:
        why = str(error).splitlines()[0].rpartition("] ")[2].partition(". ")[0]
        raise RunError(
            f"another process of this run is gone ({why}): the same command goes on from the last checkpoint, "
            "and torchrun --max-restarts 3 gives it by itself"
        ) from None


def join(environment: Mapping[str, str], device: str = "auto") -> World:
    """The world that torchrun describes in the environment, or a world of one."""
    cuda = torch.cuda.is_available() if device == "auto" else device.startswith("cuda")
    if cuda and not torch.cuda.is_available():
        raise UserError(f"device {device!r}: this PyTorch sees no GPU, choose cpu or auto")
    local = int(environment.get("LOCAL_RANK", 0))
    where = torch.device("cuda", local) if cuda else torch.device("cpu")
    if "WORLD_SIZE" not in environment or "RANK" not in environment:
        return World(device=where)
    if cuda:
        torch.cuda.set_device(where)
    if not dist.is_initialized():
        store, rank, size = next(iter(rendezvous("env://", timeout=_PATIENCE)))
        store = meeting.met(store, rank, size, _PATIENCE)
        dist.init_process_group(
            "nccl" if cuda else "gloo", store=store, rank=rank, world_size=size, timeout=_PATIENCE
        )  # fmt: skip
    return World(dist.get_rank(), dist.get_world_size(), where)


def again(environment: Mapping[str, str]) -> bool:
    """Whether torchrun has started these processes anew, after one of them was lost."""
    return int(environment.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0


def leave() -> None:
    """Part from the others, if there are any."""
    if dist.is_initialized():
        dist.destroy_process_group()


def _buckets(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    bucket: list[Tensor] = []
    size = 0
    for tensor in tensors:
        bucket.append(tensor)
        size += tensor.numel()
        if size >= _BUCKET:
            yield bucket
            bucket, size = [], 0
    if bucket:
        yield bucket
