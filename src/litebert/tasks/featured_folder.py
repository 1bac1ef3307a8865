"""How does a head on a frozen body lie in a folder? In our own form: litebert.json says what is read, and by what.

No class of transformers reads chosen layers, so there is no config.json that would promise one: the body lies as
`interop.folder` writes it, which loads as a model without a head, and the head in a file beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from litebert import files
from litebert.config import Head
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.interop import tensors
from litebert.tasks import featured
from litebert.tasks.featured import Featured, How

HEAD, KEY = "head.safetensors", "features"


def save(model: Featured, folder: Path) -> None:
    """The body and its head; litebert.json speaks of the head last, when all is there."""
    folders.save(model.body, folder, to="litebert")
    tensors.write_file(folder / HEAD, model.state_dict())
    how, values = model.how, files.read_json(folder / folders.OURS)
    values[KEY] = {"layers": how.layers, "network": how.network, "name": how.name,
                   "head": how.head.model_dump(mode="json"), "sha256": files.digest(folder / HEAD)}  # fmt: skip
    files.write_json(folder / folders.OURS, values)


def is_one(folder: Path) -> bool:
    """Whether a folder holds a head on a frozen body."""
    return (folder / folders.OURS).is_file() and KEY in files.read_json(folder / folders.OURS)


def load(folder: Path, device: str | torch.device = "cpu") -> Featured:
    """The head, in eval mode, with its body that reads ids."""
    said: Mapping[str, Any] = files.read_json(folder / folders.OURS)[KEY]
    path = folder / HEAD
    try:
        head = Head(**{**said["head"], "names": tuple(said["head"]["names"])})
        how, digest = How(said["layers"], said["network"], said["name"], head), said["sha256"]
    except (KeyError, TypeError) as error:
        raise FolderError(f"{folder / folders.OURS} is not as litebert writes it ({error}): copy it again") from None
    if not path.is_file() or files.digest(path) != digest:
        what = "changed since it was written" if path.is_file() else "is missing"
        raise FolderError(f"{path}, the head that {folders.OURS} speaks of, {what}: copy the folder again")
    body = folders.load(folder, {}, dtype=torch.float32, device=str(device))
    made = featured.drawn(body, how, 0)
    made.load_state_dict(tensors.read_file(path))
    return made.to(device).eval()
