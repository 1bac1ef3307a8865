"""x"""
from collections.abc import Iterator
from litebert.text.items import Document
def documents() -> Iterator[Document]:
    """x"""
    yield from ()
