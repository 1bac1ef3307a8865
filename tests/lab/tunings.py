"""What fine-tunings do these tests report on? Folders written by hand, whose every number is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STEPS, EVERY = 60, 20
SETTINGS = '[data]\nmodel = "run"\nexamples = 1234\n\n[tuning]\nlength = 64\nrate = 0.0001\nepochs = 3.0\nbatch = 16\n'
TEXT = "the boat lies on the river and the mill stands still"

Line = dict[str, Any]


def told(seed: int, at: int, value: float) -> float:
    """A measure of a seed at a step, on its way to its value."""
    return value - 0.001 * (STEPS - at) * (seed + 1)


def loss(seed: int, at: int) -> float:
    """Its training loss."""
    return 2.0 - 0.02 * at + 0.1 * seed


def events(seed: int, scores: Mapping[str, float], collapsed: str = "", steps: int = STEPS) -> list[dict[str, Any]]:
    """A log: a start, a step after another, an evaluation at every twentieth, an end at the last."""
    found: list[dict[str, Any]] = [{**_where("start", 0), "total": STEPS, "examples": 1234}]
    for step in range(1, steps + 1):
        found.append({**_where("step", step), "loss": loss(seed, step), "rate": 1e-6 * step, "norm": 1.0 + seed,
                      "tokens_per_s": 1000.0 + step + 100 * seed})  # fmt: skip
        if step % EVERY == 0:
            asked = {name: told(seed, step, value) for name, value in scores.items()}
            found.append({**_where("evaluation", step), "loss": 0.5 + 0.001 * step, **asked})
            if collapsed or step == EVERY:  # at first, any may say the same of all
                found.append({**_where("warning", step), "kind": "collapsed", "text": collapsed or "says 'none' yet"})
    return [*found, {**_where("end", STEPS), **scores}] if steps == STEPS else found


def folder(
    place: Path, lines: Sequence[Line], scores: Sequence[Mapping[str, float]], *, kind: str = "classify",
    labels: Sequence[str] = (), task: Mapping[str, Any] | None = None, benchmark: str = "", settings: str = SETTINGS,
    collapsed: Mapping[int, str] | None = None, young: Sequence[int] = (), whole: bool = True,
) -> Path:  # fmt: skip
    """A folder with a seed for each of the scores; young: seeds that go on; whole: all that is written at the end."""
    place.mkdir(parents=True)
    main, amiss = next(iter(scores[0])), collapsed or {}
    _write(place / "task.json", {"kind": kind, "benchmark": benchmark, "labels": list(labels),
                                 "measures": list(scores[0]), "task": {"kind": kind, **(task or {})}})  # fmt: skip
    (place / "tuning.toml").write_text(settings)
    seeds = []
    for number, each in enumerate(scores):
        home = place / f"seed-{number}"
        home.mkdir()
        steps = STEPS - EVERY // 2 if number in young else STEPS
        log = events(number, each, amiss.get(number, ""), steps)
        (home / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in log))
        if number not in young:
            seeds.append({"seed": number, "scores": dict(each), "best_step": 40 + number, "steps": STEPS,
                          "seconds": 10.0 + number, "collapsed": amiss.get(number, "")})  # fmt: skip
            _write(home / "scores.json", seeds[-1])
            _lines(home / "predictions.jsonl", lines)
    if whole:
        best = max(seeds, key=lambda seed: seed["scores"][main])
        _lines(place / "predictions.jsonl", lines)
        _write(place / "scores.json", {
            "measure": main, "seeds": seeds, "best_seed": best["seed"], "dev": len(lines), "median": {}, "spread": {},
            "interval": {name: [value - 0.0625, value + 0.03125] for name, value in best["scores"].items()},
        })  # fmt: skip
    return place


def classified(pairs: Sequence[tuple[str, str, float]], names: Sequence[str], text: str = TEXT) -> list[Line]:
    """Lines of (what it is, what was said, how surely); the other classes share the rest."""
    found = []
    for number, (right, said, sure) in enumerate(pairs):
        others = (1.0 - sure) / (len(names) - 1)
        shares = {name: sure if name == said else others for name in names}
        found.append({**_asked(number), "text": f"{text} {number}", "label": right, "prediction": said,
                      "probability": sure, "probabilities": shares, "tokens": 5 + number})  # fmt: skip
    return found


def kinds() -> dict[str, dict[str, Any]]:
    """A folder's content for every kind of task: what `folder` takes."""
    two = classified(
        [("no", "no", 0.9), ("no", "yes", 0.8), ("yes", "yes", 0.7), ("yes", "yes", 0.6)] * 10, ["no", "yes"]
    )
    several = [
        {**_asked(i), "text": f"{TEXT} {i}", "label": ["a", "c"] if i % 2 else [],
         "prediction": ["a"] if i % 4 else ["b"],
         "probabilities": {"a": 0.75, "b": 0.25, "c": 0.125}, "tokens": 20 + i} for i in range(24)
    ]  # fmt: skip
    scored = [{**_asked(i), "text": f"{TEXT} {i}", "pair": "another", "label": i / 8,
               "prediction": i / 8 + (i % 3 - 1) / 4, "tokens": 8 + i} for i in range(32)]  # fmt: skip
    words = TEXT.split()
    gold = ["O", "B-thing", "O", "O", "O", "B-place", "O", "O", "B-place", "O", "O"]
    tagged = [{**_asked(i), "text": TEXT, "words": words, "label": gold, "tokens": 20 + i, "probability": 0.5,
               "prediction": gold if i % 2 else [*gold[:4], "B-place", "I-place", *gold[6:10], "B-thing"]}
              for i in range(24)]  # fmt: skip
    answers = [{**_asked(i), "text": "where does it lie?", "pair": TEXT, "tokens": 20 + i, "probability": 0.5,
                "no_answer": 0.25 if i % 3 else 0.75, "label": [{"text": "the river", "start": 17}] if i % 2 else [],
                **({"prediction": "", "start": -1, "end": -1} if i % 3 == 0
                   else {"prediction": "on the river", "start": 14, "end": 26})} for i in range(24)]  # fmt: skip
    chosen = [{**_asked(i), "text": "where?", "pair": TEXT, "options": ["sea", "river", "lake"], "label": i % 3,
               "group": "high" if i % 2 else "middle", "prediction": i % 2, "probability": 0.5,
               "probabilities": [0.5, 0.25, 0.25] if i % 2 == 0 else [0.25, 0.5, 0.25], "tokens": 20 + i}
              for i in range(24)]  # fmt: skip
    share, far = {"accuracy": 0.75, "f1": 0.8}, {"pearson": 0.9, "spearman": 0.85}
    return {
        "classify": {"lines": two, "scores": [share], "labels": ["no", "yes"]},
        "several": {"lines": several, "scores": [{"f1_micro": 0.5, "exact": 0.25}], "labels": ["a", "b", "c"],
                    "task": {"problem": "multiple"}},
        "regress": {"lines": scored, "scores": [far], "kind": "regress"},
        "tag": {"lines": tagged, "scores": [{"f1": 0.5}], "kind": "tag", "labels": ["O", "B-thing", "B-place"]},
        "span": {"lines": answers, "scores": [{"f1": 0.5, "exact": 0.25}], "kind": "span"},
        "choice": {"lines": chosen, "scores": [{"accuracy": 1 / 3}], "kind": "choice"},
    }  # fmt: skip


def _asked(number: int) -> Line:
    return {"id": f"q{number}", "place": f"dev.tsv:{number + 2}"}


def _where(event: str, step: int) -> dict[str, Any]:
    return {"event": event, "step": step, "tokens": 50 * step, "seconds": 0.25 * step}


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _lines(path: Path, lines: Sequence[Line]) -> None:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
