"""How is a line of JSON read that is too long to be held? As it comes, its text handed on in parts."""

from __future__ import annotations

from collections.abc import Iterator

from litebert.text import decode, long_json
from litebert.text.items import Document, Problem, Reading
from litebert.text.unpack import Stream


class LongLine:
    """A line of which the beginning was read; when its documents are used up, the rest is known."""

    def __init__(self, begun: bytes, stream: Stream | None = None) -> None:
        self.size = 0  # bytes of the line
        self.rest = b""  # what was read beyond it
        self.problems: list[Problem] = []  # one of a kind
        self.fault = ""  # what makes it a bad record
        self._chunks = self._read(begun, stream)

    def documents(self, name: str, place: int, reading: Reading, marked: bool) -> Iterator[Document]:
        """The parts of the text; what stands first in a file may be `marked` as UTF-8."""
        number, held = 0, bytearray()
        try:
            for piece in long_json.text_of(self._text(name, place, reading, marked), reading.field):
                whole = self._noted(decode.without_halves(piece, name, place, reading))
                held += self._noted(decode.without_nul(whole, name, place)).encode()
                while len(held) > decode.PART:
                    size = decode.cut(held, decode.PART)
                    if text := _unless_blank(held[:size]):
                        yield Document(text, name, place, number)
                        number += 1
                    del held[:size]
        except long_json.RecordError as fault:
            self.fault = f"{fault}; {number:,} parts of its text were read before" if number else str(fault)
        if not self.fault and (text := _unless_blank(held)):
            yield Document(text, name, place, number)
        for _ in self._chunks:
            continue

    def _read(self, begun: bytes, stream: Stream | None) -> Iterator[bytes]:
        self.size = len(begun)
        yield begun
        while stream and (block := stream.read()):
            line, ended, self.rest = block.partition(b"\n")
            self.size += len(line)
            yield line
            if ended:
                break

    def _text(self, name: str, place: int, reading: Reading, marked: bool) -> Iterator[str]:
        held, before = b"", 0
        for chunk in self._chunks:
            data = held + chunk
            if marked:
                data, marked = decode.unmarked(data, name), False
            size = decode.whole_characters(data)
            yield self._noted(decode.decoded(data[:size], name, place, reading, before=before))
            held, before = data[size:], before + size
        yield self._noted(decode.decoded(held, name, place, reading, before=before))

    def _noted(self, read: tuple[str, list[Problem]]) -> str:
        text, problems = read
        for problem in problems:
            for i, known in enumerate(self.problems):
                if known.kind == problem.kind:
                    self.problems[i] = known._replace(count=known.count + problem.count)
                    break
            else:
                self.problems.append(problem)
        return text


def _unless_blank(data: bytearray) -> str:
    text = data.decode()
    return "" if text.isspace() else text.replace("\r\n", "\n")
