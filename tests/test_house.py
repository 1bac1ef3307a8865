"""Does the source keep the house's budgets, and say what it does? Nothing dead, nothing left open, nothing untyped."""

import ast
import hashlib
import importlib
import os
import pickle
import re
import socket
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import torch
import typer

from litebert.config import Config, Head

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src" / "litebert"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
Function = ast.FunctionDef | ast.AsyncFunctionDef

FILE_LINES, MOST_FILE_LINES = 300, 400
LONGER_FILES: dict[str, str] = {}  # path -> why this one may have up to 400 lines
FUNCTION_LINES, MOST_FUNCTION_LINES = 35, 80  # nine of ten, and every one
SHAPELESS = ("util", "helper", "misc", "common", "tool", "stuff")  # a file that answers no question of its own
# Rooms that only carry a config's fields about: reading a field there does not make it do anything.
CARRIERS = ("config.py", "presets.py", "interop", "bench", "lab", "cli")
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # of the text as apache.org publishes it

# Each pattern is written so that it does not match its own text.
REFUSED = {
    "left open": r"\b(?:T[O]DO|F[I]XME|Not[I]mplementedError)\b",
    "path of one machine": r"(?<![\w.~-])/(?:[w]ork|[r]oot|[f]arm|[h]ome/\w+|[U]sers/\w+)/",
    "note that is not in the repository": r"\b(?:facts|anchors|peers|design)[.]md\b",
}


def files(*folders: str) -> list[Path]:
    """The Python files of some folders of the repository."""
    return sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


def texts() -> list[Path]:
    """Everything of ours that is written by hand."""
    ours = [path for folder in ("src/litebert", "tests", "recipes", ".ci") for path in (REPOSITORY / folder).rglob("*")]
    top = [path for path in REPOSITORY.iterdir() if path.suffix in (".md", ".toml") or path.name == "Makefile"]
    return sorted(path for path in [*ours, *top] if path.is_file() and b"\0" not in path.read_bytes())


def name_of(path: Path) -> str:
    """A path as a reader of the repository would write it."""
    return path.relative_to(REPOSITORY).as_posix()


def functions(code: str) -> list[tuple[str, int]]:
    """Every function of a file, nested ones too, with its number of lines."""
    found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, Function)]
    return [(f"{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1) for node in found]


def public(body: Iterable[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """What others may use: functions, classes and their methods, without what begins with an underscore."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            yield from public(node.body if isinstance(node, ast.ClassDef) else ())


def unexplained(code: str) -> list[str]:
    """Public names without a docstring; a module's `forward` is explained by its class where it has none."""
    tree = ast.parse(code)
    silent = [f"{n.lineno} {n.name}" for n in public(tree.body) if not ast.get_docstring(n) and n.name != "forward"]
    return silent if ast.get_docstring(tree) or not code.strip() else ["the file itself", *silent]


def untyped(code: str) -> list[str]:
    """Public functions with a parameter or a result of unsaid type."""
    found = []
    for node in public(ast.parse(code).body):
        if isinstance(node, Function):
            named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            bare = [one.arg for one in named if one and one.annotation is None and one.arg not in ("self", "cls")]
            found += [f"{node.lineno} {node.name}"] if bare or node.returns is None else []
    return found


def prints(code: str) -> list[int]:
    """Lines that print."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return [node.lineno for node in calls if ast.unparse(node.func) == "print"]


def swallowed(code: str) -> list[int]:
    """Lines where an error is caught and nothing is done about it."""
    handlers = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ExceptHandler)]
    return [node.lineno for node in handlers if all(ast.unparse(each) in ("pass", "...") for each in node.body)]


def refused(text: str) -> list[str]:
    """Lines with words that do not belong in the repository, and what is wrong with them."""
    lines = enumerate(text.splitlines(), 1)
    return [f"{i} {what}" for i, line in lines for what, pattern in REFUSED.items() if re.search(pattern, line)]


def read_of(code: str, owners: tuple[str, ...]) -> set[str]:
    """The attributes that a file reads from a variable of one of these names: `config.hidden`, `self.config.hidden`."""
    attributes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)]
    return {node.attr for node in attributes if ast.unparse(node.value).split(".")[-1] in owners}


def undocumented(command: Any, name: str = "litebert") -> list[str]:
    """Verbs without a description, and options and arguments without a help text, all the way down."""
    found = [] if command.help or name == "litebert" else [name]
    found += [f"{name} {one.name}" for one in command.params if not getattr(one, "help", None)]
    for verb, below in getattr(command, "commands", {}).items():
        found += undocumented(below, f"{name} {verb}")
    return found


@pytest.mark.parametrize("path", files("src/litebert", "tests"), ids=name_of)
def test_a_file_keeps_its_budget_of_lines(path: Path) -> None:
    most = MOST_FILE_LINES if name_of(path) in LONGER_FILES else FILE_LINES
    assert len(path.read_text().splitlines()) <= most, "one question a file: split it by subject"


def test_functions_keep_their_budget_of_lines() -> None:
    lines = {
        f"{name_of(path)}:{name}": count
        for path in files("src/litebert")
        for name, count in functions(path.read_text())
    }
    assert [name for name, count in lines.items() if count > MOST_FUNCTION_LINES] == []
    assert sorted(lines.values())[len(lines) * 9 // 10] <= FUNCTION_LINES


@pytest.mark.parametrize("path", files("src/litebert"), ids=name_of)
def test_what_is_public_is_explained_and_typed(path: Path) -> None:
    code = path.read_text()
    assert unexplained(code) == []
    assert untyped(code) == []


@pytest.mark.parametrize("path", files("src/litebert"), ids=name_of)
def test_a_file_answers_a_question_of_its_own(path: Path) -> None:
    assert path.stem.removesuffix("s") not in SHAPELESS, "name the file after the question that it answers"


@pytest.mark.parametrize("path", files("src/litebert"), ids=name_of)
def test_only_the_command_line_prints(path: Path) -> None:
    assert path.is_relative_to(SOURCE / "cli") or prints(path.read_text()) == []


@pytest.mark.parametrize("path", files("src/litebert", "tests"), ids=name_of)
def test_no_error_is_swallowed(path: Path) -> None:
    assert swallowed(path.read_text()) == []


@pytest.mark.parametrize("path", texts(), ids=name_of)
def test_nothing_is_left_open_or_bound_to_one_machine(path: Path) -> None:
    assert refused(path.read_text()) == []


def test_every_field_of_a_config_does_something() -> None:
    read: set[str] = set()
    for path in files("src/litebert"):
        if path.relative_to(SOURCE).parts[0] not in CARRIERS:
            read |= read_of(path.read_text(), ("config", "c"))
    assert sorted(set(Config.model_fields) - read) == []


def test_every_field_of_a_head_does_something() -> None:
    read = [read_of(path.read_text(), ("head", "spec")) for path in files("src/litebert") if path.name != "config.py"]
    assert sorted(set(Head.model_fields) - set().union(*read)) == []


def test_every_flag_of_the_console_is_documented() -> None:
    if not (SOURCE / "cli" / "main.py").exists():
        pytest.skip("there is no command line yet")
    main = importlib.import_module("litebert.cli.main")
    apps = [value for value in vars(main).values() if isinstance(value, typer.Typer)]
    assert apps, "litebert.cli.main has no typer.Typer at its top"
    assert [name for app in apps for name in undocumented(typer.main.get_command(app))] == []


def test_an_undocumented_flag_is_seen() -> None:
    app = typer.Typer()

    @app.command()
    def told(size: Annotated[int, typer.Option(help="how big")] = 1) -> None:
        """Tell."""

    @app.command()
    def untold(size: int = 1) -> None:
        return

    assert undocumented(typer.main.get_command(app)) == ["litebert untold", "litebert untold size"]


def test_the_license_is_apache_2_word_for_word() -> None:
    text, holder = (REPOSITORY / "LICENSE").read_text(), "Copyright 2026 litebert founders"
    assert text.count(holder) == 1
    original = text.replace(holder, "Copyright [yyyy] [name of copyright owner]")
    assert hashlib.sha256(original.encode()).hexdigest() == APACHE


def test_the_extra_all_brings_every_extra_of_a_user() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = re.fullmatch(r"litebert\[([\w,-]+)\]", "".join(extras["all"]))
    assert named, "write it as litebert[one,other]"
    assert set(named[1].split(",")) == set(extras) - {"all", "dev"}
    assert "litebert[all]" in extras["dev"]


def test_make_lists_every_target() -> None:
    text = (REPOSITORY / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert phony
    assert phony[1].split() == re.findall(r"^([a-z]+):.*## \w", text, re.MULTILINE)


def test_what_must_pass_can_be_run() -> None:
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize(
    ("find", "code"),
    [
        pytest.param(unexplained, '"""."""\ndef f() -> None: return', id="a function without a docstring"),
        pytest.param(unexplained, '"""."""\nclass A:\n    "."\n    def f(self) -> None: return', id="so a method"),
        pytest.param(unexplained, "x = 1", id="a file without a docstring"),
        pytest.param(untyped, "def f(x) -> None: ...", id="a parameter without a type"),
        pytest.param(untyped, "def f(*x: int, **y) -> None: ...", id="keywords without a type"),
        pytest.param(untyped, "class A:\n    def f(self): ...", id="a method without a result type"),
        pytest.param(prints, "print(1)", id="a print"),
        pytest.param(swallowed, "try: f()\nexcept OSError: pass", id="an error passed over"),
        pytest.param(swallowed, "try: f()\nexcept OSError: ...", id="an error passed over by dots"),
        pytest.param(refused, "x = 1  # TO" "DO", id="a note to oneself"),
        pytest.param(refused, "raise Not" "ImplementedError", id="a stub"),
        pytest.param(refused, "cd /wo" "rk/main", id="a path of one machine"),
        pytest.param(refused, "see facts" ".md", id="a note outside the repository"),
    ],
)  # fmt: skip
def test_a_breach_is_seen(find: Callable[[str], list[Any]], code: str) -> None:
    assert len(find(code)) == 1


@pytest.mark.parametrize(
    "reach",
    [
        pytest.param(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1), id="another machine"),
        pytest.param(lambda: socket.socket().connect_ex(("192.0.2.1", 80)), id="without raising"),
        pytest.param(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 9)), id="a datagram"),
        pytest.param(lambda: socket.getaddrinfo("example.org", 443), id="a name"),
    ],
)
def test_a_test_cannot_reach_the_network(reach: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="reached for the network"):
        reach()


def test_a_test_can_reach_its_own_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("pickle.loads(data)", id="directly"),
        pytest.param("pickle._loads(data)", id="by the pickle that is written in Python"),
        pytest.param("np.load(path, allow_pickle=True)", id="through NumPy"),
        pytest.param("torch.load(path, weights_only=False)", id="through torch"),
    ],
)
def test_nothing_of_ours_unpickles(code: str, tmp_path: Path) -> None:
    data, path = pickle.dumps(Path()), tmp_path / "x"
    if "torch" in code:
        torch.save(Path(), path)
    else:
        np.save(path.open("wb"), np.array([Path()], dtype=object), allow_pickle=True)
    names = {"pickle": pickle, "np": np, "torch": torch, "data": data, "path": path}
    with pytest.raises(pytest.fail.Exception, match=r"litebert.sample unpickled"):
        exec(code, {**names, "__name__": "litebert.sample"})
    exec(code, {**names, "__name__": "another"})


def test_a_library_that_we_call_may_unpickle_for_itself() -> None:
    library = {"__name__": "multiprocessing.sample", "pickle": pickle, "data": pickle.dumps(Path())}
    exec("def receive(): return pickle.loads(data)", library)
    exec("receive()", {"__name__": "litebert.sample", "receive": library["receive"]})
