"""Is what remains of a docstring prose, and is no word of the prose lost?"""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.text.prose import is_code, paragraphs


def found(text: str) -> list[str]:
    return paragraphs(inspect.cleandoc(text))


def test_lines_of_a_paragraph_are_one_and_blank_lines_end_it() -> None:
    assert found("""Turn the wheel by one
        tooth, or by two if the
        water is high.

        It creaks well-
        known tunes.""") == [
        "Turn the wheel by one tooth, or by two if the water is high.",
        "It creaks well-known tunes.",
    ]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Call ``turn(n)`` and *never* or **ever** `stop`.", "Call turn(n) and never or ever stop."),
        ("See :func:`turn`, :class:`~mill.Wheel` and :py:meth:`!halt`.", "See turn, Wheel and halt."),
        ("As :pep:`8` and :rfc:`2822` and :ref:`the list <wheels>` say.", "As PEP 8 and RFC 2822 and the list say."),
        ("A `link to it <http://example.org/a_b>`_ and `another`__ here.", "A link to it and another here."),
        ("The name `turn' is quoted in the old way.", "The name turn is quoted in the old way."),
        ("It takes *args and **kwargs, then a*b or b*c too.", "It takes *args and **kwargs, then a*b or b*c too."),
        (r"A \*star\* and an \_underscore.", "A *star* and an _underscore."),
        ("It is used like this::", "It is used like this:"),
    ],
)  # fmt: skip
def test_marks_go_and_names_stay(marked: str, plain: str) -> None:
    assert found(marked) == [plain]


def test_code_doctests_grammars_tables_and_directives_go() -> None:
    assert found("""The wheel and how it turns.

        It is turned like this:

            wheel = Wheel(teeth=3)
            for _ in range(2):
                wheel.turn()

        and says then::

            turned twice, said the wheel, and
            this is no code that anybody would take

        which is right.
        >>> wheel.turned
        2
        said the wheel

        After it there is more.

        >>> wheel.turn()
        Traceback (most recent call last):
        ...

        turning ::= "turn" wheel ["twice"]

        +------+-------+
        | the  | wheel |
        +------+-------+

        ===== ========
        teeth the size
        ===== ========

        .. versionadded:: 3.1

        $Id: wheel.py 3 $
        -*- mode: text -*-

        The end of it.
        """) == [
        "The wheel and how it turns.",
        "It is turned like this:",
        "and says then:",
        "which is right.",
        "After it there is more.",
        "teeth the size",
        "The end of it.",
    ]


def test_headings_items_and_entries_are_paragraphs_of_their_own() -> None:
    assert found("""\
        The wheels
        ==========
        There are some kinds of them:

        * those of wood, which
          creak a lot
        - those of iron
        2. those of stone

        Arguments:
            teeth: how many of them there are, which is
                more than three
            size -- the size in feet of the wheel
        :param water: how high it stands
        :returns: the turns of it
        @raises Dry: where no water is

        Called with nothing. Returns:
           None if it stands, or
           True if it turns
        """) == [
        "The wheels",
        "There are some kinds of them:",
        "those of wood, which creak a lot",
        "those of iron",
        "those of stone",
        "teeth: how many of them there are, which is more than three",
        "size -- the size in feet of the wheel",
        "water: how high it stands",
        "returns: the turns of it",
        "Dry: where no water is",
        "Called with nothing. Returns:",
        "None if it stands, or True if it turns",
    ]


@pytest.mark.parametrize("text", ["x", "wheel(n, m=1) -> int", "(typ, [data]) = <mill>.turn(n)", "----", "", "  \n \n"])
def test_what_has_hardly_a_word_is_no_paragraph(text: str) -> None:
    assert paragraphs(text) == []


@pytest.mark.parametrize("text", ["x = 1", "turn(n)", "if x:\n    y()", "a.b", "[1, 2]"])
def test_what_python_takes_is_code(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize("text", ["turn", "the wheel", "Turn the wheel.", "x = ", "a\0b.c", "(" * 100_000, "1__0.x"])
def test_what_it_does_not_is_none(text: str) -> None:
    assert not is_code(text)


def test_code_that_would_warn_does_so_silently(recwarn: pytest.WarningsRecorder) -> None:
    assert is_code("x is 1, '\\d'")
    assert len(recwarn) == 0


@given(st.text(st.sampled_from("ab \n\t`*:_>=-+|.\\#1)"), max_size=80))
def test_any_text_gives_paragraphs_of_one_line(text: str) -> None:
    for each in paragraphs(text):
        assert each == " ".join(each.split())
        assert len(each.split()) >= 2
