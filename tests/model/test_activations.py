"""Are the bytes of activations counted in closed form those that autograd keeps, and that inference has alive?"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from litebert.config import Config, ConfigError, Head
from litebert.model import visibility
from litebert.model.activations import activation_bytes
from litebert.model.model import Model, build

BATCH, LENGTH = 3, 5
SMALL = Config(vocab=43, embedding=10, hidden=12, layers=3, heads=3, ffn=22, max_positions=40, classifier_dropout=0.0)
RELATIVE = SMALL.but(positions="relative", max_positions=0)
ROTARY = SMALL.but(heads=2, positions="rotary", max_positions=0)
XLNET = RELATIVE.but(
    objectives=("plm",), embedding=12, pooler="none", attention_bias=False, embedding_norm=False,
    visibility="permutation",
)  # fmt: skip
WORDS, PERMUTED = {"words": Head(kind="mlm")}, {"words": Head(kind="plm")}
RATES = ("dropout", "attention_dropout", "classifier_dropout", "order_dropout", "activation_dropout", "output_dropout")
DROP = dict.fromkeys(RATES, 0.1)
DENSE = Head(kind="classify", dense="gelu_erf", source="first")


def case(config: Config, heads: dict[str, Head] | None = None, asked: int | None = None, **more: Any) -> dict[str, Any]:
    return {"config": config, "heads": heads or {}, "asked": asked, **more}


CASES: dict[str, dict[str, Any]] = {
    "absolute": case(SMALL),
    "absolute without a mask": case(SMALL, masked=False),
    "absolute, counted from an offset": case(SMALL.but(position_offset=2)),
    "absolute, pre-norm": case(SMALL.but(norm="pre")),
    "absolute, pre-norm without a last one": case(SMALL.but(norm="pre", final_norm=False)),
    "rotary": case(ROTARY),
    "rotary, pre-norm, without a mask": case(ROTARY.but(norm="pre"), masked=False),
    "relative": case(RELATIVE),
    "relative without segments": case(RELATIVE.but(segments=0)),
    "relative, pre-norm": case(RELATIVE.but(norm="pre")),
    "relative, one text": case(RELATIVE, batch=1),
    "relative, one head": case(RELATIVE.but(heads=1)),
    "relative with memory": case(RELATIVE, memory=4),
    "rotary, pre-norm, with memory": case(ROTARY.but(norm="pre"), memory=4),
    "nothing shared": case(SMALL.but(sharing="none")),
    "two groups of two inner blocks": case(SMALL.but(groups=2, inner=2)),
    "no mapping": case(SMALL.but(embedding=12)),
    "no mapping and no norm": case(SMALL.but(embedding=12, embedding_norm=False)),
    "an early mapping": case(SMALL.but(mapping="early")),
    "ReLU": case(SMALL.but(activation="relu")),
    "left to right": case(SMALL.but(visibility="left-to-right")),
    "left to right without a mask": case(SMALL.but(visibility="left-to-right"), masked=False),
    "left to right, of one token": case(SMALL.but(visibility="left-to-right"), length=1),
    "pooled by mean": case(SMALL.but(pooler="mean")),
    "pooled by maximum": case(SMALL.but(pooler="max")),
    "pooled by maximum without a mask": case(SMALL.but(pooler="max"), masked=False),
    "pooled by mean of the first and last": case(SMALL.but(pooler="first-last"), {"order": Head(kind="order")}),
    "not pooled": case(SMALL.but(pooler="none", objectives=("mlm",))),
    "words, of all": case(SMALL, WORDS),
    "words, of two": case(SMALL, WORDS, 2),
    "words, by ReLU": case(SMALL.but(head_activation="relu"), WORDS, 2),
    "words, mapped early": case(SMALL.but(mapping="early"), WORDS, 2),
    "order": case(SMALL, {"order": Head(kind="order")}),
    "replaced": case(SMALL, {"replaced": Head(kind="rtd")}),
    "class": case(SMALL, {"class": Head(kind="classify")}),
    "class after a dense layer": case(SMALL, {"class": DENSE}),
    "class of a mean": case(SMALL.but(pooler="mean"), {"class": Head(kind="classify"), "order": Head(kind="order")}),
    "tag": case(SMALL.but(pooler="none", objectives=("mlm",)), {"tag": Head(kind="tag")}),
    "span": case(SMALL, {"span": Head(kind="span")}),
    "span-answerable": case(SMALL, {"answerable": Head(kind="span-answerable")}),
    "words and order": case(SMALL, {**WORDS, "order": Head(kind="order")}, 2),
    "dropout": case(SMALL.but(**DROP), {**WORDS, "order": Head(kind="order")}, 2),
    "dropout, but none after the FFN": case(SMALL.but(**DROP, ffn_output_dropout=False), WORDS, 2),
    "dropout, relative, pre-norm": case(RELATIVE.but(**DROP, norm="pre"), {"class": Head(kind="classify")}),
    "dropout, ReLU, rotary": case(ROTARY.but(**DROP, activation="relu"), {"tag": Head(kind="tag")}),
    "dropout, class after a dense layer": case(SMALL.but(**DROP), {"class": DENSE}),
    "dropout of the head alone": case(SMALL, {"tag": Head(kind="tag", dropout=0.2)}),
    "dropout of all but the head": case(SMALL.but(**DROP), {"class": Head(kind="classify", dropout=0.0)}),
    "dropout, span-answerable": case(SMALL.but(**DROP), {"answerable": Head(kind="span-answerable")}),
    "dropout of attention alone": case(SMALL.but(attention_dropout=0.1)),
    "dropout of attention alone, relative": case(RELATIVE.but(attention_dropout=0.1)),
    "a query stream": case(XLNET, PERMUTED, 2),
    "a query stream without a mask": case(XLNET, PERMUTED, 2, masked=False),
    "a query stream of one text": case(XLNET, PERMUTED, 2, batch=1),
    "a query stream of one token": case(XLNET.but(positions="rotary", heads=2), PERMUTED, 1, length=1),
    "permuted words without a query stream": case(RELATIVE, PERMUTED, 2),
    "a query stream with memory": case(XLNET, PERMUTED, 2, memory=4),
    "a query stream, pre-norm": case(XLNET.but(norm="pre"), PERMUTED, 2),
    "a query stream, E below H": case(XLNET.but(embedding=10), PERMUTED, 2),
    "a query stream under dropout": case(XLNET.but(**DROP), PERMUTED, 2),
    "a rotary query stream": case(ROTARY.but(objectives=("plm",), visibility="permutation"), PERMUTED, 2),
    "the fused kernel": case(SMALL, fused=True),
    "the fused kernel without a mask": case(SMALL, masked=False, fused=True),
    "the fused kernel, rotary, left to right": case(ROTARY.but(visibility="left-to-right"), fused=True),
    "the fused kernel, with memory": case(ROTARY, memory=4, fused=True),
    "the fused kernel, a query stream": case(
        ROTARY.but(objectives=("plm",), visibility="permutation"), PERMUTED, 2, fused=True
    ),
}


def forward(
    model: Model, batch: int, length: int, asked: int | None = None, memory: int = 0, masked: bool = True,
    keep: Callable[[Tensor], None] = lambda tensor: None,
) -> None:  # fmt: skip
    """One forward pass, heads included, with all that the config has a use for; `keep` is shown every input."""
    config, device = model.config, next(model.parameters()).device
    ids = torch.arange(batch * length, device=device).reshape(batch, length) % (config.vocab - 1) + 1
    mask = torch.ones(batch, length, dtype=torch.long, device=device) if masked else None
    segments = torch.zeros_like(ids) if config.segments else None
    past = [torch.zeros(batch, memory, config.hidden, device=device) for _ in range(config.depth)] if memory else None
    places = None if asked is None else ids.new_zeros(batch, asked)
    starts = ids.new_zeros(batch)
    two = asked is not None and "plm" in config.objectives
    visible = None
    if config.visibility == "permutation":
        rank = torch.arange(length).expand(batch, length)
        visible = visibility.permutation(rank, rank >= 0)[1]
        visible = torch.cat([visible.new_ones(batch, 1, length, memory), visible], dim=-1)
    for given in (ids, mask, segments, places, starts, *(past or ())):
        if given is not None:
            keep(given)
    out = model(ids, mask, segments, visible=visible, memory=past, targets=places if two else None)
    for name, head in model.specs.items():
        where = {"mlm": places, "plm": None if two else places, "span-answerable": starts}.get(head.kind)
        model.logits(name, out, where)


def kept(config: Config, heads: dict[str, Head], fused: bool, **given: Any) -> int:
    """Bytes of the storages that autograd keeps, parameters and inputs left out."""
    model = build(config, heads).train()
    model.path = "fused" if fused else "eager"
    known = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, tuple[int, Tensor]] = {}  # the tensor is held, so that no address comes twice

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        inputs: list[Tensor] = []
        forward(model, **given, keep=inputs.append)
    known |= {tensor.untyped_storage().data_ptr() for tensor in inputs}
    return sum(size for address, (size, _) in storages.items() if address not in known)


@pytest.mark.parametrize("name", CASES)
def test_autograd_keeps_what_is_counted(name: str) -> None:
    given = {"batch": BATCH, "length": LENGTH, "masked": True, "memory": 0, "fused": False, **CASES[name]}
    assert kept(**given) == sum(activation_bytes(**given, training=True).values())


AXES: list[list[dict[str, Any]]] = [
    [{}, {"positions": "rotary"}, {"positions": "relative"}],
    [{}, {"norm": "pre"}],
    [{}, DROP],
    [{"activation": "gelu_erf"}, {"activation": "relu"}],
    [{"embedding": 10}, {"embedding": 12}, {"mapping": "early"}],
    [{"pooler": "cls"}, {"pooler": "mean"}, {"pooler": "max"}],
    [{"heads": 2}, {"heads": 1}],
    [{}, {"visibility": "left-to-right"}],
]


def test_autograd_keeps_what_is_counted_in_any_combination() -> None:
    heads = {**WORDS, "order": Head(kind="order"), "tag": Head(kind="tag"), "class": DENSE}
    for i, chosen in enumerate(list(itertools.product(*AXES))[::11]):
        config = SMALL.but(layers=2, **dict(itertools.chain(*(axis.items() for axis in chosen))))
        given: dict[str, Any] = {"config": config, "heads": heads, "asked": 2, "memory": 0, "fused": False,
                                 "batch": 1 + i % 3, "length": LENGTH, "masked": i % 2 == 0}  # fmt: skip
        assert kept(**given) == sum(activation_bytes(**given, training=True).values()), given


class Living(TorchDispatchMode):
    """The most bytes that tensors made meanwhile held at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.sizes: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        storages = [[leaf.untyped_storage() for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]
                    for tree in ((args, kwargs), result)]  # fmt: skip
        given = {id(storage) for storage in storages[0]}
        for storage in storages[1]:
            if id(storage) not in given and id(storage) not in self.sizes:
                self.sizes[id(storage)] = storage.nbytes()
                weakref.finalize(storage, self.forget, id(storage))
                self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        return result

    def forget(self, key: int) -> None:
        self.now -= self.sizes.pop(key)


def alive(config: Config, length: int, fused: bool, memory: int = 0) -> int:
    """The peak of a forward pass of four texts without gradient; only the meta device has no fused kernel."""
    model = build(config, device="cpu" if fused else "meta").eval()
    model.path = "fused" if fused else "eager"
    with torch.no_grad(), Living() as living:
        forward(model, 4, length, memory=memory)
    return living.peak - config.depth * 4 * memory * config.hidden * 4  # the memory is an input


INFERRED = Config(vocab=50, embedding=16, hidden=64, layers=4, heads=4, max_positions=128, ffn=64)


@pytest.mark.parametrize("length, ffn", [(128, 64), (16, 512)], ids=["attention leads", "the FFN leads"])
@pytest.mark.parametrize("changes", [
    {"norm": "post"}, {"norm": "pre"}, {"norm": "post", "layers": 1}, {"norm": "post", "inner": 3},
], ids=["post-norm", "pre-norm", "one layer", "inner blocks"])  # fmt: skip
@pytest.mark.parametrize("fused", [False, True], ids=["by products", "fused"])
@pytest.mark.parametrize("positions", ["absolute", "rotary", "relative"])
def test_inference_peaks_within_a_tenth_of_what_is_counted(
    positions: str, fused: bool, changes: dict[str, Any], length: int, ffn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litebert.model.linear._given", lambda *_: None)
    config = INFERRED.but(positions=positions, ffn=ffn, **changes)
    counted = activation_bytes(config, 4, length, fused=fused)
    assert alive(config, length, fused) == pytest.approx(sum(counted.values()), rel=0.1)


@pytest.mark.parametrize("positions", ["rotary", "relative"])
def test_scores_reach_into_the_memory(positions: str) -> None:
    config = INFERRED.but(positions=positions, layers=1)
    counted = activation_bytes(config, 4, 32, memory=96)
    assert alive(config, 32, fused=False, memory=96) == pytest.approx(sum(counted.values()), rel=0.1)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")
def test_onednn_halves_the_transient_of_the_ffn() -> None:
    config = INFERRED.but(ffn=512)
    counted = sum(activation_bytes(config, 4, 16, fused=True).values()) - 4 * 4 * 16 * 512
    assert alive(config, 16, fused=True) == pytest.approx(counted, rel=0.1)


def test_half_the_width_halves_the_numbers_and_not_the_places() -> None:
    wide, narrow = (activation_bytes(SMALL, BATCH, LENGTH, each, training=True) for each in (4, 2))
    assert {part: wide[part] - 2 * narrow[part] for part in wide if wide[part] != 2 * narrow[part]} == {
        "embedding": -8 * LENGTH
    }


def test_a_mask_is_the_rule_and_memory_the_exception() -> None:
    config = ROTARY.but(pooler="mean")
    given = {"training": True, "heads": {}, "asked": None, "bytes_each": 4}
    rule = activation_bytes(config, BATCH, LENGTH, training=True)
    assert rule == activation_bytes(config, BATCH, LENGTH, **given, memory=0, masked=True, fused=False)
    assert rule != activation_bytes(config, BATCH, LENGTH, **given, masked=False)


def test_a_text_that_cannot_be_read_takes_no_memory() -> None:
    with pytest.raises(ConfigError, match="length 41 exceeds max_positions 40: choose a shorter text"):
        activation_bytes(SMALL, 1, 41)
