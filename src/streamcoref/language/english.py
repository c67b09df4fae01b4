"""English for what people read: labels of entities, texts with names for pronouns, people under other names.

No model has learned it, and it may be mended at any time; what models have learned is in `versions.py`, and what cuts a
text into words and sentences in `text/`. Words are in lower case unless their comment says otherwise.
"""

from __future__ import annotations

from streamcoref.language.lexicon import word_set
from streamcoref.language.versions import LATEST, LEXICONS

# Labels of entities

PRONOUNS = LEXICONS[LATEST].pronoun_words
DETERMINERS = LEXICONS[LATEST].determiners
POSSESSIVE_ENDINGS = LEXICONS[LATEST].possessive
POSSESSIVE_S = ("'s", "’s")
BARE_TITLES = word_set("mr mrs ms messrs dr st")  # what is left of a name that was cut off: never a label
EPITHETS = word_set(  # say how somebody is seen, not who it is: "Poor Alice"
    "poor dear dearest old little young sweet good wretched brave unhappy happy lovely pretty beautiful darling "
    "beloved wicked gentle honest noble late"
)

# Texts with names for pronouns: which pronouns are replaced

PLAIN_PRONOUNS = word_set("he him she it they them")
POSSESSIVE_PRONOUNS = word_set("his hers its their theirs")
REPLACED_PRONOUNS = PLAIN_PRONOUNS | POSSESSIVE_PRONOUNS | {"her"}  # which is either
PLURAL_PRONOUNS = word_set("they them their theirs")
HE = word_set("he him his himself")
SHE = word_set("she her hers herself")
OTHER_PERSONS = word_set(  # these name nobody, so they keep no later pronoun from its name: "I know," she said
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself ye"
)

# What speaks against a name

RELATIVES = word_set("who whom whose")  # "he who laughs last"
SUBJECTS = word_set("he she they")  # before "that" these do the same: "he that is without sin"
QUANTITIES = word_set(  # "one of them"
    "all any both couple dozen dozens each eight either enough few five four half last lot many more most much neither "
    "nine none one others pair part seven several six some ten three twelve two which whichever whom"
)
PARTITIVES = word_set("all both each two three four")  # "them both", "it all"
PAIRED = word_set("he him his she her hers")  # "he or she"
ENCLOSURES = {"“": "”", "‘": "’", '"': '"', "'": "'", "``": "''", "(": ")", "[": "]"}  # round a word that is spoken of
EMPHASIS = "*_"  # marks round a word that are no words of the sentence
STYLES = word_set(  # with their capitals: "Her Majesty"
    "Eminence Excellency Grace Highness Holiness Honor Honour Imperial Ladyship Lordship Majesty Royal Serene Worship"
)
# "It" before the first of these, with one of the second a few words on, stands for no thing: "it is true that".
BE = word_set("is was 's ’s be been being will would might may seems seemed appears appeared")
CLAUSE_OPENERS = word_set("that to who whom whether when if as because")

# What "her" is, told by its neighbours: before these words it is an object ("told her that") ...

AFTER_OBJECT = word_set(
    "a about above across after again against ago all along already also although always am among an and "
    "another any anything anyway apart are around as aside asleep at away awake because been before behind "
    "being below beneath beside besides between beyond but by can could did do does down during else enough "
    "everything except for forever from had has have he her here him his how however i if in indeed instead "
    "into is it its may me might must my near neither no nor not nothing of off often on or our out over "
    "perhaps quite rather said say says she should since so some something sometimes soon than that the their "
    "myself yourself yourselves himself herself itself ourselves themselves oneself mine yours hers ours theirs "
    "anybody anyone everybody everyone nobody none somebody someone "
    "them then there these they this those though through till to today together tomorrow tonight too toward "
    "towards under unless until up upon us was we were what whatever when whenever where whether which while "
    "who whom whose why with within without would yesterday yet you your n't n’t 's ’s"
)
# ... before these it may be either, unless a preposition goes before: "on her back", "brought her back" ...
UNSURE_AFTER = word_set(
    "alone both back dear either even ever every first five four half home inside just last later left less like "
    "more most much never next now once one only other outside past right still ten three twice two very well will"
)
UNSURE_MARKS = word_set("... … <")  # behind these anything may follow: "her ... hat"
# Those of them that may tell when or how, so that even a preposition and a word behind them decide nothing.
ADVERBS = word_set(
    "alone even ever every inside just last later less like more most much never next now once outside still twice well"
)
UNSURE_ENDINGS = ("ing", "ed", "ly")  # "found her sleeping"
UNSURE_NOUNS = word_set("back half home left past right will")
PREPOSITIONS = word_set(
    "about above across after against along among around at before behind below beneath beside between beyond "
    "by during for from in inside into near of off on onto over past through to toward towards under upon "
    "with within without"
)
# ... and behind these too: "gave her flowers", "made her laugh".
UNSURE_BEHIND = word_set(
    "allow allowed ask asked asking asks believe believed bought bring bringing brought buy call called calling calls "
    "consider considered cost costs deny denied did do does doing done drive drove feel felt forgave forgive "
    "find found gave get gets give given gives giving got had hand handed handing has have having hear heard "
    "hears help helped helping helps keep kept leave lend lent let lets letting made make makes making name named "
    "offer "
    "offered owe owed paid pass passed pay promise promised read saw see seeing seen sees send sending sends sent show "
    "render rendered save saved showed showing shown shows sold spare spared strike struck taught teach tell telling "
    "tells think thinking thinks thought told watch watched watching wish wished write wrote"
)

# One or many. "They" behind a singular name needs a verb that shows no number: "Lindqvist Foods would", never "are".

NUMBERLESS_VERBS = word_set("can could did had may might must never shall should will would")
NUMBERLESS_ENDING = "ed"
NUMBERED_VERBS = word_set("are do have were n't n’t")
IRREGULAR_PLURALS = ("people", "men", "women", "children", "folk", "police", "mice", "geese")
SINGULAR_ENDINGS = ("ss", "us", "is")  # an s that makes no plural
HEAD_ENDS = word_set("of in on at with from by for under near behind")  # what the head of a phrase goes before

# What can be said instead of a pronoun

POINTERS = word_set("a an this that these those")  # "a woman" is "the woman" when she comes again
NUMBERS = word_set("two three four five six seven eight nine ten twelve")
VAGUE = (PRONOUNS - word_set("'s ’s s'")) | word_set("no every few many most several such same former latter own")

# People under other names, as training may call them (`people_names.py` has the names)

OTHER_TITLE = {  # of the other gender, as it is spelled
    **{"mr": "Mrs.", "mister": "Mrs.", "mrs": "Mr.", "miss": "Mr.", "ms": "Mr.", "sir": "Lady", "lady": "Sir"},
    **{"lord": "Lady", "master": "Miss", "king": "Queen", "queen": "King", "prince": "Princess", "princess": "Prince"},
    **{"duke": "Duchess", "duchess": "Duke", "uncle": "Aunt", "aunt": "Uncle", "monsieur": "Madame"},
    "madame": "Monsieur",
}
SHE_FOR = {"he": "she", "him": "her", "himself": "herself"}
HE_FOR = {"she": "he", "hers": "his", "herself": "himself"}
BEFORE_SURNAMES = word_set(  # titles that more often go before a surname than before a given name
    "mr mister mrs ms dr doctor captain colonel general major professor rev reverend president"
)
GENDERED = word_set(  # whoever is called one of these has the gender that goes with it
    "man woman men women boy girl boys girls lad lass gentleman lady gentlemen ladies guy husband wife bride groom "
    "widow widower father mother dad mum mom papa mama son daughter brother sister grandfather grandmother grandson "
    "granddaughter uncle aunt nephew niece king queen prince princess duke duchess lord baron baroness count countess "
    "actor actress waiter waitress host hostess monk nun priest hero heroine god goddess heir heiress maid housemaid "
    "fellow sir madam spokesman spokeswoman chairman chairwoman businessman businesswoman policeman policewoman "
    "postman fisherman boyfriend girlfriend mistress master bachelor spinster emperor empress squire page-boy footman "
    "butler"
)

# What tells English from other languages: words that are in every text, whoever writes it

SMALL_WORDS = word_set(
    "the of and to a in is it that for on as with was he be by at this had not are but from or have an they which one "
    "you were all her she there would their we him been has when who will no more if out so up said what its about "
    "than into them can only other some could these may i do first my now over your me did us our just like how any "
    "then also after get got very most where here much before because does each such should these those through "
    "again off down back even still too own never every being his am go going know think want see say yes yeah oh ok "
    "okay well really right good new make made use used u ur im lol dont cant n't n’t 's ’s 'm ’m 're ’re 've ’ve 'll "
    "’ll 'd ’d na"
)
