"""Is a step of LAMB the documented one, in every documented variant? Trajectories computed by hand, and a reference."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from litebert.errors import UserError
from litebert.optim import norms
from litebert.optim.groups import Treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import Rule, names, rule
from optim.toys import RATE, Reference, give_gradients, parameter, shapes, trace

# rule, what else -> step: (weights, trust ratio); None = not listed
GOOGLE = {
    1: ([2.964700460337, 3.964588949471], 1.105894578969),
    2: ([2.917073182258, 3.951083994136], 1.152900493155),
    3: ([2.881587010223, 3.917131532337], 1.103632847802),
}
GOLDEN = {
    "google": (rule("lamb", clip=0.0), {}, GOOGLE),
    "google, excluded": (rule("lamb", clip=0.0), {"excluded": True}, {
        1: ([2.968380556380, 3.968379723201], 1.0),
        2: ([2.927366194866, 3.957062287085], 1.0),
        3: ([2.895503937117, 3.926693122867], 1.0),
    }),
    "bias-corrected": (rule("lamb-paper", clip=0.0), {}, {
        1: ([2.964815885022, 3.964474262101], 3.415944547782),
        2: ([2.917498692599, 3.949920834950], 4.756318205707),
        3: ([2.882260124745, 3.915721263929], 5.237173134487),
    }),
    "bias-corrected, clipped": (rule("lamb-paper", clip=0.25), {}, {
        1: ([2.964815899807, 3.964474247459], None),
        3: ([2.884567014119, 3.911389090655], None),
    }),
    "ratio at most 1": (rule("lambc", clip=0.0), {}, {
        1: ([2.989700033333, 3.989600025000], 1.0),
        3: ([2.973014490926, 3.980003882769], 1.0),
    }),
    "from zero": (rule("lamb", clip=0.0), {"start": (0.0, 0.0)}, {1: ([-0.031619443620, -0.031620276799], 1.0)}),
}  # fmt: skip
VARIANTS = {name: rule(name) for name in names()} | {
    "no decay": rule("lamb", decay=0.0),
    "other betas": rule("lamb-paper", beta1=0.8, beta2=0.98, eps=1e-3),
    "a limit of two": rule("lamb-paper", ratio_limit=2.0),
}


@pytest.mark.parametrize(("which", "more", "steps"), GOLDEN.values(), ids=GOLDEN.keys())
def test_the_trajectory_of_two_weights_is_the_one_computed_by_hand(
    which: Rule, more: dict, steps: dict[int, tuple[list[float], float | None]]
) -> None:
    found = trace(which, **more)
    for step, (weights, ratio) in steps.items():
        assert found[step - 1][0] == pytest.approx(weights, abs=1e-10, rel=0)
        assert ratio is None or found[step - 1][1] == pytest.approx(ratio, abs=1e-10, rel=0)


@pytest.mark.parametrize(("which", "more", "steps"), GOLDEN.values(), ids=GOLDEN.keys())
def test_float32_stays_by_it(which: Rule, more: dict, steps: dict[int, tuple[list[float], float | None]]) -> None:
    found = trace(which, dtype=torch.float32, **more)
    for step, (weights, ratio) in steps.items():
        assert found[step - 1][0] == pytest.approx(weights, abs=2e-6, rel=0)
        assert ratio is None or found[step - 1][1] == pytest.approx(ratio, abs=0, rel=1e-5)


def test_a_weight_at_zero_leaves_it() -> None:
    """Without the guard the ratio is 0 and a tensor that starts at zero never moves (cybertronai/pytorch-lamb)."""
    for which in (rule("lamb"), rule("lamb-paper"), rule("lamb-brightmart"), rule("lambc")):
        weights = trace(which, start=(0.0, 0.0))[0][0]
        assert all(weight < -0.005 for weight in weights)


def test_a_step_of_nothing_divides_by_nothing() -> None:
    weight = parameter([3.0, 4.0])
    optimizer = Lamb([Treated("w", weight)], rule("lamb", decay=0.0))
    weight.grad = torch.zeros(2, dtype=torch.float64)
    optimizer.step(RATE)
    assert (weight.tolist(), optimizer.trust()) == ([3.0, 4.0], {"w": 1.0})


def test_the_first_raw_step_is_ten_over_root_ten_without_correction_and_one_with_it() -> None:
    for which, size in (("adam-google", 0.1 / math.sqrt(0.001)), ("adamw", 1.0)):
        weight = parameter([3.0, -4.0])
        optimizer = Lamb([Treated("w", weight)], rule(which, decay=0.0, eps=1e-12, clip=0.0))
        weight.grad = torch.tensor([0.3, -0.4], dtype=torch.float64)
        optimizer.step(1.0)
        assert weight.tolist() == pytest.approx([3.0 - size, -4.0 + size], abs=1e-8)
    assert size == 1.0


@pytest.mark.parametrize("which", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 3e-6)], ids=["f64", "f32"])
def test_twenty_steps_of_many_tensors_are_the_formula(which: Rule, dtype: torch.dtype, close: float) -> None:
    mine = [one._replace(factor=0.5 if one.name.startswith("map") else 1.0) for one in shapes(dtype)]
    optimizer, reference = Lamb(mine, which), Reference(which, mine)
    for step in range(20):
        give_gradients(mine, step, size=0.3 if step % 2 else 0.01)  # clipped, and not
        reference.step(1e-2, mine)
        optimizer.step(1e-2)
    for one in mine:
        torch.testing.assert_close(one.tensor.detach(), reference.state[one.name][0], atol=close, rtol=0)


def test_adamw_is_torchs() -> None:
    mine, theirs = shapes(), shapes()
    sets = [{"params": [one.tensor for one in theirs if one.excluded is out], "weight_decay": 0.0 if out else 0.01}
            for out in (True, False)]  # fmt: skip
    peer = torch.optim.AdamW(sets, lr=1.0, eps=1e-6)
    optimizer = Lamb(mine, rule("adamw", clip=0.0))
    for step in range(50):
        rate = 1e-3 * (1 + step % 7)
        for group in peer.param_groups:
            group["lr"] = rate
        for side in (mine, theirs):
            give_gradients(side, step)
        optimizer.step(rate)
        peer.step()
    assert optimizer.trust() == {}
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one.tensor, other.tensor, atol=1e-12, rtol=0)


def test_scaling_gradients_does_next_to_nothing() -> None:
    """XLNet's layer-wise decay multiplies gradients by 0.75, which Adam divides out again."""
    ends = []
    for scale in (1.0, 0.75):
        mine = shapes()
        optimizer, before = Lamb(mine, rule("adam-google", clip=0.0, decay=0.0)), [one.tensor.tolist() for one in mine]
        for step in range(10):
            give_gradients(mine, step, size=scale)
            optimizer.step(1e-3)
        ends.append([torch.tensor(start) - one.tensor.detach() for start, one in zip(before, mine, strict=True)])
    for full, scaled in zip(*ends, strict=True):
        assert float((scaled - full).norm() / full.norm()) < 0.01


def test_the_ratio_makes_a_step_blind_to_the_gradients_scale() -> None:
    ends = []
    for scale in (1.0, 100.0):
        mine = [one for one in shapes() if not one.excluded]
        optimizer = Lamb(mine, rule("lamb", clip=0.0, decay=0.0, eps=1e-12))
        give_gradients(mine, 0, size=scale)
        optimizer.step(1e-2)
        ends.append(torch.cat([one.tensor.detach().view(-1) for one in mine]))
    torch.testing.assert_close(ends[0], ends[1], atol=1e-9, rtol=0)


def test_a_tensor_without_gradient_stays_and_is_corrected_for_its_own_steps_only() -> None:
    mine, alone = shapes(), shapes()
    optimizer, peer = Lamb(mine, rule("adamw", clip=0.0)), Lamb(alone[:1], rule("adamw", clip=0.0))
    for step in range(6):
        give_gradients(mine, step)
        if step % 2:
            mine[0].tensor.grad, before = None, mine[0].tensor.detach().clone()
        else:
            alone[0].tensor.grad = mine[0].tensor.grad.clone()
            peer.step(1e-2)
        optimizer.step(1e-2)
        assert step % 2 == 0 or torch.equal(mine[0].tensor, before)
    assert torch.equal(mine[0].tensor, alone[0].tensor)
    assert optimizer.counts == {one.name: 3 if one is mine[0] else 6 for one in mine}


def test_a_step_uses_the_gradients_up() -> None:
    mine = shapes()
    optimizer = Lamb(mine)
    give_gradients(mine, 0)
    optimizer.step(1e-2)
    assert [one.tensor.grad for one in mine] == [None] * len(mine)
    optimizer.step(1e-2)
    assert set(optimizer.counts.values()) == {1}


def test_a_gradient_that_lies_otherwise_is_read_in_order() -> None:
    ends = []
    for turned in (False, True):
        weight = parameter(torch.arange(6.0).view(2, 3) + 1)
        gradient = torch.arange(6.0, dtype=torch.float64).view(2, 3)
        weight.grad = gradient.t().contiguous().t() if turned else gradient
        Lamb([Treated("w", weight)], rule("lamb", clip=0.1)).step(1e-2)
        ends.append(weight.detach().clone())
    assert torch.equal(*ends)


@pytest.mark.parametrize("which", ["lamb", "lamb-paper", "adamw"])
def test_a_run_cut_in_two_is_the_run(which: str, tmp_path: Path) -> None:
    def run(first: int, last: int, mine: list[Treated], optimizer: Lamb) -> None:
        for step in range(first, last):
            give_gradients(mine, step)
            optimizer.step(1e-2)

    whole, cut = shapes(torch.float32), shapes(torch.float32)
    run(0, 10, whole, Lamb(whole, rule(which)))
    before = Lamb(cut, rule(which))
    run(0, 5, cut, before)
    tensors, counts = before.state_dict()
    save_file(tensors, tmp_path / "state.safetensors")
    after = Lamb(cut, rule(which))
    after.load_state_dict(load_file(tmp_path / "state.safetensors"), counts)
    run(5, 10, cut, after)
    assert all(torch.equal(one.tensor, other.tensor) for one, other in zip(whole, cut, strict=True))
    assert sorted(tensors) == sorted(f"{slot}.{one.name}" for slot in ("mean", "square") for one in cut)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    mine = shapes()
    optimizer = Lamb(mine)
    tensors, counts = optimizer.state_dict()
    short = {name: tensor for name, tensor in tensors.items() if name != "mean.table"}
    cases = {
        "lacks 'mean.table'": (short, counts),
        "also holds 'mean.x'": (tensors | {"mean.x": torch.zeros(1)}, counts),
        "lacks 'map.bias'": (tensors, {}),
        r"'square.table' is \[2\] float64 where the model has \[40, 8\] float64":
            (tensors | {"square.table": torch.ones(2, dtype=torch.float64)}, counts),
        r"'mean.table' is \[40, 8\] float32":
            (tensors | {"mean.table": torch.ones(40, 8)}, counts),
    }  # fmt: skip
    for message, state in cases.items():
        with pytest.raises(UserError, match=message) as caught:
            optimizer.load_state_dict(*state)
        assert "\n" not in str(caught.value)
    assert not any(tensor.any() for tensor in optimizer.tensors.values())


def test_the_longest_tensors_are_measured_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = [torch.randn(size, generator=torch.Generator().manual_seed(1)) for size in (1, 10, 11, 1000)]
    whole = norms.norms(tensors)
    monkeypatch.setattr(norms, "_PIECE", 10)
    torch.testing.assert_close(norms.norms(tensors), whole, rtol=1e-6, atol=0)


def test_a_long_norm_is_exact_to_five_digits() -> None:
    """torch's own norm of so many is 0.03 % short, as it adds them up in one row of float32."""
    tensor = torch.randn(8_000_000, generator=torch.Generator().manual_seed(0))
    expected = float(tensor.double().norm())
    assert float(norms.global_norm([tensor])) == pytest.approx(expected, rel=5e-6)


def test_clipping_is_by_the_norm_of_all_tensors() -> None:
    mine = shapes()
    give_gradients(mine, 0)
    expected = torch.cat([one.tensor.grad.view(-1) for one in mine]).norm()
    norm = Lamb(mine).norm()
    assert float(norm) == pytest.approx(float(expected), rel=1e-12)
    assert norms.excess(norm, float(norm) * 1.01) is None
    assert norms.excess(norm, 0.0) is None
    assert float(norms.excess(norm, float(norm) / 4)) == pytest.approx(4.0)
    assert float(norms.global_norm([])) == 0.0


def test_what_cannot_be_moved_is_refused() -> None:
    with pytest.raises(UserError, match="nothing is left to learn"):
        Lamb([])
    with pytest.raises(ValueError, match="1 names"):
        Lamb([Treated("w", parameter([1.0])), Treated("w", parameter([2.0]))])
    with pytest.raises(ValueError, match="2 kinds"):
        Lamb([Treated("w", parameter([1.0])), Treated("v", parameter([2.0], torch.float32))])
    with pytest.raises(ValueError, match="contiguous"):
        Lamb([Treated("w", torch.nn.Parameter(torch.ones(2, 3).t()))])


def test_the_state_is_two_slots() -> None:
    mine = shapes()
    held = Lamb(mine).state_dict()[0]
    assert sum(tensor.numel() for tensor in held.values()) == 2 * sum(one.tensor.numel() for one in mine)
