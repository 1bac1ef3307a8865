"""What went wrong, how often, and where first? Problems by kind, in lines that a person reads at the end."""

from __future__ import annotations

from collections.abc import Iterable

from litebert.text.items import Problem

NAMED = 3  # places that a line names


class Tally:
    """Problems counted by kind, with the first few of each."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, list[Problem]] = {}
        self._places: dict[str, int] = {}
        for problem in problems:
            self.add(problem)

    def add(self, problem: Problem) -> None:
        """One more."""
        kind = problem.kind
        self.counts[kind] = self.counts.get(kind, 0) + problem.count
        self._places[kind] = self._places.get(kind, 0) + 1
        first = self.first.setdefault(kind, [])
        if len(first) < NAMED:
            first.append(problem)

    def lines(self) -> list[str]:
        """A line a kind, the most frequent first: `NUL bytes: 17, in a.txt:3 (…); b.txt:9 (…)`."""
        return [self._line(kind) for kind in sorted(self.counts, key=lambda kind: (-self.counts[kind], kind))]

    def _line(self, kind: str) -> str:
        named = "; ".join(f"{where(one)} ({one.detail})" for one in self.first[kind])
        more = self._places[kind] - len(self.first[kind])
        return f"{kind}: {self.counts[kind]:,}, in {named}" + (f" and {more:,} more places" if more else "")


def where(problem: Problem) -> str:
    """The file, and the line or row if one is known."""
    return f"{problem.source}:{problem.place}" if problem.place else problem.source
