"""Where in its context does an answer stand? What annotators noted is held against the text itself."""

from __future__ import annotations

from typing import Any

from litebert.tasks.examples import Answer
from litebert.tasks.readers.faults import RowError
from litebert.tasks.readers.values import text_of

_SLIP = 2  # characters by which annotations are known to be off
_SHOWN = 40


def answers_of(context: str, value: Any, start: Any = None) -> tuple[Answer, ...] | None:
    """The answers of a question; () where it says that there is none in the context, None where it says nothing.

    A list of objects with `text` and `answer_start` (SQuAD), an object of two such lists (its tables), or one text with
    `start`, or without: then it is the first place where it stands.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return (placed(context, value, start),) if value.strip() else ()
    if isinstance(value, dict):
        texts, starts = value.get("text"), _start(value)
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise RowError("the answers are not two lists of one length, text and answer_start")
        return tuple(placed(context, text, at) for text, at in zip(texts, starts, strict=True))
    if not isinstance(value, list):
        raise RowError("the answers are no list")
    return tuple(_one(context, one) for one in value)


def placed(context: str, text: Any, start: Any = None) -> Answer:
    """An answer where it stands in its context.

    Where it does not stand at `start` it is moved only if there is one place to move it to: within two characters, by
    which annotations are known to slip, or anywhere if the context has it but once.
    """
    text = text_of(text, "an answer")
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    first = context.find(text)
    if first < 0:
        raise RowError(f"the answer {shown} is not in the context")
    if start is None or start == "":
        return Answer(text, first)
    try:
        at = int(start)
    except (TypeError, ValueError, OverflowError):
        raise RowError(f"the answer {shown} starts at {start!r}, which is no number of characters") from None
    if at >= 0 and context.startswith(text, at):
        return Answer(text, at)
    near = [at + step for step in range(-_SLIP, _SLIP + 1) if at + step >= 0 and context.startswith(text, at + step)]
    if len(near) == 1:
        return Answer(text, near[0])
    if context.find(text, first + 1) < 0:
        return Answer(text, first)
    raise RowError(f"the answer {shown} does not stand at character {at:,} of the context, but at others, as {first:,}")


def _one(context: str, value: Any) -> Answer:
    if isinstance(value, str):
        return placed(context, value)
    if not isinstance(value, dict) or "text" not in value:
        raise RowError("an answer is no object with text and answer_start")
    return placed(context, value["text"], _start(value))


def _start(value: dict[str, Any]) -> Any:
    """Where an answer, or each of a list, is said to stand; a table has null where another row has the other name."""
    return value["answer_start"] if value.get("answer_start") is not None else value.get("start")
