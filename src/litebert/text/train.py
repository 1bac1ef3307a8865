"""How is a tokenizer trained? Unigram by SentencePiece's trainer with ALBERT's settings, WordPiece and byte-level BPE
by the engine's; all on a sample, and the same pieces every time.

The engine numbers WordPiece's letters in the order of a hash table, and lets those numbers decide between pairs that
are equally frequent: two trainings differ (huggingface/tokenizers#1794). Here it is given every letter beforehand.
"""

from __future__ import annotations

import io
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate, takewhile
from typing import Any

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.text import assemble, normalise, spiece, wordpiece
from litebert.text.pieces import is_spaceless
from litebert.text.sample import CHUNK, Sample
from litebert.text.tokenizer import LENGTH, Kind, Tokenizer

KINDS: tuple[Kind, ...] = ("unigram", "wordpiece", "bpe")
COVERAGE = 0.99995  # of ALBERT's vocabulary, as are the two that follow (google-research/albert#149)
_LONGEST = 16
_SYMBOLS = ["(", ")", '"', "-", ".", "–", "£", "€"]  # pieces by themselves
COVERAGE_OF_MANY = 0.9995  # what SentencePiece advises for scripts of thousands of characters
_LEAST = 2  # times that two pieces stand together before they become one
_THREADS = 16  # their number decides how sums are rounded, so it is not that of this machine's cores
_RESERVED = "\u2585"  # SentencePiece would leave out every sentence that holds it
_PAUSE = 0.2  # seconds between looks at the trainer
_NOTHING = "the sample holds no character that can be printed: look at the corpus"


def train(
    sample: Sample, kind: Kind = "unigram", vocab: int = 30000, *, lowercase: bool | None = None,
    strip_accents: bool | None = None, coverage: float | None = None, length: int = LENGTH,
) -> Tokenizer:  # fmt: skip
    """A tokenizer of `vocab` pieces. Unsaid, case and accents are dropped, but not by bpe, as RoBERTa keeps them.

    coverage: the share of the text's characters that are to have a piece, the rarest become unknown; unsaid, ALBERT's
    0.99995, or 0.9995 where most characters are of a script of thousands. Byte-level pieces spell everything.
    """
    if kind not in KINDS:
        raise UserError(unknown_name("kind", kind, KINDS))
    if coverage is not None and not 0.9 <= coverage <= 1:
        raise UserError(f"coverage {coverage} is not a share near 1: choose 0.9 to 1, {COVERAGE} is usual")
    lower = kind != "bpe" if lowercase is None else lowercase
    strip = lower if strip_accents is None else strip_accents
    if kind == "bpe":
        made = assemble.finished(_bpe(sample, vocab, lower, strip), assemble.ROBERTA, length=length)
    elif kind == "wordpiece":
        made = assemble.finished(_wordpiece(sample, vocab, lower, strip, coverage), assemble.BRACKETS, length=length)
    else:
        made = spiece.converted(_unigram(sample, vocab, lower, strip, coverage), lower, strip, length=length)
    if made.size != vocab:
        raise _too_many(vocab, made.size)
    return made


def _unigram(sample: Sample, vocab: int, lower: bool, strip: bool, coverage: float | None) -> spiece.Model:
    """What SentencePiece's trainer makes of text that is normalised as it will be before it is encoded."""
    try:
        import sentencepiece
    except ImportError:
        raise UserError(
            "unigram pieces are trained by sentencepiece, which is not installed: pip install 'litebert[train]'"
        ) from None
    normaliser = normalise.albert(lower, strip, rule="nfkc")  # the rest of nmt_nfkc is the trainer's
    letters = _counted(sample, normaliser)
    written = io.BytesIO()
    settings: dict[str, Any] = {
        "model_type": "unigram", "vocab_size": vocab, "character_coverage": coverage or _coverage(letters),
        "max_sentencepiece_length": _LONGEST, "normalization_rule_name": "nmt_nfkc",
        "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "pad_piece": "<pad>", "unk_piece": "<unk>",
        "control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "user_defined_symbols": _SYMBOLS,
        "max_sentence_length": 16 * CHUNK,  # bytes; SentencePiece would leave out a longer one
        "num_threads": _THREADS, "minloglevel": 2,
    }  # fmt: skip
    trainer = sentencepiece.SentencePieceTrainer

    def work() -> None:
        texts = (text.replace(_RESERVED, " ") for text in _uniform(sample, normaliser))
        trainer.train(sentence_iterator=texts, model_writer=written, **settings)

    try:
        _stoppable(work)
    except RuntimeError as error:
        raise _explained(str(error), vocab) from None
    return spiece.parse(written.getvalue(), "the trained model")


def _wordpiece(sample: Sample, vocab: int, lower: bool, strip: bool, coverage: float | None) -> tokenizers.Tokenizer:
    """BERT's words, cut into letters, and the most frequent pairs joined until there are enough pieces."""
    unk = assemble.BRACKETS["unk"]
    engine = wordpiece.engine({unk: 0}, unk, lower, strip)
    counts = _counted(sample, engine.normalizer)
    letters = _covered(counts, coverage or _coverage(counts))
    joins = [letter for letter in letters if _joins(engine, letter)]
    given = [*assemble.BRACKETS.values(), *letters, *(f"##{letter}" for letter in joins)]
    if len(given) > vocab:
        raise _too_few(vocab, len(given))
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab, min_frequency=_LEAST, special_tokens=given, initial_alphabet=letters,
        limit_alphabet=len(letters), show_progress=False,
    )  # fmt: skip
    _stoppable(lambda: engine.train_from_iterator(sample.sentences(), trainer))
    return wordpiece.engine(engine.get_vocab(with_added_tokens=False), unk, lower, strip)


def _joins(engine: tokenizers.Tokenizer, letter: str) -> bool:
    """Whether a character goes on with a word: punctuation and Chinese ones stand alone."""
    return len(engine.pre_tokenizer.pre_tokenize_str(engine.normalizer.normalize_str(f"a{letter}"))) == 1


def _bpe(sample: Sample, vocab: int, lower: bool, strip: bool) -> tokenizers.Tokenizer:
    """GPT-2's words, each with a space before it, in bytes, and the most frequent pairs joined."""
    names, bytes_ = list(assemble.ROBERTA.values()), sorted(pre_tokenizers.ByteLevel.alphabet())
    if len(names) + len(bytes_) > vocab:
        raise _too_few(vocab, len(names) + len(bytes_))

    def around(model: models.BPE) -> tokenizers.Tokenizer:
        made = tokenizers.Tokenizer(model)
        normaliser = normalise.plain(lower, strip)
        if normaliser is not None:
            made.normalizer = normaliser
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        return made

    trainer = trainers.BpeTrainer(
        vocab_size=vocab, min_frequency=_LEAST, special_tokens=names, initial_alphabet=bytes_, show_progress=False
    )
    engine = around(models.BPE())
    _stoppable(lambda: engine.train_from_iterator(sample.sentences(), trainer))
    model = json.loads(engine.to_str())["model"]
    return around(models.BPE(model["vocab"], [(left, right) for left, right in model["merges"]]))


def _uniform(sample: Sample, normaliser: normalizers.Normalizer) -> Iterator[str]:
    return map(normaliser.normalize_str, sample.sentences())


def _counted(sample: Sample, normaliser: normalizers.Normalizer) -> Counter[str]:
    """How often each character stands in the normalised text."""
    counts: Counter[str] = Counter()
    for text in _uniform(sample, normaliser):
        counts.update(text)
    del counts[" "]
    if not counts:
        raise UserError(_NOTHING)
    return counts


def _coverage(counts: Counter[str]) -> float:
    many = sum(count for letter, count in counts.items() if is_spaceless(letter))
    return COVERAGE_OF_MANY if 2 * many > counts.total() else COVERAGE


def _covered(counts: Counter[str], coverage: float) -> list[str]:
    """The most frequent characters that make up that share of the text, in the order of their code points."""
    ranked = sorted(counts, key=lambda letter: (-counts[letter], letter))
    before = accumulate((counts[letter] for letter in ranked), initial=0)  # what stands before each
    missing = takewhile(lambda pair: pair[1] < coverage * counts.total(), zip(ranked, before, strict=False))
    return sorted(letter for letter, _ in missing)


def _stoppable(work: Callable[[], object]) -> None:
    """Do what hears no Ctrl-C itself, in a thread that is left behind when one comes."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PAUSE)
    for failure in failures:
        raise failure


def _explained(message: str, vocab: int) -> UserError:
    """What SentencePiece says, for a person."""
    if "all_chars_count" in message:
        return UserError(_NOTHING)
    if most := re.search(r"value <= (\d+)", message):
        return _too_many(vocab, int(most[1]))
    if least := re.search(rf"\b{vocab} vs (\d+)", message):
        return _too_few(vocab, int(least[1]))
    return UserError(f"sentencepiece could not train on this sample ({' '.join(message.split())}): look at the corpus")


def _too_many(vocab: int, most: int) -> UserError:
    return UserError(f"vocab {vocab} is more than this text gives: choose {most} or less, or give more text")


def _too_few(vocab: int, least: int) -> UserError:
    return UserError(
        f"vocab {vocab} has no room for the special pieces and the single characters: choose more than {least}, or a "
        "lower coverage"
    )
