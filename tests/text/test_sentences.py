"""Does a sentence end where a reader would say so, in Latin and CJK scripts, with nothing lost and in no time?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litebert.text import corpus
from litebert.text.items import Document, Reading
from litebert.text.sentences import split
from litebert.text.sources import sources

# "|" stands where a sentence ends; the text is read without it.
SPACED = """
The river rose.| Nobody slept.
Dr. Hale met Mrs. Orr and Prof. van Dam.| They talked of No. 7, Fig. 3 and p. 12 of vol. 2.| No.| He did not agree.
It cost $3.50, i.e. 2.5 per cent more, cf. the table.| That is cheap!| Really?!| Yes.
Is it 5 a.m.?| Yes, it is.| The train left at 5 p.m. on Monday.| It came at 6 p.m.| The doors closed.
The U.S. Navy left the U.S. in May.| It came back to the U.S.| The harbour was empty.
J. R. Ortega and George W. Lund wrote it with P. D. Quay.| She read it.
She works for Acme Inc. in Troy.| He works for Acme Inc.| They met there.| Miller et al. (2010) say so.
He lives in St. Ives, Mo. with a dog.| Vitamin C.| Then plan B.| After that, nothing.
"Where is it?" he asked.| "I do not know!"| She left.| (It was late.)| ‘So it was.’| “Quite.”
Wait... what?| Yes… perhaps.| Perhaps…| It ended.| Version 2.0 came, see www.example.org or a.b.c for it.
As he said.[3]| The second.[4][12]| Done.
1. The first point. |2. The second point.
What a day! and yet no capital follows.| So he said.
Am 3. Oktober 1990 war es so weit.| Das war z. B. gut, d. h. sehr gut.| Er kam 1990.| 20 Leute sahen es.
Die Fa. Kranz GmbH ging ein.| Sie war Nr. 1 in Ulm.
M. Dupont est là.| Il a dit « Bonjour. »| Puis il est parti.
¿Qué hora es?| ¡Son las tres!| El Sr. Gil no vino.
Это было в 1990 г. в Туле.| Потом все уехали, т. е. почти все.| Он остался.
그는 갔다.| 그녀는 왔다.
तुम कहाँ हो।| मैं यहाँ हूँ।
ماذا حدث؟| لا شيء.
"""
UNSPACED = """
他来了。|她走了！|你呢？|“好吧。”|他说：“走吧。”|然后走了。
圆周率约为3.14。|这是第2.1节，见a.b网站。|价格是5.5元；|不贵。
他想了想……|然后走了。|（这是注释。）|正文开始。|「不行！」|她又說。
彼は「行く。」と言った。|そして出かけた。|「待て！」と叫んだ。|ほんと？|うん。
他在U.S.A.工作。|她用iPhone。|他说Hello! |然后走了。
他有手机。|iPhone是手机。|"x"是字母。|他说："好。"|再说： "走！"|没了。 |after that nothing； |其他。 。
真的？！|假的！！！|Ｘ．|下一句｡|完
"""


def cases(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.strip().splitlines()]


@pytest.mark.parametrize("case", [*cases(SPACED), *cases(UNSPACED)], ids=lambda case: case[0][:20])
def test_a_sentence_ends_where_a_reader_would_say_so(case: list[str]) -> None:
    expected = [each.strip() for each in case]
    assert split("".join(case)) == expected


def test_white_space_of_any_kind_is_one_blank() -> None:
    assert split(" One\t\u00a0 two.\u3000 Three\x0bfour. \n\n \n Five.\r\n") == ["One two.", "Three", "four.", "Five."]
    assert split("") == split(" \n\u3000\n\t") == []


def test_lines_that_are_sentences_stay_as_they_are() -> None:
    text = "Dr. Hale.  Came. And went\n\n  no stop here \nand on\n"
    assert split(text, one_per_line=True) == ["Dr. Hale. Came. And went", "no stop here", "and on"]
    assert split(text, lines="sentence") == split(text, one_per_line=True)
    assert split("One. Two\nthree. Four", lines="paragraph") == ["One.", "Two", "three.", "Four"]


ALPHABET = st.sampled_from([*".!?…。！？；\"'“”「」()[]»«*-   \n\tAbI3中と", "Mr", "[3]"])


@given(st.lists(ALPHABET, max_size=60).map("".join), st.sampled_from(["auto", "paragraph", "sentence"]))
@settings(max_examples=400)
def test_no_character_is_lost_and_no_sentence_is_blank(text: str, lines: str) -> None:
    found = split(text, lines=lines)  # type: ignore[arg-type]
    kept, given_ = "".join("".join(found).split()), "".join(text.split())
    assert kept == given_
    for sentence in found:
        assert sentence
        assert sentence == " ".join(sentence.split())


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_is_split_without_loss(text: str) -> None:
    assert "".join("".join(split(text, lines="paragraph")).split()) == "".join(text.split())


MANY = 100_000
HARD = [
    "." * MANY, "。" * MANY, '."' * MANY, ".」」" * MANY, ". A" * MANY, ". (" * MANY, "A. " * MANY, "。」" * MANY,
    "a." * MANY + " B", ".[3]" * MANY, ". »" * MANY, "x" * 9 * MANY, "中!" * MANY, ("中" * 1000 + ". A") * 100,
    " " * MANY, "x\n" * MANY, "(\n" * MANY, "-\n" * MANY, "!? " * MANY, "…. " * MANY, ("word " * 12 + "\n") * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HARD, ids=lambda text: ascii(text[:8]))
def test_no_text_takes_long(text: str) -> None:
    """Quadratic would take hours for what a book of contents is full of."""
    began = time.process_time()
    split(text)
    assert time.process_time() - began < 3


def test_splitting_is_fast() -> None:
    """Some 60 MB/s in English and 100 in Chinese on one core, when it is idle; a tenth of that here."""
    english = (
        "The mill by the river was closed in 1984. Mr. Dow, who owned it, sold 3.5 acres to the U.S. Army. Why? " * 9
    )
    for text in (english, "一九八四年，河边的磨坊关闭了。它的主人卖掉了三亩地！为什么？" * 20):
        data = "\n".join([text] * 300)
        began = time.process_time()
        split(data)
        assert len(data.encode()) / 1e6 / (time.process_time() - began) > 5


def test_real_articles_are_split_as_they_were(shared_data: Path) -> None:
    """Sentences, and characters of the middle and of the longest but 1 %: a change here changes every shard."""
    found = {}
    for name, path in (("en", "enwiki/part-0.parquet"), ("zh", "zhwiki.jsonl.gz")):
        items = corpus.read(sources([shared_data / "text" / path]), Reading())
        some = [item.text for item, _ in items if isinstance(item, Document)][:300]
        sentences = [each for text in some for each in split(text)]
        assert "".join("".join(sentences).split()) == "".join("".join(some).split())
        lengths = sorted(map(len, sentences))
        found[name] = (len(sentences), lengths[len(lengths) // 2], lengths[len(lengths) * 99 // 100])
    assert found == {"en": (35547, 117, 372), "zh": (24551, 38, 135)}
