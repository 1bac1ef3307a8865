"""Which sentences is a model looked at with, if its own held-out text is not at hand? Plain ones, in two languages."""

from __future__ import annotations

from typing import NamedTuple


class Language(NamedTuple):
    """Sentences of a language, and words whose neighbours are worth a look."""

    texts: tuple[str, ...]
    words: tuple[str, ...]


ENGLISH = Language(
    texts=(
        "The train to the coast leaves the station every hour in the summer.",
        "She opened the window because the room was too warm.",
        "The old bridge over the river was built by the people of the village.",
        "He was born in a small town and later moved to the capital of the country.",
        "Most of the children walk to school in the morning.",
        "The first edition of the book was sold in less than a week.",
        "After the war the family returned to the house near the sea.",
        "The doctor said that the patient should stay in bed for two days.",
        "A new road will connect the north of the island with the south.",
        "The team won the final game of the season and the fans were happy.",
        "In winter the lake is covered with ice for three months.",
        "The museum shows paintings, letters and furniture of the last century.",
        "The company has offices in five cities and about two hundred employees.",
        "You can read the file line by line or load all of it into memory.",
        "The function returns a list of the names that were not found.",
        "If the argument is missing, the default value is used instead.",
        "The king gave the land to his brother, who built a church on the hill.",
        "Every student has to pass an examination at the end of the year.",
        "The film tells the story of a young woman who becomes a famous singer.",
        "Fresh bread and strong coffee were served before the meeting began.",
        "The government promised to lower the price of water and electricity.",
        "His mother taught him to play the piano when he was six years old.",
        "The species lives in warm forests and feeds on fruit and insects.",
        "The storm destroyed many houses, but nobody in the town was killed.",
        "The judge asked the witness to speak slowly and clearly.",
        "Light travels faster than sound, so we see the flash before we hear the thunder.",
        "The album was recorded in one night and released the following spring.",
        "They planted apple trees along the road to the farm.",
        "The north side of the mountain is much colder than the south side.",
        "Please close the door when you leave the building in the evening.",
        "The ship carried wood and grain between the two ports for many years.",
        "She wrote a letter to her sister and sent it the same day.",
    ),
    words=("three", "water", "king", "north", "city", "write", "summer", "music", "false", "doctor", "red", "always"),
)
CHINESE = Language(
    texts=(
        "火车每天早上八点从北站开往海边的城市。",
        "因为房间太热，她打开了窗户。",
        "这座古老的桥是村里的人一起修建的。",
        "他出生在一个小镇，后来搬到了首都生活。",
        "孩子们每天走路去学校上课。",
        "这本书的第一版不到一个星期就卖完了。",
        "战争结束以后，他们一家回到了海边的老房子。",
        "医生说病人应该在床上休息两天。",
        "新的公路将把岛的北部和南部连接起来。",
        "球队赢得了本赛季的最后一场比赛，球迷们非常高兴。",
        "冬天的时候，湖面会结冰三个月。",
        "博物馆展出了上个世纪的绘画、书信和家具。",
        "公司在五个城市设有办事处，大约有两百名员工。",
        "政府答应降低水和电的价格。",
        "母亲在他六岁的时候就教他弹钢琴。",
        "这部电影讲述了一位年轻女子成为著名歌手的故事。",
    ),
    words=("三", "水", "王", "北", "红", "猫", "山", "火", "大", "写", "春", "金"),
)
