"""Does the command line answer at once, explain itself, and end with the right exit code?"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer

import litebert as package
from cli.running import litebert
from litebert.cli import main
from litebert.errors import RunError, UserError

VERBS = ["presets", "describe", "convert", "fill-mask", "embed", "report", "demo", "bench", "bench forward",
         "tokenizer", "tokenizer train", "tokenizer import", "tokenizer extend", "tokenizer show"]  # fmt: skip
TOLD = {
    "tokenizer": ["train", "import", "extend", "show"], "tokenizer show": ["--words", "--json"],
    "tokenizer train": ["--corpus", "--out", "--kind", "--vocab", "--case", "--accents", "--coverage", "--sample",
                        "--seed", "--field", "--invalid", "--overwrite", "--json"],
    "tokenizer import": ["--out", "--case", "--accents", "--no-commas", "--length", "--overwrite", "--json"],
    "tokenizer extend": ["--corpus", "--add", "--out", "--least", "--sample", "--overwrite", "--json"],
    "presets": ["--json"], "describe": ["--set", "--batch", "--json"],
    "convert": ["--to", "--check", "--sharing", "--groups", "--how", "--embedding", "--part", "--overwrite", "--json"],
    "fill-mask": ["--top", "--batch", "--json"], "report": ["--out", "--shards", "--word", "--seed", "--json"],
    "embed": ["--file", "--pooling", "--layer", "--batch", "--cut", "--out", "--json"],
    "demo": ["--folder", "--json"], "bench": ["forward"],
    "bench forward": ["--size", "--batch", "--length", "--rounds", "--set", "--no-peer"],
}  # fmt: skip


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_and_its_options(verb: str, flag: str) -> None:
    done = litebert(*verb.split(), flag)
    assert (done.code, done.err) == (0, "")
    assert f"Usage: litebert {verb}" in done.out
    assert [option for option in TOLD[verb] if option not in done.out] == []


def test_help_lists_every_verb() -> None:
    done = litebert("--help")
    assert done.code == 0
    known = [command.name for command in main.app.registered_commands] + [g.name for g in main.app.registered_groups]
    assert {verb for verb in VERBS if " " not in verb} <= set(known)
    assert [name for name in known if f"│ {name} " not in done.out] == []


def test_the_paragraphs_of_a_page_fill_its_width() -> None:
    """Typer keeps the breaks of the source, which then fall in the middle of a narrower line."""
    told = [line.strip() for line in litebert("convert", "--help").out.splitlines()]
    told = told[told.index("Reads ALBERT, BERT, RoBERTa, XLNet, ELECTRA and RoFormer (UniLM is BERT with") :]
    paragraph = told[: told.index("")]
    assert all(len(line) > 60 for line in paragraph[:-1]), paragraph
    assert "litebert convert albert-folder wide --sharing none --check" in told


def test_without_a_verb_the_help_is_shown() -> None:
    done = litebert()
    assert "Usage: litebert" in done.out + done.err
    assert "describe" in done.out + done.err
    assert done.code == 2


def test_the_version_is_that_of_the_package() -> None:
    done = litebert("--version")
    assert (done.code, done.out, done.err) == (0, f"litebert {package.__version__}\n", "")


RAISED = {
    "a user's mistake": (UserError("hidden 10: choose 12"), 2, "litebert: hidden 10: choose 12\n"),
    "a failing disk": (OSError(28, "No space left on device"), 1, "litebert: [Errno 28] No space left on device\n"),
    "a run that failed": (
        RunError("the loss is no number; go on from step 40"),
        1,
        "litebert: the loss is no number; go on from step 40\n",
    ),
    "a check that failed": (typer.Exit(1), 1, ""),
}


@pytest.mark.parametrize("name", RAISED)
def test_an_error_is_one_line_and_its_exit_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error, code, line = RAISED[name]

    def fail() -> None:
        raise error

    monkeypatch.setattr("litebert.presets.names", fail)
    done = litebert("presets")
    assert (done.code, done.out, done.err) == (code, "", line)


def test_a_defect_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nobody's mistake must be seen whole, so that it can be reported."""
    monkeypatch.setattr("litebert.presets.names", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        litebert("presets")


def test_a_warning_is_one_line_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn() -> list[str]:
        warnings.warn("mind the gap", stacklevel=1)
        return []

    monkeypatch.setattr("litebert.presets.names", warn)
    done = litebert("presets", "--json")
    assert (done.code, done.out, done.err) == (0, "{}\n", "litebert: mind the gap\n")


CALLS = """
import sys
from litebert.cli import main
for call in ("--help", "presets", "describe albert-xxlarge --json", "describe bert-base", "describe bert-base --set y",
             "describe albert-bas", "describe no/where"):
    sys.argv = ["litebert", *call.split()]
    try:
        main.run()
    except SystemExit as left:
        assert left.code in (None, 0, 2), left.code
heavy = {"torch", "numpy", "transformers", "safetensors", "tokenizers", "pyarrow"} & set(sys.modules)
sys.exit(f"loaded {sorted(heavy)}" if heavy else 0)
"""


def test_help_presets_and_accounts_load_nothing_that_could_hold_a_model() -> None:
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert '"total": 222595584' in done.stdout


def test_the_console_script_refuses_in_one_line() -> None:
    script = Path(sys.executable).parent / "litebert"
    done = subprocess.run([script, "describe", "albert-bas"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("litebert: unknown preset or folder 'albert-bas': did you mean 'albert-base'?")
    assert done.stderr.count("\n") == 1
