"""Which words have a stop of their own? Lists by what the stop means, for English, German, French, Spanish and Russian.

What is written here with a capital is met only so ("Ill." is a state, "ill." an end); a small word is met capital too,
a single letter is not: capital ones are initials.
"""

from __future__ import annotations

# Something follows in the same sentence, always.
_NEVER = """
Mr Mrs Ms Mx Dr Drs Prof Rev Fr Hon St Ste Sts Mt Gen Col Lt Lieut Maj Capt Cpt Cmdr Adm Sgt Cpl Pvt Gov Sen Rep Pres
Supt Messrs Mme Mmes Mlle Mlles Mgr Sra Srta Dña Hr Hrn Frl Dipl Ing Brig Visc Bde Fa
v vs cf viz e.g i.e eg ie approx esp incl z.b d.h u.a o.ä s.o v.a m.e p.ex p.ej bspw bzw ggf evtl vgl sog insb inkl
zzgl
ca hl resp av г-н г-жа см ср напр т.е т.к т.н им ул просп акад доц проф св пос
"""
# A number or numeral follows in the same sentence; before anything else the sentence is over.
_NUMBER = """
no nos nr nrn nº n° num núm fig figs abb abs art arts sec sect secs ch chap chaps vol vols bd p pp pg pág págs par
para paras eq eqs Tab app appx ll op opp ver pt kap anm hft § c b d fl r m l est
Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez Mär janv févr avr juil déc ene abr dic
стр рис табл гл п пп т тт корп кв кн вып ок род ум нач кон
"""
# The sentence is over if the next word is one that begins sentences.
_EITHER = """
Inc Ltd co Corp Bros LLC plc GmbH cie Jr Sr Esq ph.d etc al usw u.s.w Ave Blvd Rd dept Univ assn assoc intl natl ed
eds trans ft sq mi oz lb lbs Ala Ariz Ark Calif Cal Colo Conn Del Fla Ga Ill Ind Kan Kans Ky La Mass Md Mich Minn Miss
Mo Mont Neb Nev Okla Ore Ont Pa Penn Que Tenn Tex Va Vt Wash Wis Wyo repr rept publ bldg cit jh jhd jhdt jhs geb gest
verh mio mrd tsd std
г гг в вв руб коп млн млрд тыс др пр обл
"""
# What begins with these after an abbreviation, an initial or a numeral is a new sentence.
_STARTERS = """
The This That These Those There Then Thus They Their He His Her She It Its We Our You Your My And But Or Nor So Yet
For If In On At By To From With Without Within As After Afterwards Before During While When Whenever Where Who Whose
What Why How Which However Although Though Because Since Until Unless Despite According Following Under Over Between
Among Through Throughout Both Each Every Some Many Most Much Several Few All Any Another Other Others Such Not No Only
Also Even Still Later Earlier Once One Two Three Four Five Today Now Here Instead Meanwhile Moreover Furthermore
Therefore Hence Nevertheless Nonetheless Indeed Finally Eventually Initially Originally Recently Currently
Additionally Similarly Unlike Along Upon Against About Around Near Beyond Let Did Does Do Is Are Was Were Has Have Had
Can Could Would Should Perhaps Maybe An
Der Die Das Den Dem Ein Eine Einen Einer Er Sie Es Wir Ihr Ihre Sein Seine Im Am Auf Mit Nach Bei Beim Zu Zum Zur Für
Aus Als Wenn Weil Obwohl Aber Und Oder Auch Doch Dann Danach Dabei Dazu Daher Damit Dieser Diese Dieses Diesen Jeder
Jede Nicht Nur Noch Nun Seit Vor Vom Durch Über Unter Während Zwar Hier Heute Man Alle Viele
Il Elle Ils Elles Ce Cet Cette Ces Dans En Au Aux Pour Par Sur Avec Mais Et Ou Donc Car Puis Ensuite Après Avant
Depuis Lorsque Quand Comme Selon Son Sa Ses Leur Leurs Nous Vous On Une Un Les Des Cela Le
El Los Las Él Ella Ellos Ellas Este Esta Estos Estas Ese Esa Pero Y Con Para Desde Hasta Según Cuando Aunque También
Después Antes Su Sus Entre Sobre Al Una
Он Она Оно Они Это Этот Эта Эти Тот Те В Во На С Со По К Но И А Или Из За От До Для При Как Так Там Тогда Когда Если
Хотя Потом После Затем Также Однако Его Её Их Мы Вы Ты Я Не Что Чтобы Все Всё Уже Ещё
"""
# After an ordinal of figures, which German writes with a stop, these go on in the same sentence.
_ORDINAL = """
Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert Jahrhunderts
Jahrhunderten Jahrtausend Jahrtausends Jh Jhd Jhdt Klasse Platz Lebensjahr Lebensjahres Weltkrieg Weltkriegs
Weltkrieges Bundestag Bundestages Bundesliga Liga Stock Etage Kapitel Mal Tag Jahrestag Geburtstag Auflage
Legislaturperiode Armee Division Infanterie Regiment Bataillon Bezirk Arrondissement Runde Saison Minute Spieltag
"""

NEVER, NUMBER, EITHER = "never", "number", "either"
MEANING: dict[str, str] = {
    form: meaning
    for meaning, words in ((NEVER, _NEVER), (NUMBER, _NUMBER), (EITHER, _EITHER))
    for word in words.split()
    for form in ((word, word[0].upper() + word[1:]) if len(word) > 1 else (word,))
}
STARTERS = frozenset(_STARTERS.split())
ORDINAL = frozenset(_ORDINAL.split())
LONGEST = max(map(len, MEANING))
