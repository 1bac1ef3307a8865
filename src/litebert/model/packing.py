"""How do weights lie that are only read any more? As oneDNN's products want them: else it lays them out in each anew.

On the CPU that is a tenth to a sixth of a product. A model that was packed computes the same numbers; it neither learns
nor is saved.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from litebert.model import onednn
from litebert.model.linear import is_plain
from litebert.model.model import Model

_ROWS = 4096  # of the products that they are laid out for; products of other sizes may be made with them as well


def pack(model: Model) -> int:
    """Lay out the weights of every block; gives how many. Where oneDNN does not multiply them they stay as they are."""
    count = 0
    for layer in model.encoder.modules():
        if isinstance(layer, nn.Linear) and is_plain(layer) and _fits(layer.weight):
            layer.weight = nn.Parameter(onednn.laid_out(layer.weight, _ROWS), requires_grad=False)
            count += 1
    return count


def _fits(weight: Tensor) -> bool:
    """Whether oneDNN multiplies it, and it is a plain matrix."""
    if type(weight) is not nn.Parameter or weight.layout != torch.strided or weight.device.type != "cpu":
        return False
    return onednn.knows(weight.dtype)
