"""Does the whole family work here? A tiny twin of every preset, counted, run, padded, saved and loaded."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from litebert import family, presets
from litebert.config import Config
from litebert.interop import folder
from litebert.model import cost
from litebert.model.model import Model, build
from litebert.model.sharing import runs, sharing_map

_CLOSE = 1e-5


class Twin(NamedTuple):
    """A preset, its tiny twin's checks by name (value, passed), and what the preset itself counts."""

    name: str
    family: str
    parameters: int
    sharing: str
    checks: dict[str, tuple[str, bool]]

    @property
    def passed(self) -> bool:
        """Whether every check held."""
        return all(held for _, held in self.checks.values())

    def summary(self) -> str:
        """The checks in one line."""
        return "  ".join(f"{what} {value}" for what, (value, _) in self.checks.items())


def shrunk(config: Config) -> Config:
    """A twin of the same kind that runs in milliseconds: same axes, same switches, small numbers."""
    heads, layers = min(config.heads, 4), min(config.layers, 4)
    hidden = 16 * heads
    return config.but(
        vocab=200, hidden=hidden, heads=heads, layers=layers, ffn=2 * hidden, groups=min(config.groups, layers),
        embedding=hidden if config.embedding == config.hidden else 16,
        max_positions=min(config.max_positions, 64), memory=min(config.memory, 16), reuse=min(config.reuse, 8),
        # weights of the usual 0.02 leave so narrow a model almost linear: its checks would see nothing
        init_std=0.2,
    )  # fmt: skip


def twins() -> Iterator[Twin]:
    """Every preset's twin, checked, one after another."""
    for name in presets.names():
        config = presets.preset(name)
        stored = sharing_map(config)
        shared = f"attention {runs(stored.attention)} ffn {runs(stored.ffn)}"
        yield Twin(name, family.family(config), cost.total(config), shared, check(shrunk(config)))


def check(config: Config) -> dict[str, tuple[str, bool]]:
    """The checks of one model: what was found, and whether it is right."""
    heads = family.pretraining_heads(config)
    model = build(config, heads, seed=0).eval()
    built, counted = sum(p.numel() for p in model.parameters()), sum(cost.parameters(config, heads).values())
    gaps = {"paths": _paths(model), "padding": _padding(model), "reload": _reload(model)}
    found = {"parameters": (f"{built:,}", built == counted)}
    return found | {what: (f"{gap:.0e}" if gap else "0", gap <= _CLOSE) for what, gap in gaps.items()}


def write_report(rows: Sequence[Twin], target: Path) -> Path:
    """family.md and family.json in a folder; gives back the first."""
    target.mkdir(parents=True, exist_ok=True)
    lines = [
        "# The family", "",
        "Parameters: encoder with pooler. A tiny twin of each was built, run and checked: its parameters against the",
        "closed form; largest difference between the two attention paths, with and without padding, before and after",
        "saving and loading.", "",
        "| preset | family | parameters | which weights run | twin: parameters | paths | padding | reload |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for twin in rows:
        cells = " | ".join(f"{value}{'' if held else ' **FAILED**'}" for value, held in twin.checks.values())
        lines.append(f"| {twin.name} | {twin.family} | {twin.parameters:,} | {twin.sharing} | {cells} |")
    page = target / "family.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = [{**twin._asdict(), "passed": twin.passed} for twin in rows]
    (target / "family.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return page


def _text(model: Model, length: int = 12) -> Tensor:
    config = model.config
    ids = torch.randint(0, config.vocab, (2, length), generator=torch.Generator().manual_seed(0))
    ids[ids == config.pad] = (config.pad + 1) % config.vocab
    return ids


def _paths(model: Model) -> float:
    """Eager against fused attention, gradients off."""
    outs = []
    for path in ("eager", "fused"):
        model.path = path
        outs.append(_last(model, _text(model)))
    model.path = "auto"
    return _gap(*outs)


def _padding(model: Model) -> float:
    """The same text alone and with padding behind it: real tokens must not notice."""
    ids = _text(model)
    padded = torch.nn.functional.pad(ids, (0, 5), value=model.config.pad)
    return _gap(_last(model, ids), _last(model, padded, (padded != model.config.pad).long())[:, : ids.shape[1]])


def _reload(model: Model) -> float:
    """Before and after a folder."""
    with tempfile.TemporaryDirectory() as place:
        folder.save(model, place)
        return _gap(_last(model, _text(model)), _last(folder.load(place), _text(model)))


def _last(model: Model, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    with torch.inference_mode():
        last: Tensor = model(ids, mask).last
        return last


def _gap(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())
