"""Does a wrong call say what was wrong, by which rule, and what to do?"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from litebert.config import Config, ConfigError
from litebert.model.model import Model, build
from model.specimens import CORNERS, RELATIVE, ROTARY, SMALL, make, tokens

IDS = tokens(1, 4)
OWN_PLACES = "positions of one's own need a model without memory and without relative positions"
BAD: dict[str, tuple[Callable[[], object], str]] = {
    "too long": (lambda: make(SMALL)(tokens(1, 25)),
                 "length 25 exceeds max_positions 24: cut the text, or read it in pieces"),
    "too long for a limit that was set": (lambda: make(ROTARY.but(max_positions=3))(IDS),
                                          "length 4 exceeds max_positions 3"),
    "an id beyond the vocabulary": (lambda: make(SMALL)(IDS + 60), "is outside vocab 60: choose 0 to 59"),
    "the first id beyond it": (lambda: make(SMALL)(torch.tensor([[5, 60]])),
                               "id 60 is outside vocab 60: choose 0 to 59"),
    "a negative id": (lambda: make(SMALL)(torch.tensor([[5, -1]])), "id -1 is outside vocab 60: choose 0 to 59"),
    "a segment too many": (lambda: make(SMALL)(IDS, segments=torch.full((1, 4), 2)),
                           "segment 2 is outside segments 2: choose 0 to 1"),
    "a negative segment": (lambda: make(ROTARY)(IDS, segments=torch.full((1, 4), -3)),
                           "segment -3 is outside segments 2: choose 0 to 1"),
    "memory without a sense of distance": (lambda: make(SMALL)(IDS, memory=[torch.zeros(1, 2, 16)] * 3),
                                           "memory needs positions that reach back, these are absolute: "
                                           "use relative or rotary"),
    "memory of another depth": (lambda: make(ROTARY)(IDS, memory=[torch.zeros(1, 2, 16)] * 2),
                                "memory of 2 depths for a model of 3: pass what it gave back"),
    "positions for distances": (lambda: make(RELATIVE)(IDS, positions=torch.arange(4)[None]), OWN_PLACES),
    "positions beside a memory": (lambda: make(ROTARY)(IDS, positions=torch.arange(4)[None],
                                                       memory=[torch.zeros(1, 2, 16)] * 3), OWN_PLACES),
    "one text alone": (lambda: make(SMALL)(IDS[0]),
                       "ids [4] of torch.int64 are no texts: give whole numbers [batch, tokens]"),
    "words as fractions": (lambda: make(SMALL)(IDS.float()), "ids [1, 4] of torch.float32 are no texts"),
    "no token": (lambda: make(SMALL)(IDS[:, :0]), "ids [1, 0] of torch.int64 are no texts"),
    "a mask of another length": (lambda: make(SMALL)(IDS, torch.ones(1, 5)), "mask [1, 5] does not go with ids [1, 4]: "
                                                                             "give [batch, tokens] or "),
    "a mask of other texts": (lambda: make(SMALL)(IDS, torch.ones(2, 4)), "mask [2, 4] does not go with ids [1, 4]"),
    "a mask of one text alone": (lambda: make(SMALL)(IDS, torch.ones(4)), "mask [4] does not go with ids [1, 4]"),
    "a mask of four axes": (lambda: make(SMALL)(IDS, torch.ones(1, 1, 4, 4)), "mask [1, 1, 4, 4] does not go with"),
    "segments of another length": (lambda: make(SMALL)(IDS, segments=IDS[:, :3] * 0),
                                   "segments [1, 3] does not go with ids [1, 4]: give [batch, tokens]"),
    "segments for a model without": (lambda: make(SMALL.but(segments=0))(IDS, segments=IDS * 0),
                                     "segments for a model that has none (segments 0): leave them out"),
    "a place for every axis": (lambda: make(ROTARY)(IDS, positions=torch.ones(1, 4, 4)),
                               "positions [1, 4, 4] does not go with ids [1, 4]: give [tokens] or [batch, tokens]"),
    "a place beyond the table": (lambda: make(SMALL)(IDS, positions=torch.arange(21, 25)),
                                 "position 24 is outside max_positions 24: choose 0 to 23"),
    "a value of two axes": (lambda: make(SMALL)(IDS, visible=torch.ones(4, 4).bool()),
                            "visible [4, 4] does not go with ids [1, 4]: give [batch, 1, tokens, tokens]"),
    "a value that is no truth": (lambda: make(SMALL)(IDS, visible=torch.ones(1, 1, 4, 4)),
                                 "visible is of torch.float32: give torch.bool, true where a query may look"),
    "more frozen blocks than there are": (lambda: make(SMALL)(IDS, frozen=4),
                                          "frozen 4 is not a number of blocks: choose 0 to 3"),
    "a negative number of frozen blocks": (lambda: make(SMALL)(IDS, frozen=-1),
                                           "frozen -1 is not a number of blocks: choose 0 to 3"),
    "frozen blocks under a query stream": (lambda: make(RELATIVE)(IDS, frozen=1, targets=IDS[:, :1] * 0),
                                           "frozen 1 with targets: the query stream reads every depth, "
                                           "freeze none of them"),
    "targets without a query stream": (lambda: make(SMALL)(IDS, targets=IDS[:, :1] * 0),
                                       "targets need a query stream, and this model has none: set objectives=plm"),
    "a head that is not there": (lambda: ask(make(SMALL, ["mlm", "order"]), "tag"),
                                 "this model has no head 'tag': it has mlm, order"),
    "a place for the order": (lambda: ask(make(SMALL, ["order"]), "order", IDS[:, :1] * 0),
                              "head 'order' answers for the text as a whole: leave out asked"),
    "a place for a class": (lambda: ask(make(SMALL, ["classify"]), "classify", IDS[:, :1] * 0),
                            "head 'classify' answers for the text as a whole: leave out asked"),
    "a place for a span": (lambda: ask(make(SMALL, ["span"]), "span", IDS[:, :1] * 0),
                           "head 'span' answers for the text as a whole: leave out asked"),
    "a head where there are none": (lambda: ask(make(SMALL), "mlm"), "this model has no head 'mlm': it has none"),
    "a pooled vector that is not there": (
        lambda: ask(make(SMALL.but(pooler="none", objectives=("mlm",)), ["order"]), "order"),
        "head 'order' reads the pooled vector, but this model has none: set pooler=cls (or mean)"),
}  # fmt: skip


def ask(model: Model, name: str, asked: Tensor | None = None) -> object:
    return model.logits(name, model(IDS), asked)


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD.keys())
def test_a_wrong_call_is_refused_in_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_head_of_no_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown head 'classfy': did you mean 'classify'"):
        build(SMALL, ["classfy"])
    with pytest.raises(ConfigError, match=re.escape("heads 'mlm' is one word: write a list, as in heads=['mlm']")):
        build(SMALL, "mlm")


def test_the_longest_text_the_highest_id_and_the_last_segment_pass() -> None:
    model = make(SMALL)
    ids, segments = torch.full((1, 24), 59), torch.ones(1, 24, dtype=torch.long)
    assert model(ids, segments=segments, frozen=3).last.isfinite().all()


def test_one_row_may_stand_for_every_text_and_every_query() -> None:
    model, ids = make(SMALL), tokens(3, 4)
    mask, segments = torch.tensor([[1, 1, 1, 0]]), torch.tensor([[0, 0, 1, 1]])
    plain = model(ids, mask.expand(3, -1), segments.expand(3, -1), positions=torch.arange(4).expand(3, -1)).last
    assert torch.equal(model(ids, mask, segments, positions=torch.arange(4)).last, plain)
    assert torch.equal(model(ids, mask[:, None], segments).last, plain)
    assert torch.equal(model(ids, segments=segments, visible=mask.bool()[:, None, None]).last, plain)


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_no_text_at_all_is_an_empty_answer(config: Config) -> None:
    model = make(config, ["mlm", "classify"])
    out = model(IDS[:0], torch.ones(0, 4), torch.zeros(0, 4, dtype=torch.long))
    assert out.last.shape == (0, 4, 16)
    assert (model.logits("mlm", out).shape, model.logits("classify", out).shape) == ((0, 4, 60), (0, 2))


def test_relative_models_take_any_segment_and_any_length() -> None:
    segments = torch.tensor([[0, 1, 2, 99] * 10])
    assert make(RELATIVE)(tokens(1, 40), segments=segments).last.isfinite().all()
