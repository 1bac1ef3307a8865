"""Is a narrowed embedding exact where it can be, as good as the singular values allow, and honest about the rest?"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from litebert.config import Config
from litebert.errors import UserError
from litebert.model.factorise import factorise
from litebert.model.model import Model
from model.specimens import RELATIVE, SMALL, make, tokens

WIDE = SMALL.but(vocab=80, embedding=24, hidden=24)
BERT = WIDE.but(sharing="none", objectives=("mlm", "nsp"))
STARTS = {
    "BERT": BERT,
    "BERT, epsilon of RoBERTa": BERT.but(layer_norm_eps=1e-5),
    "ALBERT, mapped": WIDE.but(hidden=32),
    "ALBERT, a mapping at E = H": WIDE.but(mapping="always"),
    "RoBERTa's places": BERT.but(position_offset=2, pad=1),
    "rotary": WIDE.but(hidden=32, positions="rotary"),
    "six segments": BERT.but(segments=6),
}


def ranked(config: Config, rank: int, scale: float = 0.3) -> Model:
    """A model whose tables, each row less its mean, lie in `rank` common directions; the means are anything."""
    model = make(config, ["mlm", "order", "tag"])
    generator = torch.Generator().manual_seed(rank)
    directions = torch.randn(rank, config.embedding, generator=generator, dtype=torch.float64)
    directions -= directions.mean(1, keepdim=True)
    tables = (model.embedding.word, model.embedding.position, model.embedding.segment)
    with torch.no_grad():
        for table in tables:
            if table is not None:
                count = len(table.weight)
                rows = torch.randn(count, rank, generator=generator, dtype=torch.float64) @ directions / rank**0.5
                rows += torch.randn(count, 1, generator=generator, dtype=torch.float64)
                table.weight.copy_(scale * rows)
        for tensor in (model.embedding.norm.weight, model.embedding.norm.bias):
            tensor.add_(torch.randn(tensor.shape, generator=generator) * 0.3)
    return model


def received(model: Model) -> torch.Tensor:
    """What the encoder gets for a text in two segments."""
    with torch.no_grad():
        return model.embedding(tokens(4, 11), (torch.arange(11) > 5).long().expand(4, 11))


@pytest.mark.parametrize("scale", [0.3, 0.01], ids=["rows of length 1", "short rows"])
@pytest.mark.parametrize("name", STARTS)
def test_it_is_exact_when_the_centred_tables_have_rank_e_minus_1(name: str, scale: float) -> None:
    model = ranked(STARTS[name], 7, scale)
    result = factorise(model, 8)
    before, after = received(model), received(result.model)
    assert float((before - after).norm() / before.norm()) < 1e-5
    assert max(result.word_error, result.output_error, 1 - result.output_cosine) < 1e-5
    ids = tokens(3, 9)
    with torch.no_grad():
        one, other = model(ids), result.model(ids)
    torch.testing.assert_close(one.last, other.last, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", STARTS)
def test_one_direction_too_few_shows(name: str) -> None:
    result = factorise(ranked(STARTS[name], 7), 7)
    assert result.word_error > 0.01
    assert result.output_error > 0.01
    assert result.output_cosine < 0.9999


@pytest.mark.parametrize("width", [2, 5, 12, 23])
def test_the_word_error_is_that_of_the_discarded_singular_values(width: int) -> None:
    """Where only the words differ within a row, the directions kept are the words' own best ones."""
    model = make(BERT)
    with torch.no_grad():
        model.embedding.position.weight.fill_(0.7)
        model.embedding.segment.weight.fill_(-0.2)
    rows = model.embedding.word.weight.detach().double().numpy()
    values = np.linalg.svd(rows - rows.mean(1, keepdims=True), compute_uv=False)
    wanted = np.sqrt(np.sum(values[width - 1 :] ** 2) / np.sum(values**2))
    assert factorise(model, width).word_error == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_all_tables_have_their_say_in_the_directions() -> None:
    """The basis is that of words, positions and segments together, as one space must hold their sum."""
    model = make(BERT)
    tables = [t.weight.detach().double().numpy() for t in
              (model.embedding.word, model.embedding.position, model.embedding.segment)]  # fmt: skip
    centred = [table - table.mean(1, keepdims=True) for table in tables]
    basis = np.linalg.svd(np.concatenate(centred), full_matrices=False)[2][:7]
    left = centred[0] - centred[0] @ basis.T @ basis
    assert factorise(model, 8).word_error == pytest.approx(np.linalg.norm(left) / np.linalg.norm(centred[0]), rel=1e-6)


def test_the_output_error_is_that_of_every_word_alone() -> None:
    model = make(WIDE.but(hidden=32))
    result = factorise(model, 8)
    ids = torch.arange(80)[:, None]
    with torch.no_grad():
        before, after = (m.embedding(ids)[:, 0].double() for m in (model, result.model))
    assert result.output_error == pytest.approx(float((before - after).norm() / before.norm()), rel=1e-6)
    cosines = (before * after).sum(1) / before.norm(dim=1) / after.norm(dim=1)
    assert result.output_cosine == pytest.approx(float(cosines.mean()), rel=1e-6)


@pytest.mark.parametrize("name", STARTS)
def test_the_error_falls_as_the_width_grows(name: str) -> None:
    model = make(STARTS[name])
    results = [factorise(model, width) for width in (3, 6, 12, 20, 23)]
    words = [result.word_error for result in results]
    outputs = [result.output_error for result in results]
    cosines = [result.output_cosine for result in results]
    assert words == sorted(words, reverse=True)
    assert outputs == sorted(outputs, reverse=True)
    assert cosines == sorted(cosines)
    assert words[0] > 2 * words[-1] >= 0


def test_a_table_of_fewer_words_than_directions_is_no_trouble() -> None:
    config = SMALL.but(vocab=12, embedding=32, hidden=32, positions="rotary")
    result = factorise(make(config), 24)
    assert result.model.config.embedding == 24
    assert result.word_error < 1e-6


def test_heads_tied_to_the_old_width_are_left_out_and_named_and_others_kept() -> None:
    model = make(BERT, {"mlm": 2, "order": 2, "classify": 3, "tag": 5})
    result = factorise(model, 8)
    assert result.dropped == ("mlm",)
    assert list(result.model.specs) == ["order", "classify", "tag"]
    mine, theirs = result.model.state_dict(), model.state_dict()
    kept = [key for key in mine if not key.startswith("embedding.")]
    assert all(torch.equal(mine[key], theirs[key]) for key in kept)
    assert len([key for key in kept if key.startswith("heads.")]) == 6


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluating"])
def test_dtype_and_mode_are_kept_on_both_sides(dtype: torch.dtype, training: bool) -> None:
    model = make(BERT, ["order"]).to(dtype).train(training)
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    result = factorise(model, 8)
    assert {tensor.dtype for tensor in result.model.state_dict().values()} == {dtype}
    assert (model.training, result.model.training) == (training, training)
    assert {module.training for module in model.modules()} == {training}
    with torch.no_grad():
        for tensor in result.model.parameters():  # and what happens to one is nothing to the other
            tensor.add_(1.0)
    assert all(torch.equal(tensor, before[key]) for key, tensor in model.state_dict().items())


def test_the_shape_is_that_of_albert() -> None:
    result = factorise(make(BERT), 8)
    assert result.model.config == BERT.but(embedding=8)
    assert result.model.embedding.map.weight.shape == (24, 8)
    assert torch.equal(result.model.embedding.norm.weight, torch.ones(8))


REFUSED = {
    "its own width": (BERT, 24, "embedding 24 does not narrow 24: choose 2 to 23"),
    "wider": (BERT, 30, "embedding 30 does not narrow 24"),
    "no direction left": (BERT, 1, "embedding 1 does not narrow 24: choose 2 to 23"),
    "a negative width": (BERT, -3, "embedding -3 does not narrow"),
    "no norm to fold into": (RELATIVE.but(embedding=16, embedding_norm=False), 4, "no norm at its own width"),
    "a mapping before the sum": (SMALL.but(mapping="early"), 4, "no norm at its own width"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_narrowed_is_refused(name: str) -> None:
    config, width, message = REFUSED[name]
    with pytest.raises(UserError, match=message):
        factorise(make(config), width)
