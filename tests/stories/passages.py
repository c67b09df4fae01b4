"""Passages of a few sentences that a model got wrong, marked as the stories are: what is not marked is not asked."""

from __future__ import annotations

BROTHER = """\
[a Rosa Lindt] and [b Tim] run the bakery on the corner. [a She] opened it in 2011 with [c [a her] brother Paul]. [c He]
left in 2019, and [b Tim], who had only come to help for a summer, took over the ovens.
"""

CALLER = """\
When [a Tim] called [b me], [b I] told [a him] that the train was an hour late. [a He] offered to fetch [b me] from the
station, but [b I] said that [b I] would rather walk.
"""

COMPANY_BY_TOWN = """\
[a Apple] will open a second research centre in Munich next year. [a The Cupertino company] said on Monday that [a it]
would hire 300 engineers there. [b Samsung] has a laboratory in the same street, and [b it] is looking for people, too.
"""

PASSAGES = {
    "a brother of somebody else": BROTHER,
    "a caller and who is called": CALLER,
    "a company by its town": COMPANY_BY_TOWN,
}

# What the bundled model gets wrong so far: that the company in Cupertino is Apple.
BEYOND = frozenset({"a company by its town"})
