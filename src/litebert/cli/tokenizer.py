"""`litebert tokenizer`: pieces are trained, brought in, looked at, and added to."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console, extend, sampled, spell
from litebert.cli.progress import Meter
from litebert.cli.stopping import stoppable

app = typer.Typer(no_args_is_help=True, help="The pieces that text is made of: train them, import, extend, show them.")
app.command("show")(spell.show)
app.command("extend")(extend.extend)

Case = Annotated[str, typer.Option(help="lower, keep, or auto.")]
Accents = Annotated[str, typer.Option(help="drop, keep, or auto: dropped where case is lowered.")]
_CHOICES = {"auto": None, "lower": True, "drop": True, "keep": False}


@app.command("train")
def train(
    corpus: sampled.Corpus,
    out: sampled.Out,
    more: sampled.More = None,
    kind: Annotated[str, typer.Option(help="unigram (as ALBERT), wordpiece (as BERT) or bpe (bytes, as RoBERTa).")]
    = "unigram",
    vocab: Annotated[int, typer.Option(help="How many pieces, special ones among them.", min=1)] = 30000,
    case: Case = "auto",
    accents: Accents = "auto",
    coverage: Annotated[
        float | None, typer.Option(help="Share of the characters that get a piece. Unsaid: 0.99995, Chinese 0.9995.",
                                      min=0.9, max=1)
    ] = None,
    length: Annotated[int, typer.Option(help="The longest input that transformers is told of.", min=2)] = 512,
    sample: sampled.Megabytes = 64,
    seed: sampled.Seed = 0,
    field: sampled.Field = "text",
    documents: sampled.Documents = "blank",
    lines: sampled.Lines = False,
    invalid: sampled.Invalid = "refuse",
    bad: sampled.Bad = "refuse",
    overwrite: sampled.Overwrite = False,
    as_json: sampled.AsJson = False,
) -> None:  # fmt: skip
    """Train a tokenizer on a sample of a corpus: bounded memory, and the same pieces every time.

    Leaves tokenizer.json and tokenizer_config.json, which transformers loads as they are. Unigram and WordPiece pieces
    are lower-case and without accents unless told otherwise; bytes keep both. Unigram training takes some 20 bytes of
    memory for each byte of the sample, and needs sentencepiece: pip install 'litebert\\[train]'.

    [bold]litebert tokenizer train --corpus wiki --kind unigram --vocab 30000 --out tok[/]
    """
    from litebert.text.fit import fit
    from litebert.text.train import KINDS
    from litebert.text.train import train as training

    _one_of("--kind", kind, KINDS)
    lower, strip = _choice("--case", case, "lower"), _choice("--accents", accents, "drop")
    sampled.refuse_full(out, overwrite)
    began = time.monotonic()
    with stoppable("nothing was written; give the same command again"), Meter("reading") as meter:
        drawn = sampled.draw([*corpus, *(more or [])], sample, seed, lines, meter, field=field, documents=documents,
                       invalid=invalid, bad=bad)  # fmt: skip
        meter.aside(f"training {kind} on {console.short(drawn.size, 'B')} of {console.short(drawn.read, 'B')}")
        made = training(drawn, kind, vocab, lowercase=lower, strip_accents=strip, coverage=coverage, length=length)  # type: ignore[arg-type]
        made.save(out)
    report = {
        **sampled.report(out, made, drawn),
        "fit": sampled.fitted(fit(made, drawn)),
        "seconds": round(time.monotonic() - began, 3),
    }
    if as_json:
        console.say_json(report)
        return
    sampled.say_read(drawn)
    console.say(console.table(("", ""), [*spell.told(made), *sampled.fit_rows(report["fit"])]))
    console.say(f"{console.literal(out)} written in {report['seconds']:.1f} s")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="spiece.model, vocab.txt, tokenizer.json, or a folder of one.")],
    out: sampled.Out,
    case: Case = "auto",
    accents: Accents = "auto",
    commas: Annotated[
        bool, typer.Option("--commas/--no-commas", help="ALBERT's rule: a comma after a digit is a piece by itself.")
    ] = True,
    length: Annotated[
        int | None, typer.Option(help="The longest input that transformers is told of: 512 if nothing says it.", min=2)
    ] = None,
    overwrite: sampled.Overwrite = False,
    as_json: sampled.AsJson = False,
) -> None:  # fmt: skip
    """Bring in a tokenizer that others have made, with the same ids, as one tokenizer.json.

    A SentencePiece unigram model is normalised as ALBERT does, a vocab.txt as BERT does. What becomes of case and
    accents is read from the tokenizer_config.json beside it, else from the vocabulary: one without capitals is
    lower-case.

    [bold]litebert tokenizer import spiece.model --out tok[/]
    """
    from litebert.text import foreign

    sampled.refuse_full(out, overwrite)
    lower, strip = _choice("--case", case, "lower"), _choice("--accents", accents, "drop")
    made = foreign.read(file, lowercase=lower, strip_accents=strip, split_commas=commas, length=length)
    made.save(out)
    if as_json:
        console.say_json({"folder": str(out), **spell.values(made)})
        return
    console.say(console.table(("", ""), spell.told(made)))
    console.say(f"{console.literal(out)} written")


def _choice(option: str, value: str, yes: str) -> bool | None:
    _one_of(option, value, ("auto", yes, "keep"))
    return _CHOICES[value]


def _one_of(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        from litebert.config import unknown_name
        from litebert.errors import UserError

        raise UserError(unknown_name(option, value, choices))
