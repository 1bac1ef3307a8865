"""What was amiss while something was trained? The warnings of its log, each once, in the order of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from litebert.lab import page

Event = Mapping[str, Any]


def shown(logs: Iterable[tuple[str, Sequence[Event]]]) -> str:
    """(who, as HTML; the warnings and divergences of its log) one after another; '' where there is none."""
    return "".join(_warnings(who, events) + _divergences(who, events) for who, events in logs)


def _warnings(who: str, events: Sequence[Event]) -> str:
    some = [event for event in events if event.get("event") == "warning"]
    ordered = sorted(some, key=lambda event: (str(event.get("kind")), str(event.get("text"))))
    groups = [list(group) for _, group in groupby(ordered, key=lambda event: (event.get("kind"), event.get("text")))]
    found = []
    for group in sorted(groups, key=lambda group: group[0].get("step", 0)):
        steps = [f"{event['step']:,}" for event in group if "step" in event]
        when = f" at step {' and '.join(steps[:3])}" if steps else ""
        left = len(steps) - 3
        more = f" and {'once' if left == 1 else f'{left} times'} more" if left > 0 else ""
        kind, text = page.text(group[0].get("kind", "warning")), page.text(group[0].get("text", ""))
        found.append(f'<p class="warning">{who}<b>{kind}</b>{when}{more}: {text}</p>')
    return "".join(found)


def _divergences(who: str, events: Sequence[Event]) -> str:
    found = []
    for event in events:
        if event.get("event") == "diverged":
            what = event.get("text") or f"the {event.get('what')} was no number any more"
            text = page.text(f"{what}; the batch was {event.get('batch')}")
            found.append(f'<p class="warning">{who}<b>Diverged</b> at step {event.get("step")}: {text}</p>')
    return "".join(found)
