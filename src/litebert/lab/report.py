"""What came of a run, or of several beside one another, on one page? report.html: a single file that needs no network.

The same folders give the same page, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from litebert import __version__, family
from litebert.config import Config
from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.lab import beside, curves, examples, learnt, page, summary, tuned, tuned_page, warned
from litebert.lab.examples import Drawn, Question
from litebert.lab.figures import COLOURS
from litebert.lab.history import History
from litebert.lab.learnt import Seen
from litebert.model import model as models
from litebert.model.model import Model
from litebert.text import tokenizer as tokenizers
from litebert.train.pretrain import RECIPE
from litebert.train.recipe import Run
from litebert.vectors.rows import SPECIALS

_TEXTS, _QUESTIONS = 400, 160
_LAYERS = "How far each layer moves the vector of a token, and how far it turns it."
_NEAR = "By the angle between rows of the word table, mapped to the layers' width, less what all rows share."
_RATIOS = "LAMB scales the step of each tensor by the tensor's own length: ‖w‖ / ‖update‖."


def write(
    runs: Sequence[str | Path], out: str | Path, *, shards: str | Path | None = None, words: Sequence[str] = (),
    seed: int = 0,
) -> Path:  # fmt: skip
    """The page of some runs; gives back its path.

    shards: a set whose held-out text examples are drawn from; without it they are sentences of our own. words: whose
    neighbours are shown, by default some of the text's frequent ones.
    """
    found = [Path(run) for run in runs]
    if not found or len(found) > COLOURS:
        raise UserError(f"{len(found)} runs do not fit on a page: name 1 to {COLOURS}")
    if _are_tuned(found):
        for name, given in (("shards", shards), ("words", words)):
            if given:
                raise UserError(f"{name} is for runs of pre-training, and {found[0]} is a fine-tuning: leave it out")
        return page.save(Path(out), tuned_page.html(found))
    histories = [History(run) for run in found]
    names = beside.names(found)
    seen, before, asked, drawn = _seen(histories, names, shards, words, seed)
    title = f"{names[0]}: pre-training" if len(names) == 1 else f"{len(names)} runs: {', '.join(names)}"
    body = _body(histories, names, seen, before, asked, drawn)
    links = "".join(f'<a href="#{name}">{page.text(label)}</a>' for name, label, _ in body)
    html = page.document(
        title, summary.header(histories, names) + f"<nav>{links}</nav>", "".join(part for _, _, part in body),
        f"Written by litebert {__version__} from {page.text(' and '.join(names))}.",
    )  # fmt: skip
    return page.save(Path(out), html)


def _are_tuned(runs: Sequence[Path]) -> bool:
    """Whether these are fine-tunings; they share no page with runs of pre-training, and a seed has none of its own."""
    for run in runs:
        if tuned.is_seed(run):
            raise UserError(f"{run} is one seed of a fine-tuning: name the folder that it lies in, {run.parent}")
    others = [run for run in runs if not tuned.is_one(run)]
    if others and len(others) < len(runs):
        first = next(run for run in runs if tuned.is_one(run))
        History(others[0])  # what is neither says so
        raise UserError(f"{first} is a fine-tuning and {others[0]} a run of pre-training: give each a page of its own")
    return not others


def _body(
    histories: Sequence[History], names: Sequence[str], seen: Sequence[Seen], before: Seen | None,
    asked: Sequence[Question], drawn: Drawn | None,
) -> list[tuple[str, str, str]]:  # fmt: skip
    """(name, label, HTML) of every section that has something to say."""
    parts = [("warnings", "Warnings", "", _warned(histories, names)),
             ("curves", "Curves", "", curves.curves(histories, names))]  # fmt: skip
    if seen and drawn is not None:
        source = page.text(drawn.source)
        moved = f"{_LAYERS} Means over {seen[0].layers.tokens:,} tokens of {source}."
        hidden = (
            f"One word is hidden in each of {len(asked)} sentences, both drawn, not chosen, from {source}. "
            f"Words of less than {examples.LETTERS} letters, the easiest to guess, are not asked for."
        )
        parts += [("layers", "Layers", moved, learnt.layer_figure(seen, before)),
                  ("words", "Hidden words", hidden, learnt.guesses(seen, before, asked)),
                  ("neighbours", "Nearest words", _NEAR, learnt.neighbour_table(seen))]  # fmt: skip
    else:
        none = '<p class="note">No model is in the folder yet: layers and words are shown when the run has ended.</p>'
        parts.append(("layers", "Layers", "", none))
    parts += [("trust", "Trust ratios", _RATIOS, beside.each(names, [curves.trust(one) for one in histories])),
              ("recipe", "Recipe", "", _recipes(histories, names))]  # fmt: skip
    return [(name, label, page.section(name, label, lead, html)) for name, label, lead, html in parts if html]


def _seen(
    histories: Sequence[History], names: Sequence[str], shards: str | Path | None, words: Sequence[str], seed: int
) -> tuple[list[Seen], Seen | None, list[Question], Drawn | None]:
    """What the runs' models show; of a single run, what its model showed before training too."""
    there = [(one, name) for one, name in zip(histories, names, strict=True) if _has_model(one.folder)]
    if not there:
        return [], None, [], None
    readers = [tokenizers.load(one.folder) for one, _ in there]
    drawn = examples.drawn(Path(shards) if shards else None, readers[0], _TEXTS, seed)
    drawn = drawn._replace(words=list(words)) if words else drawn
    limits = [limit for one, _ in there if (limit := folders.describe(one.folder)[0].max_positions)]
    most = min(limits) - SPECIALS if limits else 0
    asked = examples.questions(drawn.texts, readers, _QUESTIONS, seed, most)
    seen, before = [], None
    for (one, name), reader in zip(there, readers, strict=True):
        label, allowed = name if len(histories) > 1 else "after training", examples.among(reader, drawn.common)
        seen.append(learnt.look(label, folders.load(one.folder), reader, drawn, asked, allowed))
        if len(histories) == 1 and one.run is not None:
            made, label = _beginning(one.run, folders.describe(one.folder)[0])
            before = learnt.look(label, made, reader, drawn, asked, allowed) if made is not None else None
    return seen, before, asked, drawn


def _beginning(run: Run, config: Config) -> tuple[Model | None, str]:
    """The model as it was before its first step, if it can still be had."""
    if not run.start:
        heads = family.pretraining_heads(config)
        made = models.build(config, heads, seed=run.training.seed)
        return made.eval(), f"before (random weights, seed {run.training.seed})"
    if not Path(run.start).is_dir():
        return None, ""
    return folders.load(run.start), f"before ({Path(run.start).name})"


def _has_model(folder: Path) -> bool:
    return (folder / folders.OURS).is_file() and (folder / "tokenizer.json").is_file()


def _warned(histories: Sequence[History], names: Sequence[str]) -> str:
    """What the health reports said."""
    several = len(histories) > 1
    return warned.shown([
        (f"{page.swatch(place)}{page.text(name)}: " if several else "", [*one.warnings, *one.diverged])
        for place, (one, name) in enumerate(zip(histories, names, strict=True))
    ]) or '<p class="note">None: the health report had nothing to say.</p>'  # fmt: skip


def _recipes(histories: Sequence[History], names: Sequence[str]) -> str:
    """What differs, then every recipe as it was resolved."""
    notes = [f'<p class="note">{page.text(one.unreadable)}</p>' if one.unreadable else "" for one in histories]
    return beside.settings(names, [one.recipe_text for one in histories], RECIPE, notes)
