"""How is an answer written? As a line of JSON, or as a row of a table whose columns its first row settles."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from litebert.errors import RunError
from litebert.tasks import given
from litebert.tasks.evaluation import told
from litebert.tasks.examples import Choice, Words
from litebert.tasks.predict import Said

FORMS = ("jsonl", "csv", "tsv")
_BREAKS = re.compile(r"[\t\r\n]+")  # what no field of a table without quotes can hold


def values(said: Said, echo: bool = False) -> dict[str, Any]:
    """An answer as plain values: the row it belongs to, and what was said of it; with `echo` what was asked, too."""
    example = said.example
    found: dict[str, Any] = {"row": example.place.row, "id": example.id}
    if echo:
        asked = told(example)
        found |= {name: asked[name] for name in ("text", "pair", "options") if name in asked}
    if isinstance(example, Words):  # whose answer counts words and characters
        found |= {"text": given.text_of(example), "words": list(example.words)}
    found |= _rounded(said.answer._asdict())
    if isinstance(example, Choice):
        found["option"] = example.options[said.answer.prediction]
    return found


def writer(form: str) -> Callable[[Iterable[Mapping[str, Any]]], str]:
    """What makes the text of some answers after another; of a table it begins with the names of the columns."""
    if form == "jsonl":
        return lambda answers: "".join(_json(one) + "\n" for one in answers)
    columns: list[str] = []

    def rows(answers: Iterable[Mapping[str, Any]]) -> str:
        text = io.StringIO()
        line = csv.writer(text, lineterminator="\n").writerow if form == "csv" else _plain(text)
        for one in answers:
            flat = _flat(one)
            if not columns:
                columns.extend(flat)
                line(columns)
            line([flat.get(name, "") for name in columns])
        return text.getvalue()

    return rows


def _rounded(value: Any) -> Any:
    """Numbers as far as they mean anything: the sixth digit is beyond what the model computes with."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _json(one: Mapping[str, Any]) -> str:
    """An object in a line; an id that is not known is left out."""
    kept = {name: value for name, value in one.items() if name != "id" or value}
    try:
        return json.dumps(kept, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise RunError(f"the answer to row {one['row']} is no number: the model has come apart in its training, or "
                       "needs --precision float32") from None  # fmt: skip


def _flat(one: Mapping[str, Any]) -> dict[str, str]:
    """Every value as a field: an object as one for each of its names, a list as JSON."""
    found: dict[str, str] = {}
    for name, value in one.items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": _field(part) for key, part in value.items()}
        else:
            found[name] = _field(value)
    return found


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain(text: io.StringIO) -> Callable[[list[str]], object]:
    return lambda fields: text.write("\t".join(_BREAKS.sub(" ", field) for field in fields) + "\n")
