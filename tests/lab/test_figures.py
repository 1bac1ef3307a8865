"""Are curves drawn where their values are, and is what cannot be drawn left out?"""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from litebert.lab import axes, figures
from litebert.lab.figures import Level, Line, Side


def drawn(*lines: Line, x: Side = Side("steps"), y: Side = Side("nats"), **more: object) -> ElementTree.Element:
    """The drawing, parsed."""
    return ElementTree.fromstring(figures.chart(lines, x, y, label="a <b> & c", **more))  # type: ignore[arg-type]


def read_back(svg: ElementTree.Element) -> dict[str, list[tuple[float, float]]]:
    """The values of every line, as the page's script reads them from the drawing."""
    left, top, right, bottom = map(float, svg.attrib["data-box"].split())
    sides = []
    for name in ("data-x", "data-y"):
        low, high, kind, *_ = svg.attrib[name].split(" ")
        sides.append((float(low), float(high), kind == "log"))

    def value(side: tuple[float, float, bool], share: float) -> float:
        low, high, log = side
        return low * (high / low) ** share if log else low + (high - low) * share

    found = {}
    for line in svg.iter("polyline"):
        if "data-name" in line.attrib:
            points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
            found[line.attrib["data-name"]] = [
                (value(sides[0], (x - left) / (right - left)), value(sides[1], (bottom - y) / (bottom - top)))
                for x, y in points
            ]
    return found


def test_the_script_reads_the_values_that_were_drawn() -> None:
    x, y = [0.0, 10.0, 40.0, 100.0], [7.5, 6.0, 6.25, 4.125]
    found = read_back(drawn(Line("one", x, y), Line("two", x[:2], y[2:], 1, "thin")))
    assert [v for _, v in found["one"]] == pytest.approx(y, abs=0.001)
    assert [v for v, _ in found["one"]] == pytest.approx(x, abs=0.02)
    assert [v for _, v in found["two"]] == pytest.approx(y[2:], abs=0.001)


def test_a_logarithmic_side_too() -> None:
    y = [0.01, 3.0, 250.0]
    found = read_back(drawn(Line("one", [1.0, 2.0, 3.0], y), y=Side("", log=True)))
    assert [v for _, v in found["one"]] == pytest.approx(y, rel=0.001)


def test_nothing_lies_outside_the_box_but_the_letters() -> None:
    x = [float(i) for i in range(2000)]
    y = [5.0 + (9.0 if i == 700 else 0.0) for i in range(2000)]
    svg = drawn(Line("one", x, y))
    left, top, right, bottom = map(float, svg.attrib["data-box"].split())
    for shape in [*svg.iter("polyline"), *svg.iter("polygon")]:
        for point in shape.attrib["points"].split():
            here, value = map(float, point.split(","))
            assert left - 0.1 <= here <= right + 0.1
            assert top - 0.1 <= value <= bottom + 0.1


def test_a_long_line_is_short_and_its_spread_is_shaded() -> None:
    x = [float(i) for i in range(5000)]
    svg = drawn(Line("one", x, [math.sin(i) for i in x]))
    assert len(read_back(svg)["one"]) == 200
    assert len(list(svg.iter("polygon"))) == 1
    assert list(drawn(Line("one", x, [math.sin(i) for i in x]), bands=False).iter("polygon")) == []
    assert list(drawn(Line("one", x[:100], x[:100])).iter("polygon")) == []


def test_what_is_no_number_is_left_out() -> None:
    found = read_back(drawn(Line("one", [1, 2, 3, 4], [1.0, math.nan, math.inf, 2.0])))
    assert [round(x) for x, _ in found["one"]] == [1, 4]
    found = read_back(drawn(Line("one", [1, 2, 3], [1.0, 0.0, 10.0]), y=Side("", log=True)))
    assert [round(x) for x, _ in found["one"]] == [1, 3]


@pytest.mark.parametrize("lines", [[], [Line("one", [], [])], [Line("one", [1.0], [math.nan])]])
def test_a_chart_of_nothing_is_nothing(lines: list[Line]) -> None:
    assert figures.chart(lines, Side("steps"), Side("nats"), label="none") == ""


def test_levels_are_drawn_at_their_value_with_their_name() -> None:
    svg = drawn(Line("one", [0, 10], [4.0, 8.0]), levels=[Level(7.0, "the floor 7.00"), Level(12.0, "far <up>")])
    path, _ = (one for one in svg.iter("path") if one.attrib["class"] == "level")
    place = float(path.attrib["d"].split()[1].split("H")[0])
    low, high = map(float, svg.attrib["data-y"].split()[:2])
    _, top, _, bottom = map(float, svg.attrib["data-box"].split())
    assert low + (high - low) * (bottom - place) / (bottom - top) == pytest.approx(7.0, abs=0.02)
    assert high >= 12
    names = [text for text in svg.iter("text") if text.attrib.get("class") == "level"]
    assert [name.text for name in names] == ["the floor 7.00", "far <up>"]
    assert all(top < float(name.attrib["y"]) < bottom for name in names)


def test_layers_have_whole_numbers_under_them() -> None:
    svg = drawn(Line("one", [1, 2, 3], [0.5, 0.4, 0.3]), x=Side("layer", whole=True), y=Side("", zero=True))
    texts = [text.text for text in svg.iter("text")]
    assert texts[-4:] == ["1", "2", "3", "layer"]
    many = [float(i) for i in range(1, 49)]
    svg = drawn(Line("one", many, many), x=Side("layer", whole=True))
    assert len([1 for text in svg.iter("text") if text.attrib.get("text-anchor") == "middle"]) <= 12


def test_a_single_point_is_seen() -> None:
    assert len(list(drawn(Line("one", [5], [1.0], kind="thin")).iter("circle"))) == 1


def test_names_and_labels_are_escaped() -> None:
    svg = drawn(Line('"<i>"', [0, 1], [0, 1]))
    assert svg.attrib["aria-label"] == "a <b> & c"
    assert list(read_back(svg)) == ['"<i>"']


def test_a_spark_is_drawn_on_the_axes_it_shares() -> None:
    up, across = axes.axis([0.1, 10.0], log=True), axes.axis([0.0, 100.0], tight=True)
    svg = ElementTree.fromstring(figures.spark([0, 100], [0.1, 10.0], up, across))
    (line,) = svg.iter("polyline")
    (x0, y0), (x1, y1) = (tuple(map(float, point.split(","))) for point in line.attrib["points"].split())
    width, height = figures.SPARK
    assert (x0, x1) == (2, width - 2)
    assert 0 < y1 < height / 4 < y0 < height
    (one,) = svg.iter("path")  # the level of 1, in the middle
    assert float(one.attrib["d"].split()[1].split("H")[0]) == pytest.approx(height / 2, abs=0.1)
