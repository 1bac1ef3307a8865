"""Does a model whose weights were laid out for their products say what it said before?"""

from __future__ import annotations

import pytest
import torch

from litebert import presets
from litebert.model import packing
from litebert.model.model import build

PRESETS = ("albert-base", "bert-base", "xlnet-base", "roberta-base")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("preset", PRESETS)
def test_packed_weights_compute_the_same(preset: str, dtype: torch.dtype) -> None:
    config = presets.preset(preset).but(vocab=60, embedding=48, hidden=48, layers=2, heads=4, ffn=80, init_std=0.2)
    model = build(config, seed=0).to(dtype).eval()
    ids = torch.randint(6, 60, (5, 9), generator=torch.Generator().manual_seed(0))
    mask = torch.ones(5, 9, dtype=torch.bool)
    mask[2, 6:] = False
    with torch.inference_mode():
        before = model(ids, mask).last
        count = packing.pack(model)
        after = model(ids, mask).last
    torch.testing.assert_close(after, before, atol=2e-2 if dtype == torch.bfloat16 else 1e-5, rtol=1e-2)
    if torch.backends.mkldnn.is_available() and dtype == torch.float32:
        assert count == sum(isinstance(layer, torch.nn.Linear) for layer in model.encoder.modules())
    assert packing.pack(model) == 0


def test_a_layer_that_is_more_than_its_weight_stays_as_it_is() -> None:
    """Who hooked it is called with PyTorch's own product, which knows no weights laid out."""
    config = presets.preset("albert-base").but(vocab=60, embedding=48, hidden=48, layers=2, heads=4, ffn=80)
    model = build(config, seed=0).eval()
    hooked, called = next(one for one in model.encoder.modules() if type(one) is torch.nn.Linear), list[int]()
    hooked.register_forward_hook(lambda *_: called.append(1))
    ids = torch.arange(6, 11)[None]
    with torch.inference_mode():
        before = model(ids).last
        packing.pack(model)
        torch.testing.assert_close(model(ids).last, before, atol=1e-5, rtol=1e-5)
    assert len(called) == 4  # twice at each depth
