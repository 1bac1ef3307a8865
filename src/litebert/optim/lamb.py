"""How does one step move the weights? LAMB; AdamW is the same step with a trust ratio of 1.

u = m / (√v + eps) + decay·w, w ← w - rate·‖w‖/‖u‖·u (You et al. 2019, algorithm 2; google-research/albert
lamb_optimizer.py). Which of the variants is said by the rule (`rule.py`), which tensors by `groups.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.optim.groups import Treated
from litebert.optim.norms import excess, global_norm, norms
from litebert.optim.rule import Rule

_SLOTS = ("mean", "square")  # of the gradient; a tensor's state is called mean.NAME and square.NAME


class Lamb:
    """The moments of all tensors that learn, and the step.

    A step uses the gradients up: they hold the update on the way, and are gone after it.
    """

    def __init__(self, treated: Sequence[Treated], rule: Rule | None = None) -> None:
        if not treated:
            raise UserError("nothing is left to learn: every tensor is frozen, freeze fewer of them")
        names = [one.name for one in treated]
        kinds = {(one.tensor.dtype, one.tensor.device) for one in treated}
        if len(set(names)) < len(names) or len(kinds) > 1:
            raise ValueError(f"{len(names)} tensors of {len(set(names))} names and {len(kinds)} kinds: one of each")
        if not all(one.tensor.is_contiguous() for one in treated):
            raise ValueError("a parameter is not contiguous: give it storage of its own, in order")
        self.treated, self.rule = tuple(treated), rule or Rule()
        self.tensors = {f"{slot}.{name}": torch.zeros_like(one.tensor, requires_grad=False)
                        for slot in _SLOTS for name, one in zip(names, treated, strict=True)}  # fmt: skip
        self.counts = dict.fromkeys(names, 0)  # steps that a tensor took part in, for the bias correction
        self._trust: list[tuple[list[str], Tensor]] = []
        (self._device,) = {device for _, device in kinds}

    def norm(self) -> Tensor:
        """The global norm of the gradients, a scalar; reading it waits for the device, making it does not."""
        return global_norm([_gradient(one.tensor) for one in self._present()])

    @torch.no_grad()
    def step(self, rate: float, norm: Tensor | None = None) -> None:
        """One step at this rate; `norm` saves measuring it again. A tensor without gradient stays as it is."""
        self._trust, present = [], self._present()
        found = {one.name: _gradient(one.tensor) for one in present}
        shrink = self._shrink(list(found.values()), norm) if present else None
        for one in present:
            self.counts[one.name] += 1
        for batch in self._batches(present):
            gradients = [found[one.name] for one in batch]
            if self._adapts(batch[0]):
                self._adapted(batch, gradients, rate, shrink)
            else:
                decay = 0.0 if batch[0].excluded else self.rule.decay
                weights: list[Tensor] = [one.tensor for one in batch]
                self._moments(batch, weights, gradients, rate * batch[0].factor, decay, shrink)
        for one in present:
            one.tensor.grad = None

    def trust(self) -> dict[str, float]:
        """The trust ratios of the last step, by tensor; reading them waits for the device once."""
        names = [name for batch, _ in self._trust for name in batch]
        if not names:
            return {}
        return dict(zip(names, torch.cat([ratios for _, ratios in self._trust]).tolist(), strict=True))

    def state_dict(self) -> tuple[dict[str, Tensor], dict[str, int]]:
        """(tensors, counts), both by name: the tensors themselves, so copy them before the next step changes them."""
        return dict(self.tensors), dict(self.counts)

    def load_state_dict(self, tensors: Mapping[str, Tensor], counts: Mapping[str, int]) -> None:
        """Go on from a saved state, which must fit tensor by tensor."""
        for saved, mine in ((set(tensors), set(self.tensors)), (set(counts), set(self.counts))):
            for name in sorted(saved ^ mine):
                what = "lacks" if name in mine else "also holds"
                raise UserError(
                    f"the optimizer's state {what} {name!r}: it was saved for another model or other parts frozen: "
                    "keep the settings, or train on from the weights alone"
                )
        for name, tensor in self.tensors.items():
            if (tensors[name].shape, tensors[name].dtype) != (tensor.shape, tensor.dtype):
                raise UserError(
                    f"the optimizer's state {name!r} is {_form(tensors[name])} where the model has {_form(tensor)}: "
                    "it was saved for another model, train on from the weights alone"
                )
        for name, tensor in self.tensors.items():
            tensor.copy_(tensors[name])
        self.counts = {name: int(counts[name]) for name in self.counts}

    def _present(self) -> list[Treated]:
        return [one for one in self.treated if one.tensor.grad is not None]

    def _adapts(self, one: Treated) -> bool:
        return self.rule.adapt == "all" or (self.rule.adapt == "weights" and not one.excluded)

    def _shrink(self, gradients: list[Tensor], norm: Tensor | None) -> Tensor | None:
        """Clips by the global norm: gives what the kernel shall divide by, or divides the gradients here and now."""
        if not self.rule.clip:
            return None
        over = excess(global_norm(gradients) if norm is None else norm, self.rule.clip)
        if over is None or (self._device.type == "cpu" and gradients[0].dtype == torch.float32):
            return None if over is None else over.float()
        # The kernel divides by a float32 only, and on CUDA it writes the quotient over a step that is kept there.
        torch._foreach_div_(gradients, over.to(gradients[0].dtype))
        return None

    def _batches(self, present: Iterable[Treated]) -> list[list[Treated]]:
        """What goes through the kernel together. On the CPU an adapted tensor goes alone, while it is in the cache."""
        batches: dict[tuple[object, ...], list[Treated]] = {}
        for one in present:
            adapts = self._adapts(one)
            alone = one.name if adapts and self._device.type == "cpu" else ""
            batches.setdefault((adapts, one.excluded, 1.0 if adapts else one.factor, alone), []).append(one)
        return list(batches.values())

    def _adapted(self, batch: Sequence[Treated], gradients: list[Tensor], rate: float, shrink: Tensor | None) -> None:
        """The step with a trust ratio; the gradients' storage takes the update."""
        # The kernel stores target·(1 - rate·decay) - rate·m/(√v + eps). With -1 for both the first term is nothing and
        # the second the raw step, and the gradient can be its own target: it is read before it is written.
        self._moments(batch, gradients, gradients, -1.0, -1.0, shrink)
        weights: list[Tensor] = [one.tensor for one in batch]
        if self.rule.decay and not batch[0].excluded:
            torch._foreach_add_(gradients, weights, alpha=self.rule.decay)
        long, step = norms(weights), norms(gradients)
        ratios = torch.where((long > 0) & (step > 0), long / step, 1.0)
        if self.rule.ratio_limit:
            ratios = ratios.clamp(max=self.rule.ratio_limit)
        self._trust.append(([one.name for one in batch], ratios))
        for one, update, ratio in zip(batch, gradients, ratios.to(weights[0].dtype).unbind(), strict=True):
            one.tensor.addcmul_(update, ratio, value=-rate * one.factor)

    def _moments(
        self, batch: Sequence[Treated], targets: list[Tensor], gradients: list[Tensor],
        rate: float, decay: float, shrink: Tensor | None,
    ) -> None:  # fmt: skip
        """Both means of a batch, and the targets moved by them: one pass through memory."""
        means = [self.tensors[f"mean.{one.name}"] for one in batch]
        squares = [self.tensors[f"square.{one.name}"] for one in batch]
        none: list[Tensor] = []
        torch._fused_adamw_(
            targets, gradients, means, squares, none, self._steps(batch), lr=rate, beta1=self.rule.beta1,
            beta2=self.rule.beta2, weight_decay=decay, eps=self.rule.eps, amsgrad=False, maximize=False,
            grad_scale=shrink,
        )  # fmt: skip

    def _steps(self, batch: Sequence[Treated]) -> list[Tensor]:
        """The number of steps of every tensor, as the kernel wants it; without end, there is nothing to correct."""
        counts = [float(self.counts[one.name]) if self.rule.corrected else torch.inf for one in batch]
        made = {count: torch.full((), count, dtype=torch.float32, device=self._device) for count in set(counts)}
        return [made[count] for count in counts]


def _gradient(parameter: Tensor) -> Tensor:
    """A tensor's gradient, in order, as the kernel reads it."""
    assert parameter.grad is not None
    return parameter.grad.contiguous()


def _form(tensor: Tensor) -> str:
    return f"{list(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
