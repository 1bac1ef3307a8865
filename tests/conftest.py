"""What holds for every test: no network, no pickle by our code, few threads, and one way to the big data.

The guard is an audit hook (PEP 578): the interpreter reports every connection and every unpickled name to it, whoever
asks, so no library has to be patched. It ends with the process, as hooks do. Children that a test starts run without
it; they inherit the environment set here.
"""

import ipaddress
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TRANSFORMERS_VERBOSITY": "error",
               "TOKENIZERS_PARALLELISM": "false", "NO_COLOR": "1"}  # fmt: skip
os.environ.pop("FORCE_COLOR", None)
if "PYTEST_XDIST_WORKER" in os.environ:  # read when torch is first imported, which is later
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

# A shell that starts something in the background has it ignore Ctrl-C, and so its children; tests are to hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("house", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("house")

REPOSITORY = Path(__file__).resolve().parent.parent
_BORROWED_PICKLE = ("torch.serialization", "numpy.lib")  # unpickling on someone else's behalf


def _is_outside(host: object) -> bool:
    """Whether a host is another machine; names other than this machine's would be asked for on the network."""
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if name in ("localhost", socket.gethostname(), "0.0.0.0", "::"):
        return False
    try:
        return not ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return True


def _our_unpickling() -> str | None:
    """The module of ours on whose behalf something is being unpickled right now, if there is one."""
    frame, borrowed = sys._getframe(1), False
    while frame := frame.f_back:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == "litebert":
            return module
        borrowed = borrowed or module.startswith(_BORROWED_PICKLE)
        if not borrowed and module != "pickle":  # multiprocessing and compilers unpickle for themselves
            return None
    return None


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and _is_outside(address[0]):
            pytest.fail(f"a test reached for the network ({event} {address!r}): tests must run offline")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        if _is_outside(arguments[0]):
            pytest.fail(f"a test reached for the network ({event} {arguments[0]!r}): tests must run offline")
    elif event == "pickle.find_class" and (module := _our_unpickling()):
        pytest.fail(f"{module} unpickled {arguments!r}: nothing of ours reads pickles, they can run any code")


sys.addaudithook(_guard)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real texts, benchmarks and weights, which is too big for the repository."""
    named = os.environ.get("LITEBERT_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"LITEBERT_DATA {named!r} is not a folder: set it to the data folder, or unset it to skip")
    pytest.skip("no real data here: set LITEBERT_DATA to the folder that holds weights/ and glue/ to run this test")
