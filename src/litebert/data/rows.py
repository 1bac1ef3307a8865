"""What is a batch before and after something in it is hidden? Two tuples of arrays, and nothing else passes between.

Shapes: R rows, T tokens, P predictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_ORDER = -1  # an example that has no second segment to speak of: nothing is asked about its order


class Rows(NamedTuple):
    """Examples laid out, nothing hidden yet."""

    ids: NDArray[np.int32]  # [R, T], padded with the pad id
    segments: NDArray[np.uint8]  # [R, T], 0 on padding
    words: NDArray[np.int16]  # [R, T] the row's words counted from 0; -1 on special tokens and padding
    lengths: NDArray[np.int32]  # [R] real tokens, special ones included
    source: NDArray[np.int32]  # [R] tokens of the first segment with the special tokens around it
    order: NDArray[np.int8]  # [R] the label of the pair, or NO_ORDER
    examples: NDArray[np.int64]  # [R] the example's number: the address of everything that is drawn for it


class Batch(NamedTuple):
    """What the model is fed and asked."""

    ids: NDArray[np.int32]  # [R, T], corrupted
    mask: NDArray[np.uint8]  # [R, T], 1 at real tokens
    segments: NDArray[np.uint8]  # [R, T]
    asked: NDArray[np.int32]  # [R, P] places to predict, ascending; 0 on slots that ask nothing
    targets: NDArray[np.int32]  # [R, P] what stood there; 0 on slots that ask nothing
    weights: NDArray[np.float32]  # [R, P], 0 on slots that ask nothing
    order: NDArray[np.int8]  # [R] the label of the pair, or NO_ORDER
    examples: NDArray[np.int64]  # [R]
    spans: NDArray[np.int16]  # [R, P] which span of its row a prediction belongs to, from 0; -1 on empty slots
    ranks: NDArray[np.int32] | None = None  # plm [R, T]: the place in the order, -1 for a free token
    mode: str = "bidirectional"  # mixture: how this batch sees
    source: NDArray[np.int32] | None = None  # seq2seq [R]: how many tokens all may see
