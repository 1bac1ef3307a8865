"""What decides the bytes of a shard set, beside corpus and tokenizer? One frozen value; the workers are not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from litebert.config import ConfigError, first_line
from litebert.text.items import Reading

MOST_TOKENS = 1 << 31


class Options(BaseModel):
    """How text becomes shards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seed: int = 0  # of what is held out
    held_out: float = 0.01  # share of the documents kept for validation
    shard_tokens: int = 1 << 23  # a shard is closed when it has so many
    lines: bool = False  # every line is a sentence
    words: Literal["pieces", "jieba"] = "pieces"  # what begins a word: the tokenizer's pieces say, or jieba does
    reading: Reading = Reading()

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not 0.0 <= self.held_out < 1.0:
            raise ConfigError(
                f"held_out {self.held_out} is not a share below 1: choose for example 0.01, or 0 for none"
            )
        if not 1 <= self.shard_tokens <= MOST_TOKENS:
            raise ConfigError(f"shard_tokens {self.shard_tokens} is not between 1 and 2^31: 8388608 is a good size")
        return self
