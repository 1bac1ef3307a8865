"""Is what the README shows true? Its commands and its Python are run from top to bottom, in one empty folder.

In a ```console block every line `$ litebert …` is run by the shell and must end with exit code 0, or with the one that
a comment at its end announces (`# exit 2`). In a ```python block `>>>` lines run as a doctest. What one step leaves in
the folder, the next may use. The Chinese README gives the same commands in the same order, so only its Python runs.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^ *(?P<fence>```+|~~~+) *(?P<language>\w*)[^\n]*\n(?P<body>.*?)^ *(?P=fence) *$", re.M | re.S)
COMMAND = re.compile(r"^\s*\$ (litebert (?:.*\\\n)*.*)$", re.M)
EXPECTED = re.compile(r"# exit (\d+)\s*$")
SECONDS = 600


class Step(NamedTuple):
    """One thing that a README shows: a shell command, or a block of Python."""

    line: int
    language: str
    text: str


def steps(text: str) -> list[Step]:
    """Everything in a README that can be run, from top to bottom."""
    found = []
    for block in FENCE.finditer(text):
        start = block.start("body")
        match block["language"]:
            case "console":
                for command in COMMAND.finditer(block["body"]):
                    line = text.count("\n", 0, start + command.start(1)) + 1
                    found.append(Step(line, "console", command[1].rstrip()))
            case "python" if ">>> " in block["body"]:
                found.append(Step(text.count("\n", 0, start), "python", block["body"]))
    return found


def run_command(step: Step, folder: Path, where: str) -> None:
    """Run one command as a reader would, and hold its exit code against what is announced."""
    expected = int(match[1]) if (match := EXPECTED.search(step.text)) else 0
    beside = Path(sys.executable).parent
    assert (beside / "litebert").exists(), f"litebert is not installed beside {sys.executable}: pip install -e ."
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    done = subprocess.run(
        ["sh", "-c", step.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=SECONDS, check=False, text=True, errors="replace",
    )  # fmt: skip
    tail = done.stdout[-3000:]
    assert done.returncode == expected, f"{where}: exit {done.returncode}, not {expected}: $ {step.text}\n{tail}"
    assert "Traceback" not in done.stdout, f"{where}: a traceback: $ {step.text}\n{tail}"


def run_python(step: Step, names: dict[str, Any], where: str) -> None:
    """Run a block as a doctest; later blocks see the names of earlier ones."""
    test = doctest.DocTestParser().get_doctest(step.text, names, where, where, step.line)
    written: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    result = runner.run(test, out=written.append, clear_globs=False)
    names.update(test.globs)
    assert not result.failed, "".join(written)


def read(name: str) -> str:
    """The text of a README, which must be there."""
    path = REPOSITORY / name
    assert path.exists(), f"{name} is missing"
    return path.read_text(encoding="utf-8")


def commands(text: str) -> list[str]:
    """The commands of a README, in order."""
    return [step.text for step in steps(text) if step.language == "console"]


def test_what_the_readme_shows_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = [("README.md", step) for step in steps(read("README.md"))]
    shown += [("README.zh.md", step) for step in steps(read("README.zh.md")) if step.language == "python"]
    for name, step in shown:
        where = f"{name}:{step.line}"
        if step.language == "console":
            run_command(step, tmp_path, where)
        else:
            run_python(step, names, where)


def test_both_readmes_show_the_same_commands() -> None:
    english, chinese = commands(read("README.md")), commands(read("README.zh.md"))
    assert english, "README.md shows no command at all"
    assert chinese == english


SAMPLE = """\
# A title
```console
$ litebert presets
a table
$ litebert describe x  # exit 2
error: unknown preset 'x'
$ pip install litebert
```
    $ litebert indented, but in no block
```python
>>> 1 + 1
2
```
```console
$ litebert embed \\
    --text hello
```
```python
import litebert  # not a session
```
"""


def test_commands_are_found_with_their_lines() -> None:
    assert steps(SAMPLE) == [
        Step(3, "console", "litebert presets"),
        Step(5, "console", "litebert describe x  # exit 2"),
        Step(10, "python", ">>> 1 + 1\n2\n"),
        Step(15, "console", "litebert embed \\\n    --text hello"),
    ]


@pytest.mark.parametrize("announced", ["", "  # exit 0", "  # exit 3"], ids=["nothing", "exit 0", "exit 3"])
def test_an_exit_code_that_is_not_announced_fails(announced: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="exit 7, not"):
        run_command(Step(1, "console", f"exit 7{announced}"), tmp_path, "README.md:1")


def test_an_announced_exit_code_passes(tmp_path: Path) -> None:
    run_command(Step(1, "console", "exit 7  # exit 7"), tmp_path, "README.md:1")


def test_a_traceback_fails_whatever_the_exit_code(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a traceback"):
        run_command(Step(1, "console", "echo 'Traceback (most recent call last):'"), tmp_path, "README.md:1")


def test_python_that_says_something_else_fails() -> None:
    with pytest.raises(AssertionError, match="line 8, in README"):
        run_python(Step(7, "python", ">>> 1 + 1\n3\n"), {}, "README")


def test_python_sees_the_names_of_earlier_blocks() -> None:
    names: dict[str, Any] = {}
    run_python(Step(1, "python", ">>> x = 2\n"), names, "README")
    run_python(Step(5, "python", ">>> x + 1\n3\n"), names, "README")
