"""Who may import whom? Every import statement of the source is held against one table of rooms."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import litebert

SOURCE = Path(litebert.__file__).parent
FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

# A room, and the rooms that it leans on; what those lean on it may import as well.
ROOMS: dict[str, tuple[str, ...]] = {
    "rng": (),
    "errors": (),
    "files": ("errors",),
    "config": ("errors",),
    "presets": ("config",),
    "family": ("config", "presets"),
    "text": ("rng", "config", "presets", "family", "files"),
    "data": ("text",),
    "model": ("rng", "config", "presets", "family", "files"),
    "interop": ("model",),
    "optim": ("model",),
    "train": ("data", "interop", "optim"),
    "tasks": ("train",),
    "vectors": ("text", "model"),
    "engine": ("text", "model"),
    "serve": ("vectors", "engine"),
    "bench": ("interop", "tasks", "serve"),
    "lab": ("bench",),
    "cli": ("lab",),
    "__main__": ("cli",),
}
NEVER = {  # unpickling runs what a file says, and nothing of ours talks to a network that nobody asked it to
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib",
    "requests", "urllib", "urllib3", "http.client", "httpx", "aiohttp", "socket", "ftplib", "huggingface_hub",
}  # fmt: skip
PICKLING_CALLS = {"torch.load", "torch.save", "torch.hub.load"}
PEER = "transformers"  # an oracle and a peer, never a dependency
PEER_IS_WELCOME = ("bench/", "interop/convert.py")  # inside the functions that compare
INSTANT = ["litebert", "litebert.config", "litebert.presets", "litebert.family", "litebert.cli.main"]
SLOW = ["numpy", "torch", "transformers"]


def within(room: str) -> set[str]:
    """The room and everything that it may import."""
    return {room}.union(*(within(other) for other in ROOMS[room]))


def imported(code: str, file: str) -> Iterator[tuple[int, str]]:
    """Every (line, dotted name) that a file imports, wherever in the file it stands."""
    package = ["litebert", *Path(file).parts[:-1]]
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Attribute(value=ast.Name(id="litebert"), attr=name):
                yield node.lineno, f"litebert.{name}"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(what)), *_]):
                if name in ("import_module", "__import__"):
                    yield node.lineno, what


def room_of(name: str) -> str | None:
    """The room that a dotted name of ours lies in; `litebert.load` lies where the front door takes it from."""
    parts = name.split(".")
    if parts[0] != "litebert" or len(parts) == 1 or parts[1].startswith("__"):
        return None
    home = litebert._HOMES.get(parts[1])
    return home.split(".")[1] if home else parts[1]


def intrusions(code: str, file: str) -> list[str]:
    """The imports of a file that its room may not make."""
    here = Path(file).parts[0].removesuffix(".py")
    allowed = within(here)
    found = {(line, room_of(name), name) for line, name in imported(code, file)}
    return [f"{file}:{line}: {here} imports {name}" for line, room, name in sorted(found, key=str)
            if room and room not in allowed]  # fmt: skip


def begins(name: str, known: set[str]) -> bool:
    """Whether a dotted name is one of the known ones or lies within it."""
    return any(name == one or name.startswith(f"{one}.") for one in known)


def pickling(code: str) -> list[int]:
    """Lines that pickle by way of torch or NumPy."""
    lines = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in PICKLING_CALLS:
            lines.append(node.lineno)
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            lines.append(node.value.lineno)
    return lines


def peers(code: str, file: str) -> list[str]:
    """Imports of the peer that must not be: elsewhere than where we compare, or on loading the file."""
    if file.startswith(PEER_IS_WELCOME):
        tree = ast.parse(code)
        code = ast.unparse([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)])
    return [f"{file}:{line}: {name}" for line, name in imported(code, file) if begins(name, {PEER})]


@pytest.mark.parametrize("file", [file for file in FILES if file != "__init__.py"])
def test_a_file_imports_only_what_its_room_leans_on(file: str) -> None:
    room = Path(file).parts[0].removesuffix(".py")
    assert room in ROOMS, f"{file} is in no room: say in ROOMS and in ARCHITECTURE.md who it leans on"
    assert intrusions((SOURCE / file).read_text(), file) == []


@pytest.mark.parametrize("file", FILES)
def test_a_file_neither_pickles_nor_talks_to_a_network(file: str) -> None:
    code = (SOURCE / file).read_text()
    assert [f"{file}:{line}: {name}" for line, name in imported(code, file) if begins(name, NEVER)] == []
    assert pickling(code) == []


@pytest.mark.parametrize("file", FILES)
def test_transformers_is_imported_only_to_compare(file: str) -> None:
    assert peers(SOURCE.joinpath(file).read_text(), file) == []


def test_the_loop_knows_neither_tasks_nor_data() -> None:
    loop = SOURCE / "train" / "loop.py"
    found = imported(loop.read_text(), "train/loop.py") if loop.exists() else ()
    assert [f"{line}: {name}" for line, name in found if room_of(name) in ("tasks", "data")] == []


def test_no_room_leans_on_itself_by_a_detour() -> None:
    for room, others in ROOMS.items():
        assert all(room not in within(other) for other in others), f"{room} is in a circle"


@pytest.mark.parametrize("name", INSTANT)
def test_what_the_command_line_starts_with_is_instant(name: str) -> None:
    if name.startswith("litebert.cli") and not (SOURCE / "cli" / "main.py").exists():
        pytest.skip("there is no command line yet")
    assert find_spec(name), name
    code = f"import sys, {name}; print([slow for slow in {SLOW} if slow in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), f"import {name} brings in more\n{done.stderr}"


@pytest.mark.parametrize(
    ("file", "code"),
    [
        pytest.param("model/x.py", "from litebert.data import batch", id="the model imports data"),
        pytest.param("model/x.py", "def f():\n    import litebert.train.loop", id="within a function"),
        pytest.param("model/x.py", "from litebert import load", id="through the front door"),
        pytest.param("model/x.py", "import litebert\nlitebert.load('x')", id="as an attribute of the front door"),
        pytest.param("model/x.py", "from ..data import batch", id="by a relative import"),
        pytest.param("model/x.py", "from .. import data", id="a whole room by a relative import"),
        pytest.param("model/x.py", "import_module('litebert.data.batch')", id="by name"),
        pytest.param("rng.py", "from litebert.config import Config", id="among the ground rooms"),
        pytest.param("config.py", "from litebert import presets", id="config imports the presets"),
        pytest.param("train/loop.py", "from litebert.cli.main import run", id="train imports the command line"),
    ],
)
def test_the_rule_sees_an_intrusion(file: str, code: str) -> None:
    assert len(intrusions(code, file)) == 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        pytest.param("train/loop.py", "from litebert.text import corpus", id="what a leaned-on room leans on"),
        pytest.param("model/x.py", "from litebert import rng\nfrom . import ffn", id="ground and its own room"),
        pytest.param("cli/x.py", "from litebert import __version__, load", id="the version, and all for cli"),
    ],
)
def test_the_rule_lets_pass_what_is_allowed(file: str, code: str) -> None:
    assert intrusions(code, file) == []


@pytest.mark.parametrize("code", ["torch.load(path)", "np.load(path, allow_pickle=True)", "torch.save(x, path)"])
def test_pickling_through_a_library_is_seen(code: str) -> None:
    assert pickling(code) == [1]


@pytest.mark.parametrize(
    ("file", "code", "count"),
    [
        pytest.param("model/x.py", "def f():\n    import transformers", 1, id="in the model"),
        pytest.param("bench/x.py", "import transformers", 1, id="on loading the bench"),
        pytest.param("bench/x.py", "def f():\n    from transformers import AutoModel", 0, id="when a bench runs"),
    ],
)
def test_the_peer_is_seen(file: str, code: str, count: int) -> None:
    assert len(peers(code, file)) == count
