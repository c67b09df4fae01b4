"""English abbreviations whose full stop belongs to the word, written here without it."""

from __future__ import annotations

# What follows these belongs to them, so they never end a sentence.
LEADING = frozenset(
    "Mr Mrs Ms Messrs Mme Mlle Dr Prof Rev Hon St Ste Sgt Capt Col Gen Lt Maj Cpl Cmdr Adm Gov Sen Rep Supt Mt "
    "MR MRS MS DR ST PROF REV CAPT COL GEN cf viz vs approx ca".split()
)
# These end a sentence when the next word looks like the beginning of one.
TRAILING = frozenset(
    "Jr Sr Esq Inc Ltd Co Corp Bros Dept Univ Ave Blvd Rd JR SR ESQ INC LTD CO etc al "
    "Jan Feb Apr Aug Sept Oct Nov Dec Tues Thurs".split()
)
# Abbreviations only where a number follows: else "No." and "art." are words at the end of a sentence.
BEFORE_NUMBER = frozenset("No Nos no nos p pp Fig Figs fig figs Eq Eqs Vol Vols vol Ch ch Sec sec Art art c".split())
