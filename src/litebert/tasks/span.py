"""Where in a context is the answer to a question, if it is there at all? SQuAD 1.1 by two scores, 2.0 by XLNet's head.

A context that is longer than a row is read in windows. One that does not hold the answer points to CLS; with unanswered
questions among the examples the model says besides whether there is an answer, and of those windows that there is none
(google-research/albert: squad_utils.py). Shapes: I windows, T tokens, K beams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import best_span, cmrc_metric, questions, squad_metric, whole
from litebert.tasks.best_span import LONGEST, Beams, Scored
from litebert.tasks.examples import Question
from litebert.tasks.offsets import Located, Stretch
from litebert.tasks.questions import Back
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Item
from litebert.text.pieces import has_spaceless
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums

Judge = Literal["squad", "cmrc"]

_UNKNOWN = -100
_NO_ANSWER = 0.5  # above so much of a probability none is given
_LONGEST_CMRC = 50  # its answers are longer, and a Chinese piece is a character (CLUEbenchmark/CLUE: max_ans_length)


class Answered(NamedTuple):
    """The answer to a question: `context[start:end]`, or "" if it is said to have none."""

    prediction: str
    start: int
    end: int
    probability: float  # among the best twenty
    best: str  # the likeliest stretch, were there an answer
    no_answer: float | None  # how likely there is none; None where the model is not asked


class Span:
    """Questions with the stretch of their context that answers them."""

    kind = "span"

    def __init__(
        self, answerable: bool = False, length: int = 384, stride: int = 128, question: int = 64,
        judge: Judge = "squad", threshold: float = _NO_ANSWER, longest: int = LONGEST,
    ) -> None:  # fmt: skip
        """answerable: whether there is an answer is asked, too. judge: whose script says how near an answer is.

        longest: pieces of an answer. threshold: above so much of a probability that there is none, none is given.
        """
        self.answerable, self.length, self.stride, self.question = answerable, length, stride, question
        self.judge, self.threshold, self.longest = judge, threshold, longest
        self.measures = ("f1", "exact", "best_f1", "best_exact") if answerable else ("f1", "exact")

    @classmethod
    def settled(cls, examples: Sequence[Question], tuning: Tuning) -> Self:
        """The task for such examples: with one that has no answer among them, it is asked for all."""
        for name, usual in (("long", "head"), ("weights", "none"), ("smoothing", 0.0)):
            if getattr(tuning, name) != usual:
                raise UserError(f"{name} {getattr(tuning, name)!r} has no meaning for span, where all of a context is "
                                f"read and an answer is a place: leave it {usual!r}")  # fmt: skip
        if tuning.length - tuning.question < 8:
            raise UserError(f"question {tuning.question} leaves no room for a context in length {tuning.length}: "
                            f"choose a length of {tuning.question + 8} or more")  # fmt: skip
        absent = any(example.answers == () for example in examples)
        if not absent and _is_spaceless(examples):
            return cls(absent, tuning.length, tuning.stride, tuning.question, "cmrc", longest=_LONGEST_CMRC)
        return cls(absent, tuning.length, tuning.stride, tuning.question)

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(**{name: value for name, value in saved.items() if name != "kind"})

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "answerable": self.answerable, "length": self.length, "stride": self.stride,
                "question": self.question, "judge": self.judge, "threshold": self.threshold,
                "longest": self.longest}  # fmt: skip

    def spec(self, config: Config) -> tuple[str, Head]:
        """The head for answers that are there, or XLNet's."""
        name = "span-answerable" if self.answerable else "span"
        return name, family.head(config, name)

    def items(self, examples: Sequence[Question], tokenizer: Tokenizer) -> list[Item]:
        """The windows of every context beside its question."""
        return questions.items(examples, tokenizer, self.length, self.stride, self.question)

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """start and end [I], with XLNet's head absent [I] as well, and the places [I, T] that can be neither."""
        shifts = [width - item.width if item.back.left else 0 for item in items]
        known: dict[str, Tensor] = {}
        if any(item.target is not None for item in items):
            places = [
                (_UNKNOWN, _UNKNOWN, 0) if item.target is None
                else (item.target.start + shift, item.target.end + shift, item.target.absent)
                for item, shift in zip(items, shifts, strict=True)
            ]  # fmt: skip
            start, end, absent = torch.tensor(places, dtype=torch.long).unbind(1)
            known = {"start": start, "end": end}
            if self.answerable:
                known["absent"] = absent.float()
        if self.answerable:
            known["forbidden"] = torch.from_numpy(questions.forbidden(items, shifts, width))
        return known

    def counts(self, micro: Fed) -> dict[str, float]:
        """Windows whose answer is known."""
        if "start" not in micro.targets:
            return {}
        count = float((micro.targets["start"] >= 0).sum())
        return {"span": count, "answerable": count} if self.answerable else {"span": count}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Half the cross entropy of start and end each; and half that of whether there is an answer."""
        if "start" not in micro.targets:
            return {}
        start, end = micro.targets["start"], micro.targets["end"]
        known = start >= 0
        out = model(micro.ids, micro.mask, micro.segments, all_hidden=False)
        if not self.answerable:
            return {"span": _of_places(*_scores(model.logits("span", out), micro.mask), start, end)}
        starts, ends, absence = model.logits(
            "span-answerable", out, start.clamp(min=0), forbidden=micro.targets["forbidden"]
        )
        absent, count = micro.targets["absent"], known.sum().float()
        lost = F.binary_cross_entropy_with_logits(absence.float(), absent, reduction="none")
        right = ((absence > 0) == (absent > 0)) & known
        answerable = Sums(0.5 * torch.where(known, lost, 0.0).sum(), right.sum().float(), count)
        return {"span": _of_places(starts.float(), ends.float(), start, end), "answerable": answerable}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[T, 2] scores of a window's own tokens, or its `Beams`."""
        out = model(micro.ids, micro.mask, micro.segments, all_hidden=False)
        rows, width = micro.ids.shape
        mask = np.ones((rows, width), bool) if micro.mask is None else micro.mask.cpu().numpy().astype(bool)
        if not self.answerable:
            scores = model.logits("span", out).float().cpu().numpy()
            return [one[real] for one, real in zip(scores, mask, strict=True)]
        said = model.logits("span-answerable", out, forbidden=micro.targets["forbidden"])
        start_log, start, end_log, end, absence = (part.float().cpu().numpy() for part in said)
        firsts = mask.argmax(axis=1)  # [I] tokens of padding in front
        return [
            Beams(start_log[i], start[i].astype(np.int64) - first, end_log[i], end[i].astype(np.int64) - first,
                  float(absence[i]))
            for i, first in enumerate(firsts)
        ]  # fmt: skip

    def predictions(
        self, examples: Sequence[Question], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Answered]:  # fmt: skip
        """The likeliest answer over all windows of a question; it has none only if no window has it."""
        spans: list[list[Scored]] = [[] for _ in examples]
        absence = [np.inf] * len(examples)
        contexts: dict[int, Located] = {}
        for item, output in zip(items, outputs, strict=True):
            back: Back = item.back
            contexts[item.example] = back.located
            if self.answerable:
                found = best_span.of_beams(output, back.at, back.own, self.longest)
                absence[item.example] = min(absence[item.example], output.no_answer)
            else:
                part = output[back.at : back.at + len(back.own)]
                found = best_span.of_scores(part[:, 0], part[:, 1], back.own, self.longest)
            spans[item.example] += [_moved(one, back.window.begin) for one in found]
        return [self._answered(contexts[i], spans[i], absence[i]) for i in range(len(examples))]

    def _answered(self, located: Located, spans: Sequence[Scored], absence: float) -> Answered:
        found = best_span.candidates(located, spans)
        best = found[0] if found else best_span.Candidate("", -1, -1, 0.0)
        absent = best_span.sigmoid(absence) if self.answerable else None
        if absent is not None and absent > self.threshold:
            return Answered("", -1, -1, best.probability, best.text, absent)
        return Answered(*best, best.text, absent)

    def score(self, examples: Sequence[Question], predictions: Sequence[Answered]) -> dict[str, float]:
        """As the benchmarks' scripts have it; `best`: with the threshold that suits these examples best."""
        known = [i for i, example in enumerate(examples) if example.answers is not None]
        gold = [[answer.text for answer in examples[i].answers or ()] for i in known]
        said = [predictions[i] for i in known]
        texts = [one.prediction for one in said]
        if self.answerable:
            absent = [one.no_answer or 0.0 for one in said]
            best = squad_metric.squad2([one.best for one in said], gold, absent)
            given = squad_metric.squad2(texts, gold)
            report = best | {name: given[name] for name in ("f1", "exact")}
        elif self.judge == "cmrc":
            report = cmrc_metric.cmrc(texts, gold)
        else:  # a question without an answer, which was not among the examples that settled this, counts as missed
            report = squad_metric.squad1(texts, gold) if all(gold) else squad_metric.squad2(texts, gold)
        return {name: report[name] for name in self.measures}

    def best_threshold(self, examples: Sequence[Question], predictions: Sequence[Answered]) -> float:
        """The threshold by which F1 of these answers would be highest; as it is, where none is asked for."""
        known = [pair for pair in zip(examples, predictions, strict=True) if pair[0].answers is not None]
        if not self.answerable or not known:
            return self.threshold
        gold = [[answer.text for answer in example.answers or ()] for example, _ in known]
        absent = [one.no_answer or 0.0 for _, one in known]
        return squad_metric.squad2([one.best for _, one in known], gold, absent)["best_f1_thresh"]

    def collapsed(self, predictions: Sequence[Answered]) -> str:
        """Whether all questions get one answer."""
        if len(predictions) < whole.MANY:
            return ""
        if not any(one.prediction for one in predictions):
            return "no question is given an answer"
        first = predictions[0]
        if all(one.prediction == first.prediction for one in predictions):
            return f"every question is answered {first.prediction!r}"
        if all(one.start == first.start for one in predictions):
            return f"every answer begins at character {first.start + 1} of its context"
        return ""


def _is_spaceless(examples: Sequence[Question]) -> bool:
    """Whether most answers are in a script without spaces, whose words SQuAD's script would not tell apart."""
    answers = [answer.text for example in examples for answer in example.answers or ()]
    return 2 * sum(map(has_spaceless, answers)) > len(answers)


def _scores(logits: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """[I, T, 2] -> start and end [I, T]; padding, which is no place, has no share in them."""
    scores = logits.float()
    if mask is not None:
        scores = scores.masked_fill(~mask.bool()[..., None], float("-inf"))
    return scores[..., 0], scores[..., 1]


def _of_places(starts: Tensor, ends: Tensor, start: Tensor, end: Tensor) -> Sums:
    """Half the cross entropy of each, summed; right is who finds both."""
    lost = [F.cross_entropy(scores, place, ignore_index=_UNKNOWN, reduction="sum")
            for scores, place in ((starts, start), (ends, end))]  # fmt: skip
    right = (starts.argmax(dim=-1) == start) & (ends.argmax(dim=-1) == end)
    return Sums(0.5 * (lost[0] + lost[1]), right.sum().float(), (start >= 0).sum().float())


def _moved(span: Scored, by: int) -> Scored:
    return Scored(span.score, Stretch(span.pieces.first + by, span.pieces.last + by))
