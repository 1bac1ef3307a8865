"""Does a folder come back as it went, to the byte, in both forms and through both?"""

from __future__ import annotations

import json
import warnings

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import litebert
from interop.peers import CONFIGS, TITLES, peer, text
from litebert import files
from litebert.config import Config
from litebert.files import FolderError
from litebert.interop import folder, hf_keys, tensors
from litebert.model.model import build

CASES = [(name, suffix) for name in CONFIGS for suffix in hf_keys.CLASSES[name.partition("-")[0]] if name in TITLES]
CASES += [(name, "Model") for name in CONFIGS if name not in TITLES]


def same_tensors(one, other):
    with safe_open(one, "pt") as a, safe_open(other, "pt") as b:
        assert set(a.keys()) == set(b.keys())
        for key in a.keys():  # noqa: SIM118
            mine, theirs = a.get_tensor(key), b.get_tensor(key)
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), key
            assert mine.contiguous().view(torch.uint8).equal(theirs.contiguous().view(torch.uint8)), key


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name,suffix", CASES, ids=lambda v: v)
def test_transformers_to_litebert_to_transformers_keeps_every_byte(name, suffix, dtype, tmp_path):
    causal = suffix.endswith(("CausalLM", "LMHeadModel")) and not name.startswith("xlnet")
    theirs = peer(name, suffix, tmp_path / "a", **({"is_decoder": True} if causal else {}))
    theirs.to(dtype).save_pretrained(tmp_path / "a")
    model = litebert.load(tmp_path / "a")
    assert litebert.save(model, tmp_path / "ours", to="litebert") == "litebert"
    assert litebert.save(litebert.load(tmp_path / "ours"), tmp_path / "b", to="hf") == "hf"
    same_tensors(tmp_path / "a/model.safetensors", tmp_path / "b/model.safetensors")
    before, after = (json.loads((tmp_path / x / "config.json").read_text()) for x in "ab")
    kept = [k for k in after if before.get(k) is not None]  # a null stands for a default, which we write out
    assert {k: after[k] for k in kept} == {k: before[k] for k in kept}
    assert not (tmp_path / "b/litebert.safetensors").exists()


@pytest.mark.parametrize("name,suffix", CASES, ids=lambda v: v)
def test_a_folder_of_ours_loads_in_transformers_without_a_missing_or_new_tensor(name, suffix, tmp_path):
    peer(name, suffix, tmp_path / "a")
    model = litebert.load(tmp_path / "a")
    litebert.save(model, tmp_path / "b")
    import transformers

    title = json.loads((tmp_path / "b/config.json").read_text())["architectures"][0]
    theirs, report = getattr(transformers, title).from_pretrained(tmp_path / "b", output_loading_info=True)
    # A body without a pooler is Model here; transformers makes a new pooler where its class insists on one.
    assert not [*report["unexpected_keys"], *report["mismatched_keys"]]
    assert not [k for k in report["missing_keys"] if "pooler" not in k]
    batch = text(name, model.config.pad)
    if suffix == "Model" and name != "xlnet-uni":
        with torch.no_grad():
            theirs, ours = theirs.eval()(**batch)[0], model(*batch.values()).last
        torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)


def test_the_pre_training_class_has_32_tensors_under_34_names_and_the_ties_outlive_the_folder(tmp_path):
    import transformers

    config = Config(vocab=60, embedding=16, hidden=32, layers=4, heads=4, ffn=48)
    model = build(config, ["mlm", "order"], seed=1).eval()
    assert len(model.state_dict()) == len(list(model.parameters())) == 32
    litebert.save(model, tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        assert len(list(file.keys())) == 32
    theirs = transformers.AlbertForPreTraining.from_pretrained(tmp_path)
    assert (len(theirs.state_dict()), len(list(theirs.parameters()))) == (34, 32)
    back, ids = litebert.load(tmp_path), torch.tensor([[2, 7, 9, 3]])
    before = back.logits("mlm", back(ids))
    with torch.no_grad():
        back.embedding.word.weight[50] += 1  # a word that is not in the text: only its own logit may move
    moved = (back.logits("mlm", back(ids)) - before).abs().amax(dim=(0, 1))
    assert moved.nonzero().flatten().tolist() == [50]


SHARED = Config(vocab=60, embedding=16, hidden=32, layers=4, heads=4, ffn=48, positions="rotary", max_positions=40)


def lively(config, heads=()):
    model = build(config, heads, seed=3).eval()
    with torch.no_grad():
        for i, tensor in enumerate(model.parameters()):
            tensor.add_(torch.randn(tensor.shape, generator=torch.Generator().manual_seed(i)) * 0.1)
    return model


def test_a_shared_rotary_model_leaves_as_an_unshared_roformer_and_comes_back_shared(tmp_path):
    import transformers

    model = lively(SHARED, ["mlm", "order"])
    assert litebert.save(model, tmp_path / "out", to="hf") == "hf"
    theirs = transformers.RoFormerForMaskedLM.from_pretrained(tmp_path / "out").eval()
    assert len({p.data_ptr() for p in theirs.roformer.encoder.layer.parameters()}) == 4 * 16, "four blocks of their own"
    batch = text("roformer", 0)
    with torch.no_grad():
        result, out = theirs(**batch, output_hidden_states=True), model(*batch.values())
    for mine, other in zip(out.hidden, result.hidden_states, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(model.logits("mlm", out), result.logits, atol=1e-5, rtol=1e-5)
    back = litebert.load(tmp_path / "out")
    assert (back.config, back.specs) == (model.config, model.specs)
    assert all(torch.equal(a, b) for a, b in zip(back.state_dict().values(), model.state_dict().values(), strict=True))


def test_a_roformer_trained_elsewhere_is_not_folded_back(tmp_path):
    litebert.save(lively(SHARED, ["mlm"]), tmp_path)
    held = load_file(tmp_path / "model.safetensors")
    held["roformer.encoder.layer.2.output.dense.bias"] += 1
    tensors.write_file(tmp_path / "model.safetensors", held)
    with pytest.warns(UserWarning, match=r"left aside: model\.safetensors changed since it was written"):
        back = litebert.load(tmp_path)
    assert back.config.sharing == "none"
    assert torch.equal(back.encoder.ffn[2].down.bias, back.encoder.ffn[1].down.bias + 1)
    # nor where litebert.json was made to agree with the file: what differs between blocks would be lost
    ours = json.loads((tmp_path / folder.OURS).read_text())
    ours["sha256"]["model.safetensors"] = files.digest(tmp_path / "model.safetensors")
    (tmp_path / folder.OURS).write_text(json.dumps(ours))
    with pytest.warns(UserWarning, match="blocks that it shares differ by up to 1"):
        again = litebert.load(tmp_path)
    assert again.config.sharing == "none"
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), back.parameters(), strict=True))


def test_litebert_json_yields_to_a_config_that_was_changed_since(tmp_path):
    litebert.save(lively(SHARED.but(positions="absolute")), tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    changed = {**values, "hidden_act": "relu", "hidden_dropout_prob": 0.25}
    (tmp_path / "config.json").write_text(json.dumps(changed))
    told = r"left aside: config\.json \(hidden_dropout_prob, hidden_act\) changed since it was written"
    with pytest.warns(UserWarning, match=told):
        back = litebert.load(tmp_path)
    assert (back.config.activation, back.config.dropout) == ("relu", 0.25)


@pytest.mark.parametrize("positions", ["absolute", "rotary"])
def test_a_field_that_somebody_added_to_config_json_costs_nothing(positions, tmp_path):
    model = lively(SHARED.but(positions=positions, order_dropout=0.3), ["mlm", "order", "tag"])
    litebert.save(model, tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({"bos_token_id": 2, **values}, indent=None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = litebert.load(tmp_path)
    assert (back.config, back.specs) == (model.config, model.specs)
    (tmp_path / "config.json").write_text(json.dumps({**values, "position_embedding_type": "relative_key"}))
    with pytest.raises(FolderError, match="scores by learned key distances"):
        folder.describe(tmp_path)


EXACT = [
    SHARED.but(sharing="attention", positions="absolute"),
    SHARED.but(sharing="ffn", groups=2, inner=2),
    SHARED.but(norm="pre", pooler="mean", objectives=("mlm",)),
    SHARED.but(positions="absolute", mapping="early"),
    SHARED.but(positions="relative", max_positions=0, untied=False),
]


@pytest.mark.parametrize("config", EXACT, ids=lambda c: f"{c.sharing}-{c.norm}-{c.positions}-{c.mapping}")
def test_what_transformers_cannot_express_is_refused_there_and_kept_in_our_form(config, tmp_path):
    model = lively(config, ["mlm"])
    with pytest.raises(FolderError, match="transformers has no class for"):
        litebert.save(model, tmp_path / "hf", to="hf")
    assert litebert.save(model, tmp_path / "ours") == "litebert"
    back = litebert.load(tmp_path / "ours")
    assert back.config == config
    assert all(torch.equal(a, b) for a, b in zip(back.state_dict().values(), model.state_dict().values(), strict=True))


ALIKE = [
    Config(vocab=60, embedding=32, hidden=32, layers=4, heads=4, ffn=48),  # ALBERT without a mapping gets an identity
    Config(vocab=60, embedding=16, hidden=32, layers=4, heads=4, ffn=48, dropout=0.1, order_dropout=0.2),
    Config(vocab=60, embedding=32, hidden=32, layers=4, heads=4, ffn=48, sharing="none", segments=6,
           visibility="mixture", objectives=("mlm", "nsp")),
]  # fmt: skip


@pytest.mark.parametrize("config", ALIKE, ids=["albert-unmapped", "albert-dropouts", "unilm"])
def test_a_saved_model_says_the_same_here_and_in_transformers(config, tmp_path):
    import transformers

    model = lively(config, ["mlm", "order", "classify", "tag"])
    assert litebert.save(model, tmp_path) == "hf"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = litebert.load(tmp_path)
    assert (back.config.but(mapping="auto"), list(back.specs)) == (config, list(model.specs))
    batch = text("albert", 0)
    title = json.loads((tmp_path / "config.json").read_text())["architectures"][0]
    assert title.endswith("ForSequenceClassification"), "a task's class goes before the others"
    theirs = getattr(transformers, title).from_pretrained(tmp_path).eval()
    with torch.no_grad():
        out, again = model(*batch.values()), back(*batch.values())
        for head in model.specs:
            torch.testing.assert_close(model.logits(head, out), back.logits(head, again), atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(theirs(**batch).logits, model.logits("classify", out), atol=1e-5, rtol=1e-5)


def test_label_names_travel_both_ways(tmp_path):
    from litebert import Head

    head = Head(kind="classify", labels=3, names=("law", "medicine", "other"))
    litebert.save(lively(SHARED.but(positions="absolute"), {"classify": head}), tmp_path)
    (tmp_path / folder.OURS).unlink()
    assert litebert.load(tmp_path).specs["classify"].names == ("law", "medicine", "other")
