"""How fast are masked batches made, beside transformers' own collator in the same run? One process each, no model.

The peer gets rows that are cut already and hides single tokens of them; ours cuts documents into segments, pairs them,
and hides what its recipe says. Only real tokens are counted, padding is not. Both are measured in turn, round by round,
so that a slower minute of the machine slows both; medians are told.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from litebert import rng
from litebert.data import vocabulary as vocabularies
from litebert.data.recipe import Recipe
from litebert.data.shards import Arrays, Counts, Shard, Shards, as_ids
from litebert.data.stream import Position, Stream
from litebert.data.vocabulary import Vocabulary
from litebert.errors import UserError

VOCABULARY = 30_000
_SENTENCE, _DOCUMENT = 25, 20  # tokens and sentences on average, about as in the English Wikipedia
_STARTS = 0.75  # share of the tokens that begin a word
_SHARD = 1 << 23  # tokens


def measure(
    recipe: Recipe,
    shards: Shards | None = None,
    vocabulary: Vocabulary | None = None,
    *,
    batch: int = 64,
    batches: int = 400,
    rounds: int = 5,
    tokens: int = 10_000_000,
    peer: bool = True,
) -> dict[str, Any]:
    """Real tokens per second of both and their ratio, and the seconds from nothing to a first batch far in.

    Without shards the text is random, `tokens` of it.
    """
    text = random_text(tokens) if shards is None else shards
    known = vocabularies.plain(text.vocabulary) if vocabulary is None else vocabulary
    began = time.perf_counter()
    stream = Stream(text, recipe, known, batch=batch)
    far = int(rng.generator(0, "bench").integers(stream.count(3)))
    stream.batch(Position(3, far))
    to_first = time.perf_counter() - began
    slots, real = 0, 0
    rates: dict[str, list[float]] = {"ours": [], **({"peer": []} if peer else {})}
    collated = _collated(known.size, batch, recipe.length, recipe.rate) if peer else iter(())
    with closing(stream.batches()) as made:
        next(made)  # the plan of the first epoch
        for _ in range(rounds):
            began, counted = time.perf_counter(), 0
            for _ in range(batches):
                one = next(made)[0]
                counted += int(one.mask.sum())
                slots += one.ids.size
            rates["ours"].append(counted / (time.perf_counter() - began))
            real += counted
            if peer:
                rates["peer"].append(_rate(collated, max(1, batches // 8)))
    told = {name: statistics.median(values) for name, values in rates.items()}
    result = {
        "rows": batch, "length": recipe.length, "corpus_tokens": text.tokens, "tokens_per_s": round(told["ours"]),
        "real_share": round(real / slots, 4), "first_batch_s": round(to_first, 4),
    }  # fmt: skip
    if peer:
        result |= {"peer_tokens_per_s": round(told["peer"]), "ratio": round(told["ours"] / told["peer"], 2)}
    return result


def random_text(tokens: int, size: int = VOCABULARY) -> Shards:
    """A corpus in memory of random tokens, in sentences and documents of random lengths."""
    shards = []
    for number in range(-(-tokens // _SHARD)):
        draw = rng.generator(0, "bench text", number)
        count = min(_SHARD, tokens - number * _SHARD)
        lengths = np.maximum(draw.poisson(_SENTENCE, count // _SENTENCE + 1), 1)
        sentences = np.minimum(np.cumsum(np.append(0, lengths)), count)
        sentences = np.unique(np.append(sentences, count))
        ends = np.cumsum(1 + draw.poisson(_DOCUMENT, len(sentences)))
        documents = np.append(0, np.append(ends[ends < len(sentences) - 1], len(sentences) - 1))
        starts = draw.random(count, dtype=np.float32) < _STARTS
        starts[sentences[:-1]] = True
        ids = as_ids(draw.integers(5, size, count, dtype=np.uint32), size)
        arrays = Arrays(ids, sentences, documents, np.packbits(starts, bitorder="little"))
        shards.append(Shard(Counts(count, len(sentences) - 1, len(documents) - 1), partial(_given, arrays)))
    return Shards(shards, Path(), "train", size, "", {})


def _given(arrays: Arrays) -> Arrays:
    return arrays


def _rate(made: Iterator[int], batches: int) -> float:
    began = time.perf_counter()
    return sum(next(made) for _ in range(batches)) / (time.perf_counter() - began)


def _collated(size: int, batch: int, length: int, rate: float) -> Iterator[int]:
    """transformers' batches without end: of each the tokens in it."""
    collate, rows = _collator(size, rate), rng.generator(0, "bench peer").integers(5, size, (50 * batch, length - 2))
    ready = [[{"input_ids": [2, *row.tolist(), 3]} for row in rows[i : i + batch]] for i in range(0, len(rows), batch)]
    while True:
        for one in ready:
            yield int(collate([dict(row) for row in one])["input_ids"].numel())


def _collator(size: int, rate: float) -> Callable[[list[dict[str, Any]]], Any]:
    try:
        from transformers import DataCollatorForLanguageModeling, PreTrainedTokenizerFast
    except ModuleNotFoundError:
        raise UserError("bench runs transformers beside: pip install 'litebert[peers]', or add --no-peer") from None
    from tokenizers import Tokenizer, models

    words = {name: number for number, name in enumerate(("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))}
    words |= {f"w{number}": number for number in range(len(words), size)}
    engine = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=engine, pad_token="<pad>", unk_token="<unk>", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip
    made: Callable[[list[dict[str, Any]]], Any] = DataCollatorForLanguageModeling(tokenizer, mlm_probability=rate)
    return made
