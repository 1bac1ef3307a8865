"""Can a compiler read the whole model as one graph, and does it then say the same?"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from litebert.model import visibility
from litebert.model.model import Model
from model.specimens import RELATIVE, ROTARY, SMALL, make, noise, tokens

IDS = tokens(2, 6)
MASK = torch.tensor([[1] * 6, [1, 1, 1, 1, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1]]).expand(2, -1)
TARGETS = torch.tensor([[1, 4], [0, 2]])
ORDER = torch.tensor([[3, 0, 6, 1, 5, 2], [4, 1, 0, 2, -1, 3]])


def albert(model: Model) -> Tensor:
    out = model(IDS, MASK, SEGMENTS)
    return model.logits("mlm", out, asked=TARGETS).sum(1) + model.logits("order", out).sum()


def xlnet(model: Model) -> Tensor:
    chosen = torch.zeros(2, 6, dtype=torch.bool).scatter(1, TARGETS, True)
    _, query = visibility.permutation(ORDER, chosen)
    return model.logits("plm", model(IDS, MASK, SEGMENTS, targets=TARGETS, visible=query))


def rotary(model: Model) -> Tensor:
    return model.logits("mlm", model(IDS, MASK))


Call = Callable[[Model], Tensor]
Use = Callable[[Model, Call, str], None]
CASES: dict[str, tuple[Config, str, Call]] = {
    "albert": (SMALL.but(layers=2), "mlm order", albert),
    "xlnet, both streams": (RELATIVE.but(layers=2), "plm", xlnet),
    "rotary, pre-norm": (ROTARY.but(layers=2, norm="pre"), "mlm", rotary),
}


@pytest.fixture(autouse=True)
def fresh_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No graph outlives its test, and no other process writes what it loads."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def slopes(model: Model, said: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    (said * noise(*said.shape)).sum().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def train(model: Model, call: Call, backend: str) -> None:
    expected, found = call(model), torch.compile(call, fullgraph=True, backend=backend)(model)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    mine, theirs = slopes(model, found), slopes(model, expected)
    assert mine.keys() == theirs.keys()
    for name, slope in mine.items():
        torch.testing.assert_close(slope, theirs[name], atol=1e-5, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")


def serve(model: Model, call: Call, backend: str) -> None:
    with torch.no_grad():
        found = torch.compile(call, fullgraph=True, backend=backend)(model)
        torch.testing.assert_close(found, call(model), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("use", [train, serve])
@pytest.mark.parametrize("config, head, call", CASES.values(), ids=CASES.keys())
def test_one_graph_says_what_eager_says(config: Config, head: str, call: Call, use: Use) -> None:
    use(make(config, head.split()), call, "aot_eager")


@pytest.mark.parametrize("use", [train, serve])
@pytest.mark.skipif(shutil.which("g++") is None, reason="the compiler makes C++, and there is no g++ to build it")
def test_generated_code_says_what_eager_says(use: Use) -> None:
    use(make(ROTARY.but(layers=1, hidden=8, heads=2, ffn=16), ["mlm"]), rotary, "inductor")


@pytest.mark.parametrize("config, head, call", CASES.values(), ids=CASES.keys())
def test_a_graph_calls_only_what_the_compiler_makes_code_for(config: Config, head: str, call: Call) -> None:
    """Inductor lowers oneDNN's fused product only where the weights are constants; elsewhere it stops with an error."""
    called: list[str] = []

    def record(graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., object]:
        called.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    model = make(config, head.split())
    with torch.no_grad():
        torch.compile(call, fullgraph=True, backend=record)(model)
    assert any("linear" in name for name in called)
    assert [name for name in called if "mkldnn" in name] == []
