"""Your own compact text encoder, from raw text to a served model, on the machine you have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litebert import presets as presets
    from litebert.config import Config as Config
    from litebert.config import Head as Head
    from litebert.interop.folder import load as load
    from litebert.interop.folder import save as save
    from litebert.tasks.finetune import finetune as finetune
    from litebert.tasks.judge import evaluate as evaluate
    from litebert.tasks.predict import predict as predict

__version__ = "0.1.0"
__all__ = ["Config", "Head", "evaluate", "finetune", "load", "predict", "presets", "save"]

_HOMES = {
    "Config": "litebert.config", "Head": "litebert.config", "load": "litebert.interop.folder",
    "save": "litebert.interop.folder", "finetune": "litebert.tasks.finetune", "evaluate": "litebert.tasks.judge",
    "predict": "litebert.tasks.predict",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Names load their module on first use, so that `import litebert` and the command line stay instant."""
    import importlib

    if name == "presets":
        return importlib.import_module("litebert.presets")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'litebert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
