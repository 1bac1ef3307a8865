"""How are the words of many sentences found at once? As one text that Arrow cuts, first into sentences, then at spaces.

Where a tokenizer cuts the first word of a sentence otherwise than the others, `FIRST` stands before it. A sentence that
could be misread is replaced by the word `ODD`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from litebert.text.words import Rules

FIRST, ODD = "\x01", "\x02"
# What BERT sets apart, as far as it is surely among what the engine takes for Chinese: first and last characters.
_CHINESE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF))


def split(sentences: Sequence[str], rules: Rules) -> pa.LargeListArray:
    """The words of every sentence."""
    text = "\n".join(sentences)
    if text.count("\n") >= len(sentences) or FIRST in text:
        text = "\n".join(ODD if "\n" in sentence or FIRST in sentence else sentence for sentence in sentences)
    if not rules.lead:
        text = FIRST + text.replace("\n", "\n" + FIRST)
    if rules.chinese and not text.isascii():
        text = chinese_apart(text)
    data = text.encode()
    if rules.lower_first:
        data = data.lower()  # of bytes: ASCII letters only
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    block = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(data))
    return pc.split_pattern(pc.split_pattern(block, "\n").values, " ")


def chinese_apart(text: str) -> str:
    """The text with a space before and after every Chinese character."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    alone = np.zeros(len(codes), bool)
    for first, last in _CHINESE:
        alone |= (codes >= first) & (codes <= last)
    parted = alone.copy()  # a space goes before such a character, and before what follows one
    parted[1:] |= alone[:-1]
    places = np.arange(len(codes)) + np.cumsum(parted)
    spaced: NDArray[np.uint32] = np.full(len(codes) + int(parted.sum()), ord(" "), np.uint32)
    spaced[places] = codes
    return spaced.tobytes().decode("utf-32-le")
