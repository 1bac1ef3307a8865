"""How is one example shown beside what the model says of it? A card: its text, what is right, what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from litebert.lab import axes, marked, page, told
from litebert.lab.judged import Judged, named, probabilities
from litebert.lab.marked import Mark
from litebert.tasks import entities

_CLASSES = 4  # whose probabilities are shown
Line = Mapping[str, Any]


def card(kind: str, one: Judged) -> str:
    """The card of an example; where it stands and what it cost are its last line."""
    body = _BODIES[kind](one)
    facts = [page.text(one.line.get("place") or one.line.get("id") or "")]
    if one.tokens is not None:
        facts.append(f"{page.number(one.tokens, f'{one.tokens:,}')} tokens")
    if one.loss is not None:
        facts.append(f"loss {page.number(one.loss, f'{one.loss:.2f}')}")
    return f'<div class="card case">{body}<p class="facts">{" · ".join(fact for fact in facts if fact)}</p></div>'


def _texts(line: Line) -> str:
    """A text, or a pair as two lines."""
    both = [line.get("text"), line.get("pair")]
    return "".join(f'<p class="sentence" dir="auto">{marked.short(str(each))}</p>' for each in both if each is not None)


def _verdict(right: str, said: str, sure: float | None = None) -> str:
    """What is right and what was said; both are HTML."""
    by = f" <small>{page.number(round(sure, 6), told.percent(sure))}</small>" if sure is not None else ""
    return (
        f'<dl class="verdict"><dt>is</dt><dd class="good">{right}</dd><dt>said</dt><dd class="bad">{said}{by}</dd></dl>'
    )


def _classified(one: Judged) -> str:
    line, given = one.line, probabilities(one.line)
    if isinstance(line["label"], list):
        right, said = (set(map(str, line[side])) for side in ("label", "prediction"))
        gold, guess = (", ".join(map(page.text, sorted(side))) or "<i>none</i>" for side in (right, said))
        shown = sorted(right ^ said, key=lambda name: -given.get(name, 0.0))[:_CLASSES]
        return (
            _texts(line)
            + _verdict(gold, guess)
            + _guesses([(name, given[name]) for name in shown if name in given], right)
        )
    right_one, said_one = str(line["label"]), str(line["prediction"])
    shown = sorted(given, key=lambda name: -given[name])[:_CLASSES]
    shown = shown if right_one in shown or right_one not in given else [*shown[:-1], right_one]
    listed = len(given) > 2
    verdict = _verdict(page.text(right_one), page.text(said_one), None if listed else one.confidence)
    return _texts(line) + verdict + (_guesses([(name, given[name]) for name in shown], {right_one}) if listed else "")


def _regressed(one: Judged) -> str:
    right, said = float(one.line["label"]), float(one.line["prediction"])
    shown = page.number(right, axes.plain(right)), page.number(said, axes.plain(float(f"{said:.4g}")))
    off = page.number(one.score, axes.plain(float(f"{one.score:.3g}")))
    return _texts(one.line) + _verdict(
        shown[0], f"{shown[1]} <small>{off} too {'high' if said > right else 'low'}</small>"
    )


def _chosen(one: Judged) -> str:
    line, given = one.line, probabilities(one.line)
    right, said = int(line["label"]), int(line["prediction"])
    rows = []
    for place, option in enumerate(line["options"]):
        look = "right-one" if place == right else "wrong-one" if place == said else ""
        sign = " ✓" if place == right else " ✗" if place == said else ""
        rows.append((f"{named('choice', place)}. {option}{sign}", given.get(str(place)), look))
    question = f'<p class="sentence" dir="auto"><b>{page.text(line["text"])}</b></p>' if line.get("text") else ""
    context = f'<p class="context" dir="auto">{marked.short(str(line.get("pair") or ""))}</p>'
    return context + question + _list(rows, "guesses options")


def _answered(one: Judged) -> str:
    line = one.line
    answers = [(str(answer["text"]), int(answer["start"])) for answer in line["label"]]
    context, said, start = str(line["pair"]), str(line["prediction"]), line.get("start")
    marks = [Mark(begin, begin + len(text), "gold") for text, begin in dict.fromkeys(answers)]
    if said and isinstance(start, int) and start >= 0:
        marks.append(Mark(start, start + len(said), "said"))
    right = " / ".join(dict.fromkeys(page.text(text) for text, _ in answers)) or "<i>no answer in the text</i>"
    touch = f" <small>F1 {page.number(one.score, told.percent(one.score))}</small>" if one.score else ""
    question = f'<p class="sentence" dir="auto">{page.text(line["text"])}</p>'
    verdict = _verdict(right, (page.text(said) or "<i>no answer in the text</i>") + touch, one.confidence)
    return f'{question}<p class="context" dir="auto">{marked.text(context, marks)}</p>{verdict}'


def _tagged(one: Judged) -> str:
    """The text twice: with the entities that are there, and with those that were said."""
    line = one.line
    words, whole = [str(word) for word in line["words"]], str(line["text"])
    space = len(whole) > sum(map(len, words))
    begins = [0]
    for word in words:
        begins.append(begins[-1] + len(word) + space)
    sides = [entities.entities(line[side]) for side in ("label", "prediction")]
    both = set(sides[0]) & set(sides[1])
    rows = []
    for name, side, look, off in (("is", sides[0], "gold", "missed"), ("said", sides[1], "said", "invented")):
        marks = [Mark(begins[entity.start], begins[entity.end] - space, look if entity in both else off, entity.type)
                 for entity in side]  # fmt: skip
        shown = marked.text((" " if space else "").join(words), marks)
        rows.append(f'<dt>{name}</dt><dd class="sentence" dir="auto">{shown}</dd>')
    return f'<dl class="verdict">{"".join(rows)}</dl>'


_BODIES: dict[str, Callable[[Judged], str]] = {
    "classify": _classified, "regress": _regressed, "choice": _chosen, "span": _answered, "tag": _tagged,
}  # fmt: skip


def _guesses(shares: Sequence[tuple[str, float]], right: set[str]) -> str:
    rows = [(f"{name}{' ✓' if name in right else ''}", share, "right-one" if name in right else "")
            for name, share in shares]  # fmt: skip
    return _list(rows, "guesses")


def _list(rows: Sequence[tuple[str, float | None, str]], look: str) -> str:
    """Names with their probabilities as bars."""
    items = "".join(
        f'<li class="{kind}" style="--share:{100 * (share or 0.0):.1f}%"><span>{page.text(name)}</span>'
        f"<span>{'' if share is None else page.number(round(share, 6), told.percent(share))}</span></li>"
        for name, share, kind in rows
    )
    return f'<ul class="{look}">{items}</ul>' if rows else ""
