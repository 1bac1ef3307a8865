"""What is a run? One frozen value: model, data, optimizer, schedule and how training goes, from a short TOML file.

A table says what it starts from (`preset`, `recipe`, `rule`) and then only what differs. On top of the file come the
changes of the command line, `--set model.layers=6`. The resolved value is written into the run.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from litebert import config as configs
from litebert import files, presets
from litebert.config import Config, ConfigError, unknown_name
from litebert.data import recipe as data_recipes
from litebert.data.recipe import Recipe
from litebert.optim import rule as rules
from litebert.optim.rule import Rule, Value
from litebert.optim.schedule import Schedule
from litebert.train.precision import Precision

_TABLES = ("model", "data", "optimizer", "schedule", "training", "phase")
_AMOUNT = re.compile(r"^\s*([0-9][0-9_.eE+]*)\s*(steps|tokens|seconds|minutes|hours|days)\s*$")
_STILL_OPEN = ("objectives", "dropout", "attention_dropout", "max_positions")  # for a model that is there already
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}


class Phase(Value):
    """A stretch of a run with a length of its own: BERT's 90 % at 128, then 512."""

    share: float  # of the schedule's total
    length: int
    batch: int = 0  # 0 = as many rows as keep the tokens of a step the same

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not 0.0 < self.share <= 1.0:
            raise ConfigError(f"share {self.share} of a phase is not a part of the run: choose above 0, at most 1")
        if self.length < 8 or self.batch < 0:
            raise ConfigError(f"phase of length {self.length} and batch {self.batch}: choose 8 or more, and 0 or more")
        return self


class Training(Value):
    """How a run goes on."""

    batch: int = 64  # sequences of a step, over all processes
    tokens: int = 0  # instead of `batch`: tokens of a step, rows of like length together
    micro: int = 0  # sequences that one process works on at a time; 0 = its whole share
    seed: int = 0
    precision: Precision = "auto"
    evaluations: int = 20  # on the held-out split, evenly over the run
    evaluation_rows: int = 512
    save_minutes: float = 10.0  # a checkpoint at least so often
    saves: int = 10  # and so many over the run
    keep: int = 2  # checkpoints; the best one is kept beside them

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for name in ("batch", "tokens", "micro", "evaluations", "saves"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} {getattr(self, name)} is negative: choose 0 or more")
        for name in ("keep", "evaluation_rows"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)} is too small: choose 1 or more")
        if (self.batch > 0) == (self.tokens > 0):
            raise ConfigError(f"batch {self.batch} and tokens {self.tokens}: give one of them, set the other to 0")
        return self


class Run(Value):
    """A whole pre-training run."""

    model: Config = Config()
    start: str = ""  # a folder whose model is trained on, instead of a new one
    data: Recipe = Recipe()
    optimizer: Rule = Rule()
    schedule: Schedule = Schedule(kind="linear", peak=1e-3, warmup=0.05, total=1000)
    training: Training = Training()
    phases: tuple[Phase, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self

    def stretches(self) -> tuple[Phase, ...]:
        """The phases; a run without any is one phase of the data's length."""
        return self.phases or (Phase(share=1.0, length=self.data.length, batch=self.training.batch),)

    def phase_at(self, share: float) -> int:
        """The number of the phase that runs when this share of the run is done."""
        done = 0.0
        for number, phase in enumerate(self.stretches()):
            done += phase.share
            if share < done - 1e-12:
                return number
        return len(self.stretches()) - 1


def named() -> list[str]:
    """The recipes that come with litebert."""
    return sorted(f.name.removesuffix(".toml") for f in _shipped().iterdir() if f.name.endswith(".toml"))


def told(name: str) -> str:
    """What a shipped recipe is: the first line of its file, a comment."""
    first: str = (_shipped() / f"{name}.toml").read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip()


def load(recipe: str | Path, changes: Iterable[str] = ()) -> Run:
    """A run from a TOML file or the name of a shipped recipe, with changes such as `schedule.total=500`."""
    path = Path(recipe)
    if path.suffix == ".toml" or path.is_file():
        if not path.is_file():
            raise ConfigError(f"{path} does not exist: name a TOML file, or one of {', '.join(named())}")
        text = path.read_text(encoding="utf-8")
    elif str(recipe) in named():
        text = (_shipped() / f"{recipe}.toml").read_text(encoding="utf-8")
    else:
        raise ConfigError(unknown_name("recipe", str(recipe), named()))
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{recipe} is not valid TOML ({error}): mend that line") from None
    asked, batch = list(changes), tables.get("training", {}).get("batch")
    tables = _changed(tables, asked)
    for phase in tables.get("phase", ()):
        if batch and phase.get("batch") == batch:  # spelt out for a phase, it is still the run's own
            phase["batch"] = tables["training"]["batch"]
    run = build(tables)
    for change in asked:
        table, _, field = change.partition("=")[0].strip().partition(".")
        if run.start and table == "model" and field not in _STILL_OPEN:
            raise ConfigError(f"--set {change!r} cannot change the model of {run.start}, which is there already: leave "
                              "it out, or make the folder that you want with litebert convert")  # fmt: skip
        if run.phases and (table, field) == ("data", "length"):
            raise ConfigError(f"--set {change!r}: every phase has a length of its own, change them in the TOML file")
    return run


def build(tables: Mapping[str, Any]) -> Run:
    """A run from the tables of a TOML file."""
    for name in tables:
        if name not in (*_TABLES, "start"):
            raise ConfigError(unknown_name("table", name, (*_TABLES, "start")))
    data = dict(tables.get("data", {}))
    optimizer = dict(tables.get("optimizer", {}))
    model = dict(tables.get("model", {}))
    base = presets.preset(model.pop("preset")).model_dump() if "preset" in model else {}
    named_data, named_rule = data.pop("recipe", None), optimizer.pop("rule", None)
    schedule = dict(tables.get("schedule", {}))
    if isinstance(schedule.get("total"), str):
        schedule["total"], schedule["unit"] = amount(schedule["total"])
    for name in ("total", "warmup", "peak", "power", "end"):
        if isinstance(schedule.get(name), int):
            schedule[name] = float(schedule[name])
    return Run(
        model=configs.build({**base, **model}),
        start=tables.get("start", ""),
        data=data_recipes.recipe(named_data, **data) if named_data else data_recipes.build(data),
        optimizer=rules.rule(named_rule, **optimizer) if named_rule else Rule(**optimizer),
        schedule=Schedule(**schedule) if schedule else Run().schedule,
        training=Training(**tables.get("training", {})),
        phases=tuple(Phase(**phase) for phase in tables.get("phase", ())),
    )


def amount(text: str) -> tuple[float, str]:
    """`"55 minutes"`, `"125000 steps"`, `"2e9 tokens"` as a number and the schedule's unit."""
    found = _AMOUNT.match(text)
    if not found:
        raise ConfigError(f"total {text!r} is not an amount: write for example '55 minutes' or '125000 steps'")
    try:
        number = float(found[1].replace("_", ""))
    except ValueError:
        raise ConfigError(f"total {text!r} is not a number of {found[2]}: write for example '55 minutes'") from None
    if number <= 0:
        raise ConfigError(f"total {text!r} trains nothing: write for example '55 minutes' or '125000 steps'")
    return (number * _SECONDS[found[2]], "seconds") if found[2] in _SECONDS else (number, found[2])


def save(run: Run, path: Path) -> None:
    """The run as a file, which appears whole or not at all."""
    with files.whole(path) as temporary:
        temporary.write_text(as_toml(run), encoding="utf-8")


def as_toml(run: Run) -> str:
    """The run as a TOML file that gives back the same run, every value spelt out."""
    lines = [f"start = {toml_of(run.start)}", ""] if run.start else []
    for table in ("model", "data", "optimizer", "schedule", "training"):
        lines.append(f"[{table}]")
        values = getattr(run, table).model_dump(mode="json")
        lines += [f"{name} = {toml_of(value)}" for name, value in values.items() if value is not None] + [""]
    for phase in run.phases:
        lines += ["[[phase]]", *(f"{name} = {toml_of(value)}" for name, value in phase.model_dump().items()), ""]
    return "\n".join(lines)


def toml_of(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_of(one) for one in value) + "]"
    if isinstance(value, str):  # as JSON has it, but that TOML wants one more character escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _changed(tables: dict[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """The tables with `table.field=value` set; values are read as TOML, and as text where they are none."""
    for text in changes:
        where, equals, value = text.partition("=")
        table, dot, field = where.strip().partition(".")
        if not equals or (not dot and table != "start"):
            raise ConfigError(f"--set {text!r} is not of the form table.field=value: write --set model.layers=6")
        if table not in (*_TABLES, "start"):
            raise ConfigError(unknown_name("table", table, (*_TABLES, "start")))
        if table == "phase":
            raise ConfigError(f"--set {text!r}: phases are a list, change them in the TOML file")
        if dot:
            tables[table] = {**tables.get(table, {}), field: value_of(value)}
        else:
            tables[table] = value
    return tables


def value_of(text: str) -> Any:
    """What somebody wrote behind an equals sign: as TOML reads it, and as text where it is none."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def _shipped() -> Any:
    return resources.files("litebert") / "recipes"


def _problems(run: Run) -> Iterable[str]:
    limit, stretches = run.model.max_positions, run.stretches()
    for phase in stretches:
        if limit and phase.length > limit:
            yield f"length {phase.length} exceeds max_positions {limit}: set model.max_positions={phase.length} or less"
    total = sum(phase.share for phase in stretches)
    if abs(total - 1.0) > 1e-9:
        yield f"the shares of the phases add up to {total:g}: they must add up to 1"
    if len(stretches) > 1 and not run.schedule.total:
        yield "phases need an end: set schedule.total"
    labels = {"sop": ("sop",), "nsp": ("nsp", "segment-pair", "sentence-pair")}
    for objective, packings in labels.items():
        if objective in run.model.objectives and not run.data.packing.startswith(packings):
            yield (f"objective {objective!r} needs pairs, but data.packing is {run.data.packing!r}: set "
                   f"data.packing={packings[0]}, or leave it out of model.objectives")  # fmt: skip
