"""What does a segment leave behind for the next? The input of every block, cut, without gradient (Transformer-XL)."""

from __future__ import annotations

import torch
from torch import Tensor


def remember(earlier: Tensor | None, hidden: Tensor, length: int, reuse: int) -> Tensor:
    """The new memory [B, M, H] of one depth: what was there, then the first `reuse` rows, of these the last `length`.

    0 stands for all, in `reuse` and in `length`.
    """
    rows = hidden[:, :reuse] if reuse else hidden
    rows = rows if earlier is None else torch.cat([earlier, rows], dim=1)
    kept = rows[:, -length:] if length else rows
    return kept.detach().clone()  # a view would hold the rows that were cut off
