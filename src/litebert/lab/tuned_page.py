"""What came of a fine-tuning, or of several of one task, on one page? Seeds and curves, then what the answers tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from litebert import __version__
from litebert.lab import (
    agreement,
    answered,
    attempts,
    beside,
    chosen,
    confusion,
    errors_shown,
    judged,
    lengths,
    page,
    regressed,
    reliability,
    tagged,
    tuned,
    tuned_summary,
    warned,
)
from litebert.lab.judged import Judged
from litebert.lab.tuned import TUNING, Tuned

_SEEDS = (
    "Each is trained from the same model with its own order of examples, dropout and head; medians count all of them."
)
_SURE = "Of the answers that are given with like confidence, how many are right?"
_LONG = "By the real tokens of an example, all of its rows together; the lines reach as far as chance may (95 %)."
_AGREE = (
    "Every run beside the first, on the same examples. A difference is sure if it stays on one side of 0 when the "
    "examples are drawn again."
)

_NOTHING = '<p class="note">Nothing is known of it.</p>'


class Own(NamedTuple):
    """What a kind of task has to show that others have not."""

    title: str
    lead: str
    shown: Callable[[Tuned, Sequence[Judged]], str]


_OWN: dict[str, Own] = {
    "classify": Own("Classes", "", confusion.shown),
    "choice": Own("Options", "Which place the right option has, and which was chosen.",
                  lambda _, some: chosen.shown(some)),
    "regress": Own("Scores", "", lambda _, some: regressed.shown(some)),
    "tag": Own("Entities", "An entity is found if its first word, its last one and its type are right.",
               lambda _, some: tagged.shown(some)),
    "span": Own("Answers", "", lambda _, some: answered.shown(some)),
}  # fmt: skip


def html(folders: Sequence[Path]) -> str:
    """The page of some folders."""
    runs, names = [tuned.read(folder) for folder in folders], beside.names(folders)
    tuned.of_one_task(runs)
    parts = _sections(runs, names)
    links = "".join(f'<a href="#{name}">{page.text(label)}</a>' for name, label, _ in parts)
    title = f"{names[0]}: fine-tuning" if len(names) == 1 else f"{len(names)} fine-tunings: {', '.join(names)}"
    return page.document(
        title, tuned_summary.header(runs, names) + f"<nav>{links}</nav>", "".join(part for _, _, part in parts),
        f"Written by litebert {__version__} from {page.text(' and '.join(names))}.",
    )  # fmt: skip


def _sections(runs: Sequence[Tuned], names: Sequence[str]) -> list[tuple[str, str, str]]:
    """(name, label, HTML) of every section that has something to say."""
    parts = [("warnings", "Warnings", "", _warned(runs, names)),
             ("seeds", "Seeds", _SEEDS if len(runs[0].seeds) > 1 else "", attempts.table(runs, names)),
             ("curves", "Curves", "", attempts.curves(runs, names))]  # fmt: skip
    parts += _answers(runs, names)
    settings = beside.settings(names, [run.settings for run in runs], TUNING)
    parts.append(("settings", "Settings", "", settings))
    return [(name, label, page.section(name, label, lead, shown)) for name, label, lead, shown in parts if shown]


def _answers(runs: Sequence[Tuned], names: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """(name, label, lead, HTML) of what the predictions of the best seeds tell."""
    known = [judged.judge(run) for run in runs]
    if not any(known):
        none = '<p class="note">No answers are in the folder yet: they are shown when the first seed has ended.</p>'
        return [("answers", "Answers", "", none)]
    kind, several = runs[0].kind, len(runs) > 1
    own, scale = _OWN[kind], judged.scale(runs[0])

    def each(shown: Callable[[Tuned, Sequence[Judged]], str]) -> str:
        found = [shown(run, some) for run, some in zip(runs, known, strict=True)]
        return beside.each(names, [one or _NOTHING for one in found]) if any(found) else ""

    lead = errors_shown.LEADS[kind]
    return [
        ("agreement", "Side by side", _AGREE if agreement.same(known) else "",
         agreement.shown(known, names, scale) if several else ""),
        ("answers", "Labels" if runs[0].several else own.title, own.lead, each(own.shown)),
        ("calibration", "Calibration", _SURE, each(reliability.shown)),
        ("lengths", "Lengths", _LONG, lengths.by_length(known, names, scale)),
        ("errors", "Worst errors", lead, each(errors_shown.shown)),
    ]  # fmt: skip


def _warned(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """What was amiss with the seeds; that one told nothing apart and then learnt to is not."""
    logs = []
    for place, (run, name) in enumerate(zip(runs, names, strict=True)):
        for seed in run.seeds:
            who = f"seed {seed.seed}: " if len(run.seeds) > 1 else ""
            shown = f"{page.swatch(place)}{page.text(name)}{', ' if who else ': '}{who}" if len(runs) > 1 else who
            past = not seed.collapsed and not seed.alike
            logs.append((shown, [one for one in seed.events if not (past and one.get("kind") == "collapsed")]))
    return warned.shown(logs) or '<p class="note">None: no seed collapsed or came apart.</p>'
