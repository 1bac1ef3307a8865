"""Does `litebert presets` show the family as diffs from which every member can be built again?"""

from __future__ import annotations

from typing import Any

from cli.running import litebert
from litebert import presets
from litebert.config import build


def test_json_holds_every_preset_and_its_diffs_rebuild_its_config() -> None:
    done = litebert("presets", "--json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    told = done.value
    assert list(told) == presets.names()

    def values(name: str) -> dict[str, Any]:
        entry = told[name]
        return {**(values(entry["parent"]) if entry["parent"] else {}), **entry["diff"]}

    for name in told:
        assert build(values(name)) == presets.preset(name), name
    assert [name for name, entry in told.items() if entry["parent"] is None] == ["bert-base"]


def test_the_parameters_told_are_those_of_describe() -> None:
    told = litebert("presets", "--json").value
    for name in ("albert-base", "bert-tiny", "xlnet-large", "electra-small", "albert-xlarge-unshared"):
        counts = litebert("describe", name, "--json").value["parameters"]
        assert told[name]["parameters"] == counts["total"], name


def test_the_table_has_a_line_for_every_preset() -> None:
    done = litebert("presets")
    assert (done.code, done.err) == (0, "")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in done.out.splitlines() if line.strip()}
    assert set(presets.names()) <= set(rows)
    diff = "vocab=30000 embedding=128 sharing=all objectives=mlm,sop dropout=0.0 attention_dropout=0.0"
    assert rows["albert-base"] == f"11,683,584 bert-base, but {diff}"
    assert rows["albert-base-v2"] == "11,683,584 albert-base, by its other name"
    assert rows["bert-base"].startswith("109,482,240 vocab=30522")
