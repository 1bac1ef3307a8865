"""What does a model cost before it exists? Parameters, products and operations in closed form; no torch is loaded.

Every number here is asserted against the built module. ALBERT saves parameters, not products, so both are told: what is
stored, and what is applied. Symbols: V vocabulary, E embedding, H hidden, I FFN width, B batch, T tokens, K keys
(memory and tokens), R = K + T distances, M rows of the query stream.
"""

from __future__ import annotations

from collections.abc import Mapping

from litebert import family
from litebert.config import Config, ConfigError, Head
from litebert.model.sharing import distinct, sharing_map

_STACK = ("attention", "ffn", "score biases", "final norm")  # what the encoder's loop runs
_OUTSIDE = ("mapping", "pooler")  # products outside of it, heads apart


def parameters(config: Config, heads: Mapping[str, Head] = {}) -> dict[str, int]:
    """Unique parameters by component, a shared or tied tensor counted once."""
    stored = sharing_map(config)
    attentions, ffns = distinct(stored.attention), distinct(stored.ffn)
    hidden, width = config.hidden, meeting_width(config)
    places = (config.max_positions + config.position_offset) * (config.positions == "absolute")
    counts = {
        "word embedding": config.vocab * config.embedding,
        "position embedding": places * width,
        "segment embedding": config.segments * width * (config.positions != "relative"),
        "embedding norm": 2 * width * config.embedding_norm,
        "mapping": config.mapped * (config.embedding * hidden + hidden * (config.mapping != "early")),
        "attention": attentions * _attention_parameters(config),
        "ffn": ffns * (2 * hidden * config.ffn + config.ffn + hidden + 2 * hidden),
        "score biases": (attentions if config.untied else 1) * _bias_parameters(config),
        "final norm": 2 * hidden * _closes(config),
        "query vector": hidden * ("plm" in config.objectives),
        "pooler": (hidden * hidden + hidden) * (config.pooler == "cls"),
    }
    for name, head in heads.items():
        counts[f"head {name}"] = _head_parameters(config, head)
    return {name: count for name, count in counts.items() if count}


def applied(config: Config) -> dict[str, int]:
    """Parameters of the stack as it runs: a shared block counts every time, where `parameters` counts it once."""
    blocks = config.but(sharing="none", groups=1, untied=True)  # the model that stores every block it runs
    counts = parameters(blocks)
    return {name: counts[name] for name in _STACK if name in counts}


def total(config: Config) -> int:
    """Parameters without heads, the pooler among them: the papers' "encoder"."""
    return sum(parameters(config).values())


def without_pooler(config: Config) -> int:
    """Parameters without heads and without the pooler."""
    return total(config) - parameters(config).get("pooler", 0)


def pretraining(config: Config) -> int:
    """Parameters that pre-training needs: the encoder and its objectives' heads, the pooler only where one reads it."""
    return wearing(config, family.pretraining_heads(config))


def wearing(config: Config, heads: Mapping[str, Head]) -> int:
    """Parameters of a model that wears these heads and holds nothing that no answer of theirs depends on."""
    return sum(parameters(config, heads).values()) - sum(unread(config, heads).values())


def unread(config: Config, heads: Mapping[str, Head]) -> dict[str, int]:
    """Parameters, by component, that no answer of these heads depends on: no gradient reaches them."""
    kinds = {head.kind for head in heads.values()}
    pooled = any(reads_pooled(head) for head in heads.values())
    counts = parameters(config)
    idle = {"pooler": not pooled, "query vector": "plm" not in kinds}
    return {name: counts[name] for name, alone in idle.items() if alone and name in counts}


def macs(
    config: Config, length: int, batch: int = 1, *, heads: Mapping[str, Head] = {}, asked: int | None = None,
    memory: int = 0,
) -> dict[str, int]:  # fmt: skip
    """Multiply-adds of one forward pass, in matrix products, by component.

    asked: positions a text that the language-model heads answer for (None = all); a model with a query stream and a
    "plm" head computes them there. memory: rows of earlier text that every depth reads. Relative models are given
    segments. A "span-answerable" head is counted as it trains, from the true starts.
    """
    refuse_length(config, length)
    hidden, depth, keys = config.hidden, config.depth, memory + length
    targets = query_rows(config, heads, asked)
    rows = batch * (length + targets)  # that ask, in both streams
    relative, distances = config.positions == "relative", keys + length
    counts = {
        "mapping": batch * length * config.embedding * hidden * config.mapped,
        "attention projections": depth * (2 * rows + 2 * batch * keys) * hidden * hidden,
        "attention scores": depth * 2 * rows * keys * hidden,
        "distance projection": depth * (2 if targets else 1) * distances * hidden * hidden * relative,
        "distance scores": depth * rows * distances * hidden * relative,
        "segment scores": depth * rows * 2 * hidden * (relative and config.segments > 0),
        "ffn": depth * rows * 2 * hidden * config.ffn,
        "pooler": batch * hidden * hidden * (config.pooler == "cls" and not targets),
    }
    for name, head in heads.items():
        answers = batch * (length if asked is None or head.kind not in ("mlm", "plm") else asked)
        counts[f"head {name}"] = _head_macs(config, head, batch, length, answers)
    return {name: count for name, count in counts.items() if count}


def body_macs(config: Config, length: int) -> int:
    """Multiply-adds of the stack alone for one text: L·(T·(4H² + 2HI) + 2T²H), and the terms of relative positions."""
    return sum(count for name, count in macs(config, length).items() if name not in _OUTSIDE)


def flops(
    config: Config, length: int, batch: int = 1, *, heads: Mapping[str, Head] = {}, asked: int | None = None,
    memory: int = 0,
) -> int:  # fmt: skip
    """Floating-point operations of one forward pass: a multiply-add is two."""
    return 2 * sum(macs(config, length, batch, heads=heads, asked=asked, memory=memory).values())


def training_flops(
    config: Config, length: int, batch: int = 1, *, heads: Mapping[str, Head] = {}, asked: int | None = None,
    memory: int = 0,
) -> int:  # fmt: skip
    """Operations of one forward and backward pass: three times the forward, as a product has two gradients.

    The projected sinusoids have one, as nothing learns below them. Of a content stream's last block only keys and
    values have any: the query stream reads these, and nobody the rest.
    """
    counts = macs(config, length, batch, heads=heads, asked=asked, memory=memory)
    gradients = 2 * sum(counts.values()) - counts.get("distance projection", 0)
    if query_rows(config, heads, asked):
        block = config.but(layers=1, groups=1, inner=1)
        last = {name: n for name, n in macs(block, length, batch, memory=memory).items() if name not in _OUTSIDE}
        read = 2 * batch * (memory + length) * config.hidden**2
        gradients -= 2 * (sum(last.values()) - read) - last.get("distance projection", 0)
    return 2 * (sum(counts.values()) + gradients)


def meeting_width(config: Config) -> int:
    """Width at which words, segments and positions are added, and at which the tied matrix is met again."""
    return config.hidden if config.mapping == "early" else config.embedding


def query_rows(config: Config, heads: Mapping[str, Head], asked: int | None) -> int:
    """Rows a text of the query stream (XLNet), which runs where a "plm" head is asked for some positions; else 0."""
    runs = "plm" in config.objectives and any(head.kind == "plm" for head in heads.values())
    return asked if runs and asked is not None else 0


def reads_pooled(head: Head) -> bool:
    """Whether a head reads the pooled vector."""
    return head.kind == "order" or (head.kind in ("classify", "choice") and head.source == "pooled")


def refuse_length(config: Config, length: int) -> None:
    """An error for a text that the model could not read."""
    if length < 1:
        raise ConfigError(f"length {length} is not a number of tokens: choose 1 or more")
    if config.max_positions and length > config.max_positions:
        raise ConfigError(f"length {length} exceeds max_positions {config.max_positions}: choose a shorter text")


def _attention_parameters(config: Config) -> int:
    """Four projections and the norm; relative positions add W_R and two segment vectors."""
    hidden = config.hidden
    count = 4 * hidden * hidden + 4 * hidden * config.attention_bias + 2 * hidden
    if config.positions == "relative":
        count += hidden * hidden + 2 * hidden * (config.segments > 0)
    return count


def _bias_parameters(config: Config) -> int:
    return 3 * config.hidden * (config.positions == "relative")


def _closes(config: Config) -> bool:
    return config.norm == "pre" and config.final_norm


def _head_parameters(config: Config, head: Head) -> int:
    hidden, width = config.hidden, meeting_width(config)
    square = hidden * hidden + hidden
    match head.kind:
        case "mlm":
            return hidden * width + width + 2 * width + config.vocab
        case "plm":
            return (hidden * width + width) * (hidden != width) + config.vocab
        case "order" | "span":
            return 2 * hidden + 2
        case "rtd":
            return square + hidden + 1
        case "tag":
            return head.labels * (hidden + 1)
        case "span-answerable":  # start; end: dense, norm, out; no answer: dense, out without bias
            return hidden + 1 + (2 * square - hidden) + 2 * hidden + hidden + 1 + (2 * square - hidden) + hidden
    labels = 1 if head.kind == "choice" else head.labels
    return square * (head.dense != "none") + labels * (hidden + 1)


def _head_macs(config: Config, head: Head, batch: int, length: int, answers: int) -> int:
    hidden, width, tokens = config.hidden, meeting_width(config), batch * length
    # The tied matrix, reached through the mapping where words are mapped early.
    decoding = answers * (config.embedding * config.vocab + (hidden * config.embedding) * (config.mapping == "early"))
    match head.kind:
        case "mlm":
            return answers * hidden * width + decoding
        case "plm":
            return answers * hidden * width * (hidden != width) + decoding
        case "order":
            return batch * 2 * hidden
        case "rtd":
            return tokens * (hidden * hidden + hidden)
        case "tag":
            return tokens * head.labels * hidden
        case "span":
            return tokens * 2 * hidden
        case "span-answerable":  # every token beside the start, then the start beside CLS
            return tokens * (hidden + 2 * hidden * hidden + hidden) + batch * (2 * hidden * hidden + hidden)
    labels = 1 if head.kind == "choice" else head.labels
    return batch * (hidden * hidden * (head.dense != "none") + labels * hidden)
