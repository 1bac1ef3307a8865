"""How many bytes does one forward pass leave alive, with and without the backward pass to come? In closed form.

The sub-layers are taken in the order in which they run, each with the tensors that autograd keeps for it; no torch is
loaded. Symbols: B batch, T tokens, K keys (memory and tokens), N heads, D head width, H hidden, R = K + T distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from litebert import family
from litebert.config import Config, Head
from litebert.model import cost


class _Pass(NamedTuple):
    """The sizes of one forward pass, and the bytes of one number."""

    batch: int
    length: int
    keys: int  # memory and length
    targets: int  # rows of the query stream; 0 = it does not run
    masked: bool  # a padding mask is given
    fused: bool
    each: int

    @property
    def streams(self) -> tuple[int, ...]:
        """Rows a text that ask, stream by stream."""
        return (self.length, self.targets) if self.targets else (self.length,)


def activation_bytes(
    config: Config, batch: int, length: int, bytes_each: int = 4, training: bool = False, *,
    heads: Mapping[str, Head] = {}, asked: int | None = None, memory: int = 0, masked: bool = True, fused: bool = False,
) -> dict[str, int]:  # fmt: skip
    """Bytes of one forward pass by component; the batch itself is not counted.

    training=False: the peak of what is alive at once, to within a tenth for a batch of texts: the states before the
    last block, and the transient of the larger sub-layer. Where oneDNN folds the activation in, that of the FFN is
    half. Heads are not counted.

    training=True: what autograd keeps for the backward pass, exactly, in float32 on CPU, of any positions, norm,
    sharing, mask, heads (asked by place) and memory, with segments given where the model has them. Dropout counts where
    its rate is above 0: a noise of the tensor's own width (CUDA keeps a byte) and, where what it dropped is kept too, a
    second copy. What a loss keeps of the logits is the loss's. An estimate only: bytes_each other than 4, and the fused
    kernel with attention_dropout or relative positions, which it leaves to the products.

    asked, memory: as in `cost.macs`. masked: a padding mask is given. fused: attention by PyTorch's kernel, not by
    batched products (`Model.path`).
    """
    cost.refuse_length(config, length)
    run = _Pass(batch, length, memory + length, cost.query_rows(config, heads, asked), masked, fused, bytes_each)
    sizes = _kept(config, run, heads, asked) if training else _peak(config, run)
    return {name: size for name, size in sizes.items() if size}


def _peak(config: Config, run: _Pass) -> dict[str, int]:
    """Without gradient. A state is B·T·H numbers; the sub-layer that needs more sets the peak."""
    state = run.batch * run.length * config.hidden
    scores = run.batch * config.heads * run.length * run.keys
    relative = config.positions == "relative"
    # Scores and weights, and for relative positions the terms by distance and by content as well.
    weights = scores * (4 if relative else 0 if run.fused else 2)
    # Query, key and value; with a copy of the values and the mixture, or later with mixture, projection, sum and norm.
    pairs = 2 * run.batch * run.keys * config.hidden
    attention = state + pairs + max(state + pairs // 2 + weights, 4 * state)
    ffn = 2 * state + 2 * run.batch * run.length * config.ffn
    return {
        "states": run.each * config.depth * state,
        "distances": run.each * (run.keys + run.length) * config.hidden * relative,
        "attention": run.each * attention * (attention >= ffn),
        "ffn": run.each * ffn * (attention < ffn),
    }


def _kept(config: Config, run: _Pass, heads: Mapping[str, Head], asked: int | None) -> dict[str, int]:
    """What autograd keeps, by component."""
    # The query stream's first input is one weight, seen from every row; it becomes rows, with a noise, under dropout.
    start = run.each * run.batch * run.targets * config.hidden * (1 if config.dropout else -1)
    sizes = {
        "embedding": _kept_embedding(config, run),
        "surroundings": _kept_surroundings(config, run),
        "attention": config.depth * sum(_kept_attention(config, run, i) for i in range(len(run.streams))) + start,
        "attention weights": run.each * config.depth * sum(_kept_weights(config, run, rows) for rows in run.streams),
        "ffn": run.each * config.depth * sum(_kept_ffn(config, run.batch * rows) for rows in run.streams),
        "last": _kept_last(config, run),
    }
    read = set()  # of what the pooler and the heads read, one copy serves them all
    if not run.targets:
        sizes["pooler"], source = _kept_pooler(config, run)
        read.add(source)
    for name, head in heads.items():
        count, source = _kept_head(config, head, run, asked)
        sizes[f"head {name}"] = run.each * count
        read.add(source)
    rows = run.batch * (run.targets or run.length)
    sizes["last"] += run.each * rows * config.hidden * len(read & {"last", "dropped last"})
    sizes["pooler"] = sizes.get("pooler", 0) + run.each * run.batch * config.hidden * ("pooled" in read)
    return sizes


def _copies(activation: str, dropout: float) -> int:
    """Copies kept between two products, in widths of the one in between: of activation, dropout and what is read."""
    own = activation != "none"  # GELU keeps what it was given; ReLU, tanh and softmax what they gave
    if dropout:
        return own + 2  # the noise, and the product of both
    return 2 if activation.startswith("gelu") else 1


def _sublayer(config: Config, rows: int) -> int:
    """Its input, the norm's other side, and the norm's mean and deviation: as much for pre-norm as for post-norm."""
    return rows * (2 * config.hidden + 2)


def _kept_embedding(config: Config, run: _Pass) -> int:
    tokens, width = run.batch * run.length, cost.meeting_width(config)
    count = tokens * config.embedding * config.mapped + tokens * (width + 2) * config.embedding_norm
    count += tokens * width * (config.dropout > 0)
    places = 8 * run.length * (run.batch if config.position_offset else 1) * (config.positions == "absolute")
    return run.each * count + places


def _kept_surroundings(config: Config, run: _Pass) -> int:
    """Made once: the sinusoids, which pairs differ in segment, which rows see anyone; the fused kernel keeps who."""
    size = 0
    if config.positions == "relative":
        size += run.each * (run.keys + run.length) * config.hidden
        size += run.batch * sum(run.streams) * run.keys * (config.segments > 0)
    texts = 1 if config.visibility == "left-to-right" and not run.masked else run.batch
    for rows in run.streams:
        if _sees_by_row(config, run):
            size += run.each * texts * (rows + rows * run.keys * _fuses(config, run))
        elif run.masked:
            size += run.each * texts * (1 + run.keys * _fuses(config, run))
    return size


def _sees_by_row(config: Config, run: _Pass) -> bool:
    """Whether who is seen depends on who looks; a query stream's model has it so with every mask."""
    return config.visibility != "bidirectional" or ("plm" in config.objectives and run.masked)


def _fuses(config: Config, run: _Pass) -> bool:
    """Relative scores carry a gradient, which the fused kernel has not: it then falls back to the products."""
    return run.fused and config.positions != "relative"


def _kept_weights(config: Config, run: _Pass, rows: int) -> int:
    """Of every head and row all weights, or from the fused kernel the logarithm of their sum."""
    every = run.batch * config.heads * rows
    return every if _fuses(config, run) else every * run.keys * _copies("softmax", config.attention_dropout)


def _kept_attention(config: Config, run: _Pass, again: int) -> int:
    """One block's attention without its weights; `again`: the query stream, which reads keys and values made before."""
    batch, keys, hidden, each = run.batch, run.keys, config.hidden, run.each
    rows = batch * run.streams[again]
    # A batched product wants its matrices in one piece, so of keys and values every product keeps its own copy, and of
    # a matrix shared by the texts one for each; a single text or head is in one piece as it is.
    pieces = batch if config.heads > 1 else 1
    count = _sublayer(config, rows) + 2 * rows * hidden  # query, mixture
    count += rows * hidden * (config.dropout > 0)
    copied = pieces > 1 and keys > 1 and not _fuses(config, run)
    if not again or copied:
        count += 2 * batch * keys * hidden
    if not again and config.norm == "pre":
        count += batch * keys * (hidden + 2)  # the norm is taken for queries and for keys
    if not again and keys > run.length:
        count += batch * keys * hidden  # memory and states in one
    if _fuses(config, run) and (run.masked or _sees_by_row(config, run)):
        count += rows * hidden  # the kernel keeps its result, and the zeroed rows are another
    if config.positions == "rotary":
        return each * count + 4 * config.head_width * (rows if again else run.length + keys)
    if config.positions == "relative":
        count += rows * hidden + pieces * (keys + run.length) * hidden
        if config.segments:
            count += rows * hidden + (2 * hidden * pieces if pieces > 1 else 0)
        # The query stream picks its columns by index, and keeps both.
        return each * (count + again * config.heads * rows * (keys + run.length)) + again * 8 * rows * keys
    return each * count


def _kept_ffn(config: Config, rows: int) -> int:
    count = _sublayer(config, rows) + rows * config.ffn * _copies(config.activation, config.activation_dropout)
    return count + rows * config.hidden * (config.dropout > 0 and config.ffn_output_dropout)


def _kept_last(config: Config, run: _Pass) -> int:
    """The closing norm of a pre-norm stack, and the dropout of the last state."""
    count = 0
    if config.norm == "pre" and config.final_norm:
        count += sum(run.batch * rows * (config.hidden + 2) for rows in run.streams)
    if config.output_dropout:
        count += run.batch * (run.targets or run.length) * config.hidden
    return run.each * count


def _kept_pooler(config: Config, run: _Pass) -> tuple[int, str]:
    """(bytes, what it reads and keeps)."""
    pooled, weights = run.batch * config.hidden, run.batch * (run.length + 1) * run.masked
    match config.pooler:
        case "cls":
            return run.each * pooled, "last"
        case "mean":
            return run.each * weights, ""
        case "first-last":
            return run.each * 2 * weights, ""
        case "max" if run.masked:
            return run.each * (pooled + run.batch * run.length * config.hidden) + run.batch * run.length, ""
        case "max":
            return run.each * pooled, "last"
    return 0, ""


def _kept_head(config: Config, head: Head, run: _Pass, asked: int | None) -> tuple[int, str]:
    """(numbers, what it reads and keeps as it is)."""
    batch, hidden, tokens = run.batch, config.hidden, run.batch * run.length
    last = "dropped last" if config.output_dropout else "last"
    rate = family.head_dropout(config, head)
    dropped = rate > 0
    match head.kind:
        case "mlm" | "plm":
            return _kept_decoder(config, head, run, asked, last)
        case "order" if config.order_dropout:
            return 2 * batch * hidden, ""
        case "order":
            return 0, _pooled(config)
        case "rtd":
            return tokens * hidden * _copies(config.activation, 0.0), last
        case "tag":
            return (2 * tokens * hidden, "") if dropped else (0, last)
        case "span":
            return 0, last
        case "span-answerable":  # [token; start] and [start; CLS]: pairs, tanh, norm
            ends = tokens * (2 * hidden + 2 * hidden + 2)
            return ends + batch * hidden * (2 + _copies("tanh", rate)), last
    source = _pooled(config) if head.source == "pooled" else last
    count = 0
    if head.dense == "none":
        return (2 * batch * hidden, "") if dropped else (0, source)
    if head.first_dropout and dropped:
        count, source = 2 * batch * hidden, ""
    return count + batch * hidden * _copies(head.dense, rate), source


def _kept_decoder(config: Config, head: Head, run: _Pass, asked: int | None, last: str) -> tuple[int, str]:
    """A language-model head: the rows it was asked for, then its dense layer, norm and the way back to width E."""
    hidden, width = config.hidden, cost.meeting_width(config)
    rows = run.batch * (run.length if asked is None else asked)
    gathers = asked is not None and not run.targets  # the query stream has no other rows
    count = rows * hidden * gathers + rows * config.embedding * (config.mapping == "early")
    if head.kind == "mlm":
        count += rows * (width * _copies(config.head_activation or config.activation, 0.0) + 2 + width)
    elif hidden != width:
        count += rows * width
    return count, last


def _pooled(config: Config) -> str:
    """A mean is kept only if someone multiplies it; tanh and maximum are kept by themselves."""
    return "pooled" if config.pooler in ("mean", "first-last") else ""
