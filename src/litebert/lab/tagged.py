"""Which entities are found, and what goes wrong with the others? Type by type, and kind of mistake by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from litebert.lab import confusion, page, told
from litebert.lab.judged import Judged
from litebert.tasks import entities
from litebert.tasks.entities import Entity

MISTAKES = {
    "type": "right words, another type", "edge": "some of the words, the type is right",
    "both": "some of the words, another type", "missed": "missed: nothing was said there",
    "invented": "invented: nothing is there",
}  # fmt: skip


def shown(judged: Sequence[Judged]) -> str:
    """The table of types and that of the mistakes; '' without texts."""
    if not judged:
        return ""
    found = entities.measured([one.line["label"] for one in judged], [one.line["prediction"] for one in judged])
    rows = [found.all._replace(name="all types")] if len(found.types) != 1 else []
    kinds = mistakes(judged)
    total = kinds.total()
    said = [
        [MISTAKES[kind], page.number(kinds[kind], f"{kinds[kind]:,}"), _share(kinds[kind], total)] for kind in MISTAKES
    ]
    wrong = page.table(("what went wrong", "entities", "of the mistakes"), said, (1, 2)) if total else ""
    return confusion.table([*rows, *found.types], "type") + (f"<h3>Mistakes</h3>{wrong}" if wrong else "")


def mistakes(judged: Sequence[Judged]) -> Counter[str]:
    """How often each kind of mistake was made: one for every wrong entity, what nothing touches is missed."""
    counts = Counter[str]()
    for one in judged:
        right, said = (set(entities.entities(one.line[side])) for side in ("label", "prediction"))
        counts.update(_kind(entity, right) for entity in said - right)
        counts["missed"] += sum(not any(_touch(entity, other) for other in said) for entity in right - said)
    return counts


def _kind(entity: Entity, right: set[Entity]) -> str:
    """What is wrong with an entity that was said."""
    near = [other for other in right if _touch(entity, other)]
    if not near:
        return "invented"
    if any((other.start, other.end) == (entity.start, entity.end) for other in near):
        return "type"
    return "edge" if any(other.type == entity.type for other in near) else "both"


def _touch(one: Entity, other: Entity) -> bool:
    return one.start < other.end and other.start < one.end


def _share(count: int, total: int) -> str:
    return page.number(count / total, told.percent(count / total))
