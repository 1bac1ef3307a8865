"""Does a tagger learn from the right words, answer for all of them, and count entities as others do?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Place, Words, collect
from litebert.tasks.fit import Ready, fit
from litebert.tasks.learner import Start
from litebert.tasks.readers import clue
from litebert.tasks.settings import Tuning
from litebert.tasks.tag import Tag, Tagged
from litebert.tasks.task import Item
from litebert.text import wordpiece
from litebert.text.tokenizer import Tokenizer
from tasks.laid import answered, laid
from tasks.toy import saved_model
from vectors.tiny import WORDS, model_of, wordpiece_of, xlnet_of

NAMES = ("O", "B-boat", "I-boat")


def texts(count: int, seed: int = 0) -> list[Words]:
    """A boat is an entity, and the sails that follow it belong to it; some texts are longer than a row."""
    draw, found = np.random.default_rng(seed), []
    for number in range(count):
        words = [str(word) for word in draw.choice(WORDS, int(draw.integers(1, 30)))]
        tags = ["B-boat" if word == "boat" else "O" for word in words]
        for at in range(1, len(words)):
            if words[at] == "sails" and tags[at - 1] != "O":
                tags[at] = "I-boat"
        endings = draw.choice(["", "s", "ing"], len(words)).tolist()
        words = [one + end * (one in ("boat", "sea")) for one, end in zip(words, endings, strict=True)]
        found.append(Words(tuple(words), tuple(tags), f"t{number}", Place("made", number + 1)))
    return found


def perfect(task: Tag, items: list[Item]) -> list[Any]:
    """What a model would say that knows every tag."""
    return [10 * np.eye(len(task.names), dtype=np.float32)[item.target] for item in items]


def left_out(example: Words) -> Words:
    """Without its tags."""
    return example._replace(tags=None)


def test_tags_of_types_and_letters_that_never_met_are_known() -> None:
    seen = [Words(("a", "b", "c", "d"), ("B-x", "I-x", "O", "S-a-b")), Words(("e",), ("E-x",))]
    names = Tag.settled(seen, Tuning()).names
    assert names == ("O", "B-a-b", "I-a-b", "E-a-b", "S-a-b", "B-x", "I-x", "E-x", "S-x")
    assert Tag.settled([Words(("a",), ("B-x",))], Tuning()).names == ("O", "B-x", "I-x")
    assert Tag.settled([Words(("a",), ("B",))], Tuning()).names == ("O", "B", "I")
    assert Tag.settled(seen[:1], Tuning(), ["x", "a-b"]).names[:4] == ("O", "B-x", "I-x", "S-x")
    given = ["I-x", "O", "S-a-b", "B-x", "E-x"]
    assert Tag.settled(seen, Tuning(), given).names == tuple(given)


@pytest.mark.parametrize(
    ("example", "said"),
    [
        pytest.param(Words(("a", "b"), ("O",)), "a.txt:3: 1 tags for 2 words: tag each word", id="too few tags"),
        pytest.param(Words(("a",), None), "a.txt:3: no tags: give every training example", id="no tags"),
        pytest.param(Words(("a",), ("NN",)), "a.txt:3: tag 'NN' is not O and does not begin with B", id="no entity"),
        pytest.param(Words(("a",), ("O",)), "all words of 1 training examples are tagged O", id="nothing to learn"),
        pytest.param(Words(("a",), ("B-",)), "a.txt:3: tag 'B-' is none of 'O', 'B', 'I'", id="a type that is empty"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_with_its_place(example: Words, said: str) -> None:
    with pytest.raises(UserError) as error:
        Tag.settled([example._replace(place=Place("a.txt", 3))], Tuning())
    assert str(error.value).startswith(said)


def test_a_type_that_training_never_saw_is_refused() -> None:
    task = Tag.settled(texts(20), Tuning())
    with pytest.raises(UserError, match=r"dev:9: tag 'B-car' is none of 'O', 'B-boat', 'I-boat': correct it"):
        task.items([Words(("a",), ("B-car",), "", Place("dev", 9))], wordpiece_of())


def test_a_setting_that_would_leave_words_unanswered_is_refused() -> None:
    with pytest.raises(UserError, match=r"long 'tail' has no meaning for tag"):
        Tag.settled(texts(20), Tuning(long="tail"))


def test_the_loss_is_that_of_first_pieces_alone() -> None:
    task = Tag(NAMES, 16, 8)
    examples = [*texts(6), left_out(texts(7)[-1])]
    model, items, micro = laid(task, examples)
    (sums,) = task.sums(model, micro).values()
    out = model(micro.ids, micro.mask, micro.segments)
    logits = model.logits("tag", out)  # [I, T, C]
    labels = torch.full(micro.ids.shape, -100)
    for row, item in enumerate(items):
        if item.target is not None:
            labels[row, torch.from_numpy(item.back.places)] = torch.from_numpy(item.target)
    wanted = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
    count = sum(len(example.words) for example in examples[:-1])
    torch.testing.assert_close(sums.loss, wanted)
    assert float(sums.count) == count == task.counts(micro)["tag"] == int((labels >= 0).sum())
    assert float(sums.right) == float((logits.argmax(-1) == labels).sum())


def test_transformers_reckons_the_same_loss(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    task = Tag(NAMES, 32, 16)
    model, items, micro = laid(task, texts(8))
    folders.save(model, tmp_path)
    peer = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path).eval()
    assert peer.config.id2label == dict(enumerate(NAMES))
    labels = torch.full(micro.ids.shape, -100)
    for row, item in enumerate(items):
        labels[row, torch.from_numpy(item.back.places)] = torch.from_numpy(item.target)
    with torch.no_grad():
        theirs = peer(
            micro.ids,
            attention_mask=micro.mask.long(),
            token_type_ids=micro.segments,
            labels=labels,  # type: ignore[union-attr]
        ).loss
        (sums,) = task.sums(model, micro).values()
    torch.testing.assert_close(sums.loss / sums.count, theirs, atol=1e-5, rtol=0)


def test_weights_even_out_how_often_tags_occur() -> None:
    examples = [Words(("a",) * 10, ("B-x", *["O"] * 9))]
    task = Tag.settled(examples, Tuning(weights="balanced"))
    assert task.weights == pytest.approx((10 / 27, 10 / 3, 1.0))
    assert Tag.settled(examples, Tuning(smoothing=0.1)).smoothing == 0.1
    _, _, micro = laid(task, examples)
    assert task.counts(micro)["tag"] == pytest.approx(10 / 27 * 9 + 10 / 3)


def test_smoothing_and_weights_cost_what_torch_says() -> None:
    task = Tag(NAMES, 32, 16, (0.5, 2.0, 4.0), 0.1)
    model, _, micro = laid(task, texts(5))
    (sums,) = task.sums(model, micro).values()
    logits = model.logits("tag", model(micro.ids, micro.mask, micro.segments), asked=micro.targets["asked"])
    wanted = F.cross_entropy(logits, micro.targets["tags"], torch.tensor([0.5, 2.0, 4.0]), label_smoothing=0.1)
    torch.testing.assert_close(sums.loss / sums.count, wanted)


@torch.no_grad()
@pytest.mark.parametrize("layout", [wordpiece_of, xlnet_of], ids=["behind", "in front"])
def test_padding_moves_no_answer(layout: Any) -> None:
    tokenizer: Tokenizer = layout()
    preset, left = ("xlnet-base", True) if layout is xlnet_of else ("albert-base", False)
    task = Tag(NAMES, 24, 8)
    head = task.spec(model_of(tokenizer, preset).config)[1]
    model = model_of(tokenizer, preset, {"tag": head})  # type: ignore[arg-type]
    examples = texts(9)
    items = task.items(examples, tokenizer)
    table = Table(items, tokenizer.specials.pad, left=left)
    together = task.outputs(model, table.fed(np.arange(len(items)), task))
    for number, item in enumerate(items):
        (alone,) = task.outputs(model, table.fed(np.array([number]), task))
        assert alone.shape == (len(item.back.words), 3)
        np.testing.assert_allclose(alone, together[number], atol=1e-4)


def test_every_word_gets_the_tag_that_was_said_of_it() -> None:
    task, examples = Tag(NAMES, 12, 4), texts(60)
    items = task.items(examples, wordpiece_of())
    assert len(items) > 2 * len(examples)
    said = task.predictions(examples, items, perfect(task, items))
    assert [tuple(one.prediction) for one in said] == [example.tags for example in examples]
    assert task.score(examples, said) == {"f1": 1.0, "precision": 1.0, "recall": 1.0, "accuracy": 1.0}
    for one, example in zip(said, examples, strict=True):
        for entity in one.entities:
            assert entity["text"] == " ".join(example.words[entity["start"] : entity["end"]])
        json.dumps(one._asdict())


def test_an_entity_is_as_likely_as_all_of_its_tags_together() -> None:
    task, example = Tag(NAMES), Words(("a", "b", "c"))
    items = task.items([example], wordpiece_of())
    logits = np.log(np.array([[0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.9, 0.05, 0.05]], np.float32))
    (said,) = task.predictions([example], items, [logits])
    assert said.prediction == ["B-boat", "I-boat", "O"]
    assert said.probability == pytest.approx(0.8 * 0.5 * 0.9)
    (entity,) = said.entities
    assert {**entity, "probability": 0} == {"type": "boat", "text": "a b", "start": 0, "end": 2, "probability": 0}
    assert entity["probability"] == pytest.approx(0.4)


def test_what_was_saved_answers_the_same(tmp_path: Path) -> None:
    task = Tag(NAMES, 16, 8, (1.0, 2.0, 3.0), 0.05)
    again = Tag.restored(json.loads(json.dumps(task.saved())))
    assert again.saved() == task.saved()
    model = laid(task, texts(3)).model
    assert answered(again, texts(9), model) == answered(task, texts(9), model)


def test_one_tag_for_all_words_is_a_collapse() -> None:
    task = Tag(NAMES)
    alike = [Tagged(["O"] * 6, 1.0, []), Tagged(["O"] * 6, 1.0, [])]
    assert task.collapsed(alike) == "tags all 12 words O"
    assert task.collapsed(alike[:1]) == ""  # six words may well have no entity
    assert task.collapsed([*alike, Tagged(["B-boat"], 1.0, [])]) == ""


def test_texts_without_tags_are_answered_and_not_scored() -> None:
    task, examples = Tag(NAMES), texts(4)
    unknown = [left_out(example) for example in examples]
    model, _, micro = laid(task, unknown)
    assert task.counts(micro) == {}
    assert task.sums(model, micro) == {}
    both = answered(task, [*examples, *unknown], model)
    assert [one.prediction for one in both[:4]] == [one.prediction for one in both[4:]]
    assert task.score([*examples, *unknown], both) == task.score(examples, both[:4])


def test_cluener_comes_back_whole(shared_data: Path) -> None:
    tokenizer = wordpiece.read(shared_data / "tokenizers" / "bert-base-chinese-vocab.txt")
    for part, count in (("train", 10_748), ("dev", 1_343)):
        read = collect(clue.entities(shared_data / "zh" / "cluener" / f"{part}.json")).examples
        examples = [one for one in read if isinstance(one, Words)]
        task = Tag.settled(examples, Tuning(length=24, stride=8))
        assert task.names[1:] == tuple(f"{letter}-{name}" for name in clue.ENTITIES for letter in "BI")
        items = task.items(examples, tokenizer)
        said = task.predictions(examples, items, perfect(task, items))
        assert len(said) == count
        assert [tuple(one.prediction) for one in said] == [example.tags for example in examples]


def test_it_learns_which_words_are_boats(tmp_path: Path) -> None:
    tuning = Tuning(batch=8, length=16, stride=8, rate=1e-2, epochs=4.0, precision="float32", evaluations=2)
    train, dev = texts(160), texts(40, seed=1)
    task, tokenizer = Tag.settled(train, tuning), wordpiece_of()
    start = Start(str(saved_model(tmp_path / "model", dropout=0.0)))
    tables = [Table(task.items(part, tokenizer), tokenizer.specials.pad) for part in (train, dev)]
    made = Ready(start, task, tuning, tokenizer, train, tables[0], Asked(task, dev, tables[1]))
    done = fit(made, 0, tmp_path / "seed")
    assert done is not None
    assert done.scores["f1"] > 0.95
    assert done.collapsed == ""


def test_the_head_is_asked_for_words_and_not_for_every_piece() -> None:
    task = Tag(NAMES, 32, 16)
    model, items, micro = laid(task, texts(5))
    assert isinstance(model, Model)
    seen: list[int] = []
    model.heads["tag"].register_forward_hook(lambda module, given, result: seen.append(len(result)))
    task.sums(model.train(), micro)
    assert seen == [sum(len(item.back.words) for item in items)]
