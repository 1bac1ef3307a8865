"""What can be seen in a model? Its layers, its guesses for hidden words, the neighbours of words: parts of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.lab import examples, figures, layers, page, told
from litebert.lab.examples import Answer, Drawn, Question
from litebert.lab.figures import Line, Side
from litebert.lab.layers import Layers
from litebert.model.model import Model
from litebert.text.tokenizer import Tokenizer
from litebert.vectors.neighbours import Neighbour

_MEASURED = 48  # texts that the layers are measured on
_DRAWN, _SUREST = 6, 4  # examples that are shown
_BESIDE = 2  # models whose guesses fit in half the page's width


class Seen(NamedTuple):
    """What was seen of one model."""

    name: str
    layers: Layers
    answers: list[Answer]  # one a question; none where the model guesses no words
    near: dict[str, list[Neighbour]]


def look(
    name: str, model: Model, tokenizer: Tokenizer, drawn: Drawn, asked: Sequence[Question],
    allowed: NDArray[np.bool_],
) -> Seen:  # fmt: skip
    """Measure a model; it is given back as plain values, so that the next one finds room."""
    answered = examples.answers(model, tokenizer, asked) if "mlm" in model.specs and asked else []
    return Seen(
        name, layers.measure(model, tokenizer, drawn.texts[:_MEASURED]), answered,
        examples.near(model, tokenizer, drawn.words, allowed),
    )  # fmt: skip


def layer_figure(seen: Sequence[Seen], before: Seen | None) -> str:
    """Distance and angle between what goes into each layer and what comes out of it."""
    measured = [(place, one) for place, one in enumerate(seen) if one.layers.tokens]
    named: list[tuple[figures.Kind, int, str]] = [("bold", place, one.name) for place, one in measured]
    if before is not None and before.layers.tokens:
        named.insert(0, ("dashed", 7, before.name))
    parts = []
    for field, title, unit in (
        ("distance", "How far it moves", "L2 distance"),
        ("angle", "How far it turns", "degrees"),
    ):
        lines = []
        if before is not None and before.layers.tokens:
            values = getattr(before.layers, field)
            lines.append(Line(before.name, _numbers(values), values, 7, "dashed"))
        for place, one in measured:
            values = getattr(one.layers, field)
            lines.append(Line(one.name, _numbers(values), values, place))
        label = f"{title}: {unit} between the input and the output of each layer"
        drawing = figures.chart(lines, Side("layer", whole=True), Side(unit, zero=True), label=label)
        parts.append(page.figure(title, unit, drawing))
    return page.legend((figures.key(kind, colour), name) for kind, colour, name in named) + page.figures(parts)


def guesses(seen: Sequence[Seen], before: Seen | None, asked: Sequence[Question]) -> str:
    """How often the hidden word was found, some questions as drawn, and where the first model was surest."""
    sides = [one for one in ([before] if before else []) + list(seen) if one.answers]
    if not sides or not asked:
        return '<p class="note">No model here guesses words.</p>'
    parts = [_hits(sides, len(asked)), "<h3>As drawn</h3>", _cards(range(min(_DRAWN, len(asked))), sides, asked)]
    first = next(one for one in seen if one.answers)
    shown = set(range(_DRAWN))
    sure = sorted(range(len(asked)), key=lambda i: -first.answers[i].guesses[0].probability)
    of = f" of {page.text(first.name)}" if len(seen) > 1 else ""
    for title, right in ((f"Surest and right{of}", True), (f"Surest and wrong{of}", False)):
        fitting = [i for i in sure if (first.answers[i].place == 0) == right and i not in shown]
        picked = _different(fitting, asked)[:_SUREST]
        if picked:
            parts += [f"<h3>{title}</h3>", _cards(picked, sides, asked)]
    return "".join(parts)


def _different(places: Sequence[int], asked: Sequence[Question]) -> list[int]:
    """Of places that ask for the same word only the first."""
    found: dict[str, int] = {}
    for place in places:
        found.setdefault(asked[place].answer.lower(), place)
    return list(found.values())


def neighbour_table(seen: Sequence[Seen]) -> str:
    """Words and what lies near them, a column for every run."""
    words = list(dict.fromkeys(word for one in seen for word in one.near))
    if not words:
        return '<p class="note">None of the words is one piece of this tokenizer.</p>'
    columns = ("word", *(one.name for one in seen)) if len(seen) > 1 else ("word", "nearest")
    return page.table(columns, ([page.text(word), *(_near(one.near.get(word, [])) for one in seen)] for word in words))


def _near(found: Sequence[Neighbour]) -> str:
    each = "".join(
        f"<span>{page.text(one.word)} <small>{page.number(round(one.cosine, 4), f'{one.cosine:.2f}')}</small></span> "
        for one in found
    )
    return f'<div class="near">{each or "—"}</div>'


def _hits(sides: Sequence[Seen], count: int) -> str:
    rows = []
    for one in sides:
        shares = [sum(0 <= answer.place < most for answer in one.answers) / count for most in (1, 5)]
        rows.append([page.text(one.name), *(page.number(share, told.percent(share)) for share in shares)])
    return page.table((f"of {count} hidden words", "first guess right", "right in five"), rows, (1, 2))


def _cards(places: Sequence[int] | range, sides: Sequence[Seen], asked: Sequence[Question]) -> str:
    cards = []
    for place in places:
        question = asked[place]
        sentence = (
            f'<p class="sentence">{page.text(question.before)}<mark>{page.text(question.answer)}</mark>'
            f"{page.text(question.after)}</p>"
        )
        lists = "".join(f"<div><h4>{page.text(one.name)}</h4>{_list(one.answers[place])}</div>" for one in sides)
        cards.append(f'<div class="card">{sentence}<div class="sides">{lists}</div></div>')
    return f'<div class="examples{" broad" if len(sides) > _BESIDE else ""}">{"".join(cards)}</div>'


def _list(answer: Answer) -> str:
    rows = []
    for place, guess in enumerate(answer.guesses):
        right = ' class="right-one"' if place == answer.place else ""
        shown = f"{'' if guess.begins or not guess.word.isalpha() else '·'}{guess.word or '␣'}"
        tick = " ✓" if right else ""
        rows.append(
            f'<li{right} style="--share:{100 * guess.probability:.1f}%"><span>{page.text(shown)}{tick}</span>'
            f"<span>{page.number(round(guess.probability, 6), told.percent(guess.probability))}</span></li>"
        )
    return f'<ol class="guesses">{"".join(rows)}</ol>'


def _numbers(values: Sequence[float]) -> list[float]:
    return [float(number) for number in range(1, len(values) + 1)]
