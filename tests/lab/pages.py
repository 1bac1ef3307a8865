"""How does a test read a page? As the browser does: elements that close, numbers, links, and what a reader sees."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

_EMPTY = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """A page that was parsed without a complaint."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []  # tag, name, value
        self.numbers: list[float] = []
        self.seen: list[str] = []  # texts outside style and script
        self.text_of: dict[str, str] = {}  # of every section by its id
        self.styles = self.scripts = ""
        self._section = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert self.open == [], f"never closed: {self.open}"
        ids = [value for _, name, value in self.attributes if name == "id"]
        assert len(ids) == len(set(ids)), "an id stands twice"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        values = dict(attrs)
        if tag == "data":
            self.numbers.append(float(values["value"] or ""))
        if tag == "section":
            self._section = values.get("id") or ""
            self.text_of[self._section] = ""
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of a drawing that holds nothing."""
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """An element ends: the one that was opened last."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()} closes another"
        if tag == "section":
            self._section = ""

    def handle_data(self, data: str) -> None:
        """Text."""
        if self.open and self.open[-1] in ("style", "script"):
            self.styles += data if self.open[-1] == "style" else ""
            self.scripts += data if self.open[-1] == "script" else ""
            return
        self.seen.append(data)
        if self._section:
            self.text_of[self._section] += data

    def stands_alone(self) -> None:
        """It asks for nothing from anywhere, and what it links to is on it."""
        assert not re.search(r"(?:https?:)?//[a-z]", self.source.replace("// Reads", "")), "an address"
        assert "@import" not in self.styles
        assert "url(" not in self.styles
        assert not re.search(r"fetch|XMLHttp|import\(|WebSocket|eval", self.scripts)
        links = [(tag, value) for tag, name, value in self.attributes if name in ("href", "src", "srcset", "action")]
        assert {tag for tag, _ in links} == {"a"}
        ids = {value for _, name, value in self.attributes if name == "id"}
        assert all(value.startswith("#") and value[1:] in ids for _, value in links)
        assert {tag for tag, _, _ in self.attributes} & {"img", "link", "iframe", "object", "embed"} == set()

    def numbers_of(self, section: str) -> list[float]:
        """The numbers of a section, as they were measured."""
        inside = self.source.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        return [float(value) for value in re.findall(r'<data value="([^"]+)">', inside)]

    def drawn(self, label: str) -> dict[str, list[tuple[float, float]]]:
        """The lines of a chart by their names, read back from where they are drawn; its axes are linear."""
        (svg,) = re.findall(f'<svg class="chart"[^>]*aria-label="{re.escape(label)}".*?</svg>', self.source)
        box = [float(end) for end in re.findall(r'data-box="([^"]+)"', svg)[0].split()]
        x, y = ([float(end) for end in re.findall(f'data-{axis}="([^"]+) lin', svg)[0].split()] for axis in "xy")
        left, top, right, bottom = box
        return {
            name: [
                (x[0] + (float(here) - left) / (right - left) * (x[1] - x[0]),
                 y[0] + (bottom - float(there)) / (bottom - top) * (y[1] - y[0]))
                for here, _, there in (point.partition(",") for point in points.split())
            ]
            for name, points in re.findall(r'<polyline[^>]*data-name="([^"]+)" points="([^"]+)"', svg)
        }  # fmt: skip

    @property
    def text(self) -> str:
        """All that a reader sees."""
        return "".join(self.seen)

    def lines(self) -> list[str]:
        """The names of all drawn lines."""
        return [value for tag, name, value in self.attributes if (tag, name) == ("polyline", "data-name")]
