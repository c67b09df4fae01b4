"""Ten kinds of text that people bring, written for this project, with every mention of what is mentioned twice or more.

Marked as in `marked.py`. Possessives, nested mentions and pronouns are marked too; what is mentioned only once is not.
"""

from __future__ import annotations

PRESS_REPORT = """\
[a Orbis Freight] said on Tuesday that [a it] would close [b [a its] depot in Carrow], with the loss of 140
jobs. [a The Leith-based haulier] blamed rising fuel costs and a fall in orders from [c Brightwell Foods,
[a its] largest customer]. “This was not an easy decision,” said [d Ingrid Solberg, [a the company]'s chief
executive]. [d She] added that [a Orbis] would offer places elsewhere to a third of [e the workers].

[f The transport union] called [g the plan] a betrayal. [h [f Its] regional secretary, Paul Adeyemi], said
[e the staff] had learned of [g it] from [e their] phones. “[h I] met [d Ms. Solberg] in June, and [d she] told
[h me] [b the depot] was safe,” [h Mr. Adeyemi] said.

[c Brightwell] declined to comment. Shares in [a the haulage group] fell by four per cent. [b The Carrow site]
opened in 1988 and was twice extended; [a Orbis] expects to leave [b it] by March.
"""

CHAT = """\
09:02 [m Mia]: morning! did anyone talk to [a the caterer]?
09:03 [b Theo]: not yet, [b I]'ll call [a her] at ten
09:03 [m Mia]: ok. tell [a her] that [c Uncle Raf] can't eat nuts
09:04 [b Theo]: [c he] told [b me]. [c he] also wants to bring [d [c his] dog]
09:05 [m Mia]: again?? [d that dog] ate [e the cake] at [f Jo]'s party
09:05 [b Theo]: half of [e it]. and [f she] laughed
09:06 [m Mia]: [f she] did not laugh, [f she] cried in [g the kitchen]. [m I] was there
09:07 [b Theo]: [b I] mean, [g the kitchen] was where [e the cake] was
09:11 [b Theo]: [a the caterer] just called. [a she] wants the number of guests by noon
09:12 [m Mia]: 34 with [f Jo], 35 with [d the dog]
"""

SUPPORT_TICKET = """\
Hello, [a I] bought [b the Aria 2 speaker] from [c your shop] in March and [b it] worked well until last week.
Now [b it] turns [b itself] off after ten minutes. [a I] have tried [d the reset] that is described in the
manual, but [d it] did not help. When [a I] called [f your hotline], [g a technician] told [a me] to update
[h the firmware]. [g He] said that [h the new version] was on your website. [a I] could not find [h it] there.

Please tell [a me] how [a I] can install [h the firmware], or send [a me] [j a replacement]. If [a I] get
[j one], shall [a I] return [b the old speaker] to [c the shop], or will somebody collect [b it]? [a My] order
number is [k 55-2071]. [f The hotline] had [k it] already, and [g the technician] wrote [k it] down twice.
"""

ENCYCLOPEDIA = """\
[a Lake Ostrava] is a freshwater lake in the north of [b the Velan plateau]. With an area of 61 square
kilometres, [a it] is the largest lake of [b the plateau]. [a It] is fed by the River Tam, which rises in the
Grey Hills, and drained by [e the Sorn, a slow stream that freezes in winter].

[a The lake] was first described by [f the Danish geographer Mette Lund], who spent two summers on [g [a its]
eastern shore]. [f Lund] measured [a its] depth with a rope and a bell; [f her] figures were off by less than a
metre. In 1931 [h a dam] was built across [e the Sorn]. [h It] raised the level of [a the lake] by three metres
and flooded [i the village of Hamra]. [i Hamra] was rebuilt on [g the eastern shore], where [i it] stands today.
[j The villagers] brought [k the bell of [j their] church] with [j them]; [k it] hangs in the school.
"""

RECIPE = """\
Wash [a the spinach] and leave [a it] wet. Chop [b the onion] finely and fry [b it] in butter until [b it] is
soft but not brown. Add [a the spinach], cover [d the pan], and wait until [a the leaves] have collapsed. Take
[d it] off the heat. Beat [e the eggs] with cream, season [e them] with salt and nutmeg, and stir in [a the
spinach] with [b the onion].

Line [g a deep tin] with [h the pastry], letting [h it] hang over the edge. Pour in [i the filling]; [i it]
should come to a finger's width below the rim of [g the tin]. Fold [h the pastry] over [i it] and brush [h it]
with milk. Bake [j the pie] in the middle of [k the oven] for forty minutes. Turn [k the oven] off and leave
[j the pie] in [k it] for ten minutes more, so that [i the filling] sets. [j It] is best when [j it] is almost
cold.
"""

MINUTES = """\
Present: [a Ms. Okoye] (chair), [b Mr. Brandt], [c Dr. Yilmaz], [d Mr. Price]. Apologies: [e Mrs. Hall].

1. [f The minutes of the last meeting] were approved. [b Mr. Brandt] noted that [g the figures on page two] were
still missing; [a the chair] promised to add [g them] to [f the minutes].

2. [h The roof]. [d Mr. Price] reported that [i the builders] had looked at [h the roof] and would send
[j [i their] offer] by Friday. [i They] think [h it] can be mended without closing the hall. [c Dr. Yilmaz]
asked whether [j the offer] would include the gutters. [d Mr. Price] did not know; [d he] will ask [i them].

3. [k The summer concert]. [e Mrs. Hall] had written that [e she] could no longer organise [k it]. [c Dr.
Yilmaz] offered to take [k the concert] over if [b Mr. Brandt] helped [c her]. [b He] agreed. [a Ms. Okoye]
thanked both.

4. Next meeting: [a the chair] will propose a date as soon as [a she] has [j the offer of [i the builders]].
"""

COURT_REPORT = """\
[a A bus driver] who left [b [a his] vehicle] with the engine running was acquitted on Monday of causing a
collision that injured two people. [d The court in Marl] heard that [a Stefan Kruk], 41, had got out to help
[e a passenger with [f a pram]]. While [a he] lifted [f the pram], [b the bus] rolled forty metres down Station
Hill and struck a delivery van.

[h The prosecutor] argued that [a the defendant] should have pulled [i the hand brake]. [j [a His] lawyer, Amira
Said], said [a he] had. [j She] called [k an engineer], who told [d the court] that [i the brake] was worn and
that [k he] had seen three like [i it] in the same fleet. [h The prosecutor] did not question [k him].

[l Judge Helena Moos] said [a Kruk] had done what [a he] had been taught. “[a You] are free to go,” [l she] told
[a him]. [e The passenger], who attended every day, embraced [a the driver] on the steps. [m The bus company]
said [m it] would examine [m its] brakes.
"""

FIRST_PERSON = """\
When [a I] was twelve [b [a my] aunt Sofia] taught [a me] to drive. [b She] had [c a blue pick-up] that was
older than [a I] was, and [b she] let [a me] steer [c it] up and down the beach.

“Do not look at [d the sea],” [b she] said. “[d The sea] will still be there. Look at the posts.”

“[a I] am looking at [e the dog],” [a I] said. [e It] ran in front of [f us], barking.

“[e He] knows how to get out of [a your] way. [a You] do not know how to get out of [e his].”

[g [a My] cousin Luca] sat in the back and laughed. “[a She] will drown [f us] all,” [g he] told [b [g his]
mother]. [b Aunt Sofia] turned around, took [h [g his] cap] and threw [h it] out of the window. “Now [g you]
walk back for [h it],” [b she] said. [g He] did. [a I] drove [c the pick-up] beside [g him] the whole way, very
slowly, and never once looked at [d the water].
"""

EMAIL_THREAD = """\
From: [b Karin Bell]
To: [f Dev Anand]
Subject: [a The Porto contract]

Dear [f Dev], [b I] have read [a the contract] again. [c Clause nine] worries [b me]: [c it] lets [d Porto
Lines] leave after
a year, but [e we] are bound for five. Could [f you] ask [g [d their] lawyer] whether [d they] would accept
three for both
sides?
[b Karin]

From: [f Dev Anand]
To: [b Karin Bell]

Dear [b Karin], [f I] spoke to [g Ms. Faria] this morning. [g She] says [d Porto Lines] will not change
[c clause nine], but
[g she] would add [i a penalty] if [d they] leave early. [f I] think [i it] should be half of the remaining
fees. [g She]
wants [j an answer] by Thursday. Shall [e we] agree?
[f Dev]

From: [b Karin Bell]
To: [f Dev Anand]

Half is fine. Give [g her] [j the answer] today, please, and send [b me] [a the contract] when [d they] have
signed [a it].
[b Karin]
"""

ABSTRACT = """\
[a Honeybees] use [b the sun] to navigate, but how [a they] do so under heavy cloud is disputed. [c We] tested
whether [a they] rely on [d remembered landmarks]. [c We] trained [e 48 bees] to visit [f a feeder] 300 metres
from [g [e their] hive] and then moved [g the hive] to [h a second field] that resembled the first. On clear
days [e the bees] searched in the direction given by [b the sun]. Under cloud, [e they] flew to the place where
[f the feeder] would have been if [h the second field] had been the first, which [d the landmarks] suggested.

[i This result] shows that [d landmarks] replace [b the sun] when [b it] cannot be seen. [i It] agrees with
[j earlier work on desert ants], although [j those studies] used shorter distances. [c Our] method needs no
tracking and can be applied to other insects that return to a nest.
"""

TEXTS = {
    "a press report": PRESS_REPORT,
    "a chat": CHAT,
    "a support ticket": SUPPORT_TICKET,
    "an encyclopedia article": ENCYCLOPEDIA,
    "a recipe": RECIPE,
    "minutes of a meeting": MINUTES,
    "a court report": COURT_REPORT,
    "a first-person story": FIRST_PERSON,
    "an e-mail thread": EMAIL_THREAD,
    "a scientific abstract": ABSTRACT,
}
