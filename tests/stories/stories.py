"""Short stories written for this project, each with the few mentions that a reader would never mistake.

Mentions are marked as in `marked.py`: those of one letter are one entity, those of two letters are not. What is
not marked is not asked. Dialogues have one turn a line, with the speaker before the first colon.
"""

from __future__ import annotations

NAMES = """\
[a Margaret Oakley] opened the post office in Dunmore at eight, as [a she] had done for thirty years. At nine
[b Daniel Reyes] came in. [b Reyes] wanted stamps for Chile. [a Margaret] had to look up the price in a book.
“Nobody writes to Chile from here,” said [a Mrs. Oakley]. “My brother lives in Chile,” said [b Daniel], and he
bought ten. From that day [b Reyes] came every Friday, and [a Margaret Oakley] kept the best stamps for [b him].
"""

PRONOUNS = """\
[a Elena] had never liked the cellar. On Sunday evening the lamp in the kitchen went out, and [a she] took a
candle, opened the low door and went down the steps. [a She] counted them, as [a she] had done when [a she] was a
child. [b Thomas] was standing at the bottom, wet to the knees. [b He] had a wrench in [b his] hand. “The pipe has
burst,” [b he] said, and [b he] pointed at the wall. [a Elena] put the candle on a shelf and rolled up [a her]
sleeves.
"""

FAMILY = """\
[a Helen Brandt] taught music, and [b Peter Brandt] repaired clocks in a workshop behind the house. Their daughter
was good at neither. [c Lucy Brandt] wanted to be a pilot. “You will need mathematics,” said [b Peter Brandt]. “You
will need good ears,” said [a Helen Brandt]. [c Lucy] bought a book about the weather and read it under the table.
At sixteen [c Lucy Brandt] flew a glider alone. [a Helen] stood at the edge of the field and could not look, and
[b Peter] held his stop-watch upside down.
"""

TWO_MEN = """\
[a Victor] was waiting on the platform when the train came in. [a He] was a tall man with a grey beard, and he
carried no luggage. Only one passenger got out. [b Samuel] was nineteen years old, and [b he] had never seen the
sea. “Is that it?” [b he] asked. “That is the harbour,” said [a Victor]. “The sea is behind it.” They walked down
to the quay together. [a Victor] bought two herrings from a stall, and [b Samuel] ate both of them.
"""

COMPANY = """\
[a Halden Motors] has built buses in a small town in Norway since 1951. Last year [a the company] surprised
everyone with a van. [b The Lynx] is short, quiet and cheap, and [b it] can carry a ton of bricks up a hill.
Builders love [b the Lynx]. Dealers sold four thousand in the first month, and [a Halden Motors] had to hire two
hundred people to keep up. [a The company] now plans a second factory. Whether [b the Lynx] will also sell abroad
is less certain, since [b it] has no air bags.
"""

LONG_RETURN = """\
The lighthouse at Cape Orrin was kept by [a Clara Whitfield]. [a She] had come there at twenty, with one trunk and
a telescope, and she had never asked to leave. Every night she lit the lamp, and every morning she wrote the
weather into a green book.

Forty miles up the coast lay the town of Brennick, and in Brennick everything depended on herring. In good years
the smoke of the curing sheds hung over the roofs until November. In bad years the boats lay on the beach with
their keels in the air, and the children collected coal along the railway. [b Josef Adler] was the mayor. [b He]
had been a fisherman himself, and [b he] knew what a bad year was; when the third of them began he went from door
to door with a list. On the list stood what each family owned that could be sold.

It was not a long list. There were clocks and wedding rings, two pianos, and a stuffed bear that had belonged to a
circus. A dealer from the capital came with a cart and a pair of scales. He offered a third of what the things were
worth, and when the people complained he put his hat on and climbed back on the cart. [b Adler] stopped him at the
bridge. Nobody heard what the mayor said, but the dealer turned his horse around and paid one half, in silver, on
the steps of the town hall.

The silver lasted until spring. In March the ice broke, and a week later a boy came running over the dunes,
shouting that the water was black with fish. The boats were in the sea before noon. By evening there was so much
herring on the quay that the women had to use bed sheets to carry it. The church bell was rung, although it was a
Tuesday, and the baker gave away bread. Then the wind turned. It came from the north-west, with snow in it, and
there were still eleven boats outside.

The men on the boats could see nothing. They steered by the sound of the surf, and they had almost given up when a
light appeared in the south, went out, and appeared again. It was the lamp of Cape Orrin. [a Clara Whitfield] had
turned it by hand all night, because the clockwork was frozen. In the morning [b Josef Adler] sent her the stuffed
bear, which nobody had wanted to buy.
"""

DIALOGUE = """\
Nora: [a I] can't find [a my] keys. Have you seen them?
Ben: [b I] put them on the hook by the door last night.
Nora: They aren't there now. [a I] really have to go, [a my] train leaves at nine.
Ben: Wait, [b I] may have taken them with [b my] own. Yes, here they are, in [b my] coat.
Nora: Thank you. [a I] would have blamed the cat.
"""

NARRATOR = """\
[a I] was born above a bakery, and to this day [a I] cannot sleep past four in the morning. My brother Jonas slept
like a stone. [b He] was two years older, and [b he] shared a bed with me until [b he] went to sea. When [a I] was
ten, our father let [a me] carry the trays. [a I] burned [a my] fingers every day. [b Jonas] never burned anything,
because [b he] was never awake. Now [b he] owns four bakeries, and [a I] write about bread.
"""

STORIES = {
    "names": NAMES,
    "pronouns": PRONOUNS,
    "a family with one surname": FAMILY,
    "two men in one scene": TWO_MEN,
    "a company and its product": COMPANY,
    "a return after several hundred words": LONG_RETURN,
    "a dialogue": DIALOGUE,
    "a narrator": NARRATOR,
}
DIALOGUES = frozenset({"a dialogue"})

BEYOND: frozenset[str] = frozenset()  # what the bundled model gets wrong so far: nothing
