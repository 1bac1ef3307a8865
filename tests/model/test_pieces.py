"""Do new pieces begin as the mean of the old ones, and does nothing else move?"""

from __future__ import annotations

import pytest
import torch

from litebert.errors import UserError
from litebert.model.pieces import with_pieces
from model.specimens import CORNERS, SMALL, make, tokens

MADE_OF = [[5, 7], [9], [], [5, 5, 8]]
TABLE = "embedding.word.weight"


@pytest.mark.parametrize("corner", CORNERS)
def test_texts_without_new_pieces_give_what_they_gave(corner: str) -> None:
    model = make(CORNERS[corner])
    grown = with_pieces(model, 60, MADE_OF)
    assert grown.config.vocab == 64
    assert torch.equal(grown(tokens(2, 9)).last, model(tokens(2, 9)).last)


def test_a_new_row_is_the_mean_of_the_old_ones() -> None:
    table = make(SMALL).state_dict()[TABLE]
    grown = with_pieces(make(SMALL), 60, MADE_OF).state_dict()[TABLE]
    assert torch.equal(grown[:60], table)
    expected = [(table[5] + table[7]) / 2, table[9], table.mean(dim=0), (2 * table[5] + table[8]) / 3]
    torch.testing.assert_close(grown[60:], torch.stack(expected), rtol=1e-6, atol=1e-7)


def test_a_head_scores_a_new_piece_by_the_mean_of_the_old_scores() -> None:
    """Biases too: a new one of 0 would put all new pieces before most old ones."""
    model = make(SMALL, ["mlm"])
    with torch.no_grad():
        model.heads["mlm"].bias.copy_(torch.randn(60, generator=torch.Generator().manual_seed(3)))
    grown, ids, asked = with_pieces(model, 60, MADE_OF), tokens(2, 9), torch.tensor([[1, 4], [2, 8]])
    old, new = (m.logits("mlm", m(ids), asked=asked) for m in (model, grown))
    torch.testing.assert_close(new[..., :60], old, rtol=1e-5, atol=1e-6)
    for number, parts in enumerate(MADE_OF, 60):
        expected = old[..., parts].mean(dim=-1) if parts else old.mean(dim=-1)
        torch.testing.assert_close(new[..., number], expected, rtol=1e-4, atol=1e-5)


def test_the_query_stream_knows_them_too() -> None:
    model = make(CORNERS["relative"], ["plm"])
    assert with_pieces(model, 60, MADE_OF).state_dict()["heads.plm.bias"].shape == (64,)


def test_rows_that_are_there_already_are_filled() -> None:
    """Some models round the number of rows up: the tokenizer's 57 pieces, the model's 60 rows."""
    model = make(SMALL)
    grown = with_pieces(model, 57, [[5, 7], [9]])
    assert grown.config == model.config
    assert torch.equal(grown.state_dict()[TABLE][58], model.state_dict()[TABLE][9])
    assert torch.equal(grown.state_dict()[TABLE][59], model.state_dict()[TABLE][59])
    assert with_pieces(model, 57, MADE_OF).config.vocab == 61


def test_the_old_model_stays_as_it_was() -> None:
    model = make(SMALL, ["mlm"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    grown = with_pieces(model, 57, MADE_OF)
    with torch.no_grad():
        grown.embedding.word.weight.zero_()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_tokenizer_of_another_model_is_refused() -> None:
    with pytest.raises(UserError, match="the tokenizer had 61 pieces, the model knows 60"):
        with_pieces(make(SMALL), 61, MADE_OF)
