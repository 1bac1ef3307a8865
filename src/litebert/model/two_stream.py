"""How does XLNet predict a token that it may place but not see? A second stream that has a position and no content.

The content stream is the encoder's ordinary run. The query stream starts from one learned vector at every predicted
place, and at every depth reads the content stream's keys and values through the same weights (Yang et al. 2019 §2.3).
Only the predicted rows are computed. Shapes: B batch, T tokens, M predicted rows, H hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from litebert.model.attention import Surroundings
from litebert.model.encoder import Encoder


def run(
    encoder: Encoder,
    content: Tensor,
    query: Tensor,
    content_around: Surroundings,
    query_around: Surroundings,
    memory: Sequence[Tensor | None] | None = None,
) -> tuple[list[Tensor], list[Tensor]]:
    """content [B, T, H] and query [B, M, H] -> the states of both streams, their inputs first."""
    contents, queries = [content], [query]
    for i, (attention, ffn, biases) in enumerate(encoder.blocks()):
        key, value = attention.keys_values(content, content_around, None if memory is None else memory[i])
        query = ffn(attention.read(query, key, value, query_around, biases))
        content = ffn(attention.read(content, key, value, content_around, biases))
        contents.append(content)
        queries.append(query)
    contents[-1], queries[-1] = encoder.norm(contents[-1]), encoder.norm(queries[-1])
    return contents, queries
