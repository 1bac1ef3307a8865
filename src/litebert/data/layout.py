"""Where do the special tokens stand around one segment or two? Three published layouts, as values."""

from __future__ import annotations

from typing import Literal, NamedTuple

from litebert.data.recipe import Layout

Special = Literal["cls", "sep"]


class Frame(NamedTuple):
    """The special tokens of a row; a row of one segment has nothing between."""

    before: tuple[Special, ...]
    between: tuple[Special, ...]
    after: tuple[Special, ...]
    typed: bool  # whether the second segment has an id of its own, and a summary at the end a third one

    def specials(self, pair: bool) -> int:
        """How many special tokens frame a row."""
        return len(self.before) + (len(self.between) if pair else 0) + len(self.after)


FRAMES: dict[Layout, Frame] = {
    "bert": Frame(("cls",), ("sep",), ("sep",), typed=True),
    "roberta": Frame(("cls",), ("sep", "sep"), ("sep",), typed=False),  # its models know one segment id only
    "xlnet": Frame((), ("sep",), ("sep", "cls"), typed=True),
}
