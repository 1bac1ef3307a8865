"""What does a model say? One small module a kind of answer, all called alike: `head(out, embedding, asked)`.

The language-model heads are tied to the embedding by using it; `asked` names the positions that an answer is wanted
for. Shapes: B batch, T tokens, P asked, H hidden, E embedding, V vocabulary.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert import family
from litebert.config import Config, Head
from litebert.model.embedding import Embedding
from litebert.model.linear import linear
from litebert.model.output import Output


def at(hidden: Tensor, asked: Tensor | None) -> Tensor:
    """hidden [B, T, H] at `asked`: places [B, P] -> [B, P, H]; a mask [B, T] of R ones -> [R, H]; None -> all."""
    if asked is None:
        return hidden
    if asked.dtype == torch.bool:
        return hidden[asked]
    return hidden.gather(1, asked[..., None].expand(-1, -1, hidden.shape[-1]))


class MaskedLM(nn.Module):
    """Dense to width E, activation, norm, tied matrix, bias: logits over the vocabulary."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        width = config.hidden if config.mapping == "early" else config.embedding
        self.dense = nn.Linear(config.hidden, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.empty(config.vocab))
        self.activation = config.head_activation or config.activation

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, T, V], or [B, P, V] or [R, V] where only some positions are asked for."""
        return embedding.decode(self._dense(out, asked), self.bias)

    def features(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """What the word table is multiplied with, [B, P, E], and the table [V, E]: for a loss that needs no logits."""
        return embedding.narrowed(self._dense(out, asked)), embedding.word.weight

    def _dense(self, out: Output, asked: Tensor | None) -> Tensor:
        x: Tensor = self.norm(linear(at(out.last, asked), self.dense, self.activation))
        return x


class PermutationLM(nn.Module):
    """XLNet's: the tied matrix and a bias, after a dense layer only where E differs from H."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        width = config.hidden if config.mapping == "early" else config.embedding
        self.dense = nn.Linear(config.hidden, width) if config.hidden != width else None
        self.bias = nn.Parameter(torch.empty(config.vocab))

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, P, V] for the query stream's rows."""
        x = at(out.last, asked)
        return embedding.decode(x if self.dense is None else linear(x, self.dense), self.bias)


class Order(nn.Module):
    """SOP and NSP: 0 = in order (is next), 1 = swapped (random)."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        self.out, self.dropout = nn.Linear(config.hidden, 2), config.order_dropout

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, 2]."""
        _refuse_places("order", asked)
        return linear(F.dropout(_pooled(out, "order"), self.dropout, self.training), self.out)


class ReplacedToken(nn.Module):
    """ELECTRA's discriminator: above 0 = this token was replaced."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(config.hidden, config.hidden), nn.Linear(config.hidden, 1)
        self.activation = config.activation

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, T]."""
        return linear(linear(at(out.last, asked), self.dense, self.activation), self.out).squeeze(-1)


class Classify(nn.Module):
    """One answer for the whole text, from the vector that the head's spec names."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        self.source, self.activation, self.first_dropout = head.source, head.dense, head.first_dropout
        self.dense = nn.Linear(config.hidden, config.hidden) if head.dense != "none" else None
        self.out = nn.Linear(config.hidden, 1 if head.kind == "choice" else head.labels)
        self.dropout = family.head_dropout(config, head)

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, labels]; for a choice [B, 1], one score a candidate."""
        _refuse_places("classify", asked)
        place = 0 if self.source == "first" else -1
        x = _pooled(out, "classify") if self.source == "pooled" else out.last[:, place]
        if self.dense is not None:
            x = linear(F.dropout(x, self.dropout, self.training and self.first_dropout), self.dense, self.activation)
        return linear(F.dropout(x, self.dropout, self.training), self.out)


class Tag(nn.Module):
    """An answer for every token."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        self.out, self.dropout = nn.Linear(config.hidden, head.labels), family.head_dropout(config, head)

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, T, labels]."""
        return linear(F.dropout(at(out.last, asked), self.dropout, self.training), self.out)


class Span(nn.Module):
    """Where an answer begins and ends (SQuAD 1.1): [..., 0] scores starts, [..., 1] ends."""

    def __init__(self, config: Config, head: Head) -> None:
        super().__init__()
        self.out = nn.Linear(config.hidden, 2)

    def forward(self, out: Output, embedding: Embedding, asked: Tensor | None = None) -> Tensor:
        """-> [B, T, 2]."""
        _refuse_places("span", asked)
        return linear(out.last, self.out)


class AnswerableSpan(nn.Module):
    """XLNet's head for SQuAD 2.0: the end is scored given the start, and whether there is an answer at all.

    With `asked` [B], the true starts, it gives (start [B, T], end [B, T], no-answer [B]) for the loss; without, `beams`
    best starts and for each as many ends: (start log-probability, start, end log-probability, end, no-answer), the
    pieces [B, beams], [B, beams], [B, beams, beams], [B, beams, beams], [B].
    """

    def __init__(self, config: Config, head: Head, beams: int = 5) -> None:
        super().__init__()
        hidden = config.hidden
        self.start = nn.Linear(hidden, 1)
        self.end_dense, self.end = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 1)
        self.end_norm = nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.no_answer_dense, self.no_answer = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 1, bias=False)
        self.beams, self.dropout = beams, family.head_dropout(config, head)
        self.last_is_cls = config.positions == "relative"  # XLNet's layout ends with CLS

    def forward(
        self, out: Output, embedding: Embedding, asked: Tensor | None = None, forbidden: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        hidden = out.last
        start = _forbid(linear(hidden, self.start).squeeze(-1), forbidden)  # [B, T]
        if asked is not None:
            chosen = hidden.gather(1, asked[:, None, None].expand(-1, 1, hidden.shape[-1]))  # [B, 1, H]
            end = _forbid(self._ends(hidden, chosen)[:, 0], forbidden)
            return start, end, self._no_answer(hidden, chosen[:, 0])
        log_start = torch.log_softmax(start.float(), dim=-1)
        beams = min(self.beams, start.shape[1])
        best_log, best = log_start.topk(beams)  # [B, beams]
        chosen = hidden.gather(1, best[..., None].expand(-1, -1, hidden.shape[-1]))  # [B, beams, H]
        end = self._ends(hidden, chosen)  # [B, beams, T]
        end_log, end_best = torch.log_softmax(_forbid(end, _row(forbidden)).float(), dim=-1).topk(beams)
        average = torch.softmax(start.float(), dim=-1).to(hidden.dtype)[:, None] @ hidden  # [B, 1, H]
        return best_log, best, end_log, end_best, self._no_answer(hidden, average[:, 0])

    def _ends(self, hidden: Tensor, starts: Tensor) -> Tensor:
        """hidden [B, T, H], starts [B, S, H] -> [B, S, T]."""
        shape = (-1, starts.shape[1], hidden.shape[1], -1)
        pairs = torch.cat([hidden[:, None].expand(shape), starts[:, :, None].expand(shape)], dim=-1)
        return linear(self.end_norm(linear(pairs, self.end_dense, "tanh")), self.end).squeeze(-1)

    def _no_answer(self, hidden: Tensor, start: Tensor) -> Tensor:
        cls = hidden[:, -1 if self.last_is_cls else 0]
        x = linear(torch.cat([start, cls], dim=-1), self.no_answer_dense, "tanh")
        return linear(F.dropout(x, self.dropout, self.training), self.no_answer).squeeze(-1)


_MODULES: dict[str, type[nn.Module]] = {
    "mlm": MaskedLM, "plm": PermutationLM, "order": Order, "rtd": ReplacedToken, "classify": Classify, "tag": Tag,
    "span": Span, "span-answerable": AnswerableSpan, "choice": Classify,
}  # fmt: skip


def build(config: Config, head: Head) -> nn.Module:
    """The module for a head's spec."""
    module: nn.Module = _MODULES[head.kind](config, head)
    return module


def _refuse_places(kind: str, asked: Tensor | None) -> None:
    if asked is not None:
        raise ValueError(f"head {kind!r} answers for the text as a whole: leave out asked")


def _pooled(out: Output, kind: str) -> Tensor:
    if out.pooled is None:
        raise ValueError(f"head {kind!r} reads the pooled vector, but this model has none: set pooler=cls (or mean)")
    return out.pooled


def _forbid(scores: Tensor, forbidden: Tensor | None) -> Tensor:
    return scores if forbidden is None else scores.masked_fill(forbidden.bool(), torch.finfo(scores.dtype).min)


def _row(forbidden: Tensor | None) -> Tensor | None:
    return None if forbidden is None else forbidden[:, None]
