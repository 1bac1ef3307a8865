"""Is a run that cannot begin refused before anything is made?"""

from __future__ import annotations

from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.train import recipe
from litebert.train.prepared import prepare


def test_a_recipe_that_goes_on_wants_the_folder_of_a_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name its folder with --from FOLDER"):
        prepare(recipe.load("continue"), tmp_path)
    with pytest.raises(UserError, match="is no shard set"):
        prepare(recipe.load("continue", [f"start={tmp_path}"]), tmp_path)
