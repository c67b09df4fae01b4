"""English in one place: every list of words but those that cut a text into words and sentences (`text/`).

There are two layers.

- A `Lexicon` is what trained features read (`names.py`, `voices.py`). A model has learned what they compute, so a
  version of it never changes. A better list is a new version in `LEXICONS`, beside the old ones; a model's config says
  which it was trained with. A rule that reads the lists differently is a new version too, and is asked for by it.
- Everything below `lexicon` is for what people read: labels of entities, texts with names for pronouns. No model has
  learned it, and it may be mended at any time.

Words are in lower case unless their comment says otherwise.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b

from streamcoref.errors import StreamcorefError


class Gender(enum.IntFlag):
    """For whom a pronoun or a title can stand; several of one entity are joined, and none is 0.

    The numbers are kept in the memory of entities and in saved states.
    """

    HE = 1
    SHE = 2
    IT = 4
    THEY = 8
    WE = 16


MISS, MRS = 1, 2  # among the ranks of titles


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """What trained features know of English, in one version that never changes. Equal only to itself: it has a hash."""

    version: int

    # Pronouns
    first_person: frozenset[str]  # of one person: who says "we" may be anybody, and it has a gender of its own
    second_person: frozenset[str]
    pronouns: Mapping[str, Gender]  # the others that have a gender
    pronoun_words: frozenset[str]  # all that makes no name, however it is spelled: "It", "Someone", "Here"

    # Names
    titles: Mapping[str, Gender]  # words before a name that tell persons of one name apart, but are not the name
    articles: frozenset[str]  # may go before a name: "the Bank of Norway"
    definite: frozenset[str]  # articles that are no word of a name even with a capital: "The Lynx" is "Lynx"
    determiners: frozenset[str]  # no name begins with one of these
    particles: frozenset[str]  # stand inside a name without a capital, as they are spelled here: "Ludwig van Beethoven"
    name_marks: str  # what a word inside a name may begin with instead of a capital: "'s", "-in-law"
    links: frozenset[str]  # a phrase that has one is not named by its last words: "the mayor of Oslo" is not Oslo
    possessive: frozenset[str]  # endings that are words of their own
    longest_name: int  # words; a longer run of capitals is the title of a book, a headline or a mistake

    # Quotations
    quotation_marks: Mapping[str, str]  # opening -> closing
    pauses: frozenset[str]  # what a speaker's own next words follow: "No," he said, "not today."
    longest_quotation: int  # words; in one that is longer the closing mark is missing, and all the rest would be said
    longest_aside: int  # words of narration that do not end a turn: enough for "said the old man to his sister"

    # Who says them; from version 2 on
    double_marks: Mapping[str, str] = field(default_factory=dict)  # opening -> closing
    single_marks: Mapping[str, str] = field(default_factory=dict)  # the same, of marks that are apostrophes, too
    dashes: frozenset[str] = frozenset()  # what opens a line of dialogue in texts without marks
    speech_verbs: frozenset[str] = frozenset()  # "said", "replies"
    subjects: frozenset[str] = frozenset()  # pronouns that can say something: "he replied"
    never_subjects: frozenset[str] = frozenset()  # words that begin a phrase which says nothing: "it", "him"
    between: frozenset[str] = frozenset()  # words between a verb of speech and who speaks, besides those in -ly
    sentence_stops: frozenset[str] = frozenset()  # end what is said about a quotation
    vocative_marks: frozenset[str] = frozenset()  # stand around a name that is called
    before_vocatives: frozenset[str] = frozenset()  # may stand before it inside of these: "my dear Lizzy"

    # Whom words speak of; from version 3 on
    given_names: Mapping[str, Gender] = field(default_factory=dict)  # of people that are mostly one or the other
    nouns: Mapping[str, Gender] = field(default_factory=dict)  # "the old woman", "her brother"

    # What is told apart from version 4 on
    ranks: Mapping[str, int] = field(default_factory=dict)  # of some titles: nobody has two of different numbers
    verbs_have_subjects: bool = False  # Alice heard the Rabbit say, “…”: it is the Rabbit who speaks
    mistakes_fade: bool = False  # a name that an entity is called by a few times in many tells nothing

    # What is told apart from version 5 on
    speech_nouns: frozenset[str] = frozenset()  # “…” was Anna's answer
    copulas: frozenset[str] = frozenset()  # the verb of these
    relatives: frozenset[str] = frozenset()  # Anna, who had risen, said, “…”
    conjunctions: frozenset[str] = frozenset()  # she looked at Anna, who had risen, and said, “…”
    voices_are_turns: bool = False  # of quotations, paragraph by paragraph; else a missing mark turns all that follows
    narrators_are_apart: bool = False  # who says "I" outside of quotations is nobody who is told of there

    # What is told apart from version 6 on
    names_alone: frozenset[str] = frozenset()  # titles by which somebody is called without a name: "the Duchess"
    titles_tell: bool = False  # Miss Berg, who is mostly Anna, is neither Mrs. Berg nor Berg
    name_links: frozenset[str] = frozenset()  # behind a name these are of one mention with it: not "Anna to her father"
    quotations_have_speakers: bool = False  # “…,” said Anna. “…,” said Ben, in one paragraph
    finer_cues: bool = False  # “…,” eagerly replied Anna; Anna called out “…”; “No.” Anna sighed and said, “…”
    phrasal_verbs: frozenset[tuple[str, str]] = frozenset()  # of speech: "went on"
    half_verbs: frozenset[str] = frozenset()  # are of speech unless another verb follows: "she began to think"
    clause_openers: frozenset[str] = frozenset()  # when Ben had left, Anna rose and said, “…”: it is not Ben

    def digest(self) -> str:
        """Of all it holds, whatever the order in which it was written down; what a version has not does not count."""
        content = {field.name: _ordered(value) for field in fields(self) if (value := getattr(self, field.name))}
        return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def _ordered(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted(value.items())
    return sorted(value) if isinstance(value, Set) else value


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _genders(lists: Mapping[Gender, str]) -> dict[str, Gender]:
    return {word: gender for gender, text in lists.items() for word in text.split()}


def _ranks(*lists: str) -> dict[str, int]:
    return {word: rank for rank, text in enumerate(lists, 1) for word in text.split()}


_VERSION_1 = Lexicon(
    version=1,
    first_person=_words("i me my mine myself"),
    second_person=_words("you your yours yourself thou thee thy thine thyself ye"),
    pronouns=_genders(
        {
            Gender.HE: "he him his himself",
            Gender.SHE: "she her hers herself",
            Gender.IT: "it its itself",
            Gender.THEY: "they them their theirs themselves",
            Gender.WE: "we us our ours ourselves",
        }
    ),
    pronoun_words=_words(
        "i me my mine myself we us our ours ourselves "
        "you your yours yourself yourselves thou thee thy thine thyself ye "
        "he him his himself she her hers herself it its itself they them their theirs themselves themself "
        "this that these those who whom whose which what one oneself each other another both all some any none "
        "someone somebody something anyone anybody anything everyone everybody everything nobody nothing "
        "'s ’s s' 'em ’em 'im y'all ya here there then now"
    ),
    titles=_genders(
        {
            Gender.HE: "mr mister sir lord master king prince duke count baron monsieur uncle father",
            Gender.SHE: "mrs miss ms lady madam madame mistress queen princess duchess aunt mother",
            Gender(0): "dr doctor captain colonel general major professor rev reverend st saint president",
        }
    ),
    articles=_words("a an the"),
    definite=_words("the"),
    determiners=_words("a an the this that these those my your his her its our their"),
    particles=_words("of the de del della di da dos du la le van von der den bin al el y e &"),
    name_marks="'’-",
    links=_words("of in at on from with for to by and or , who that which"),
    possessive=_words("'s ’s ' ’"),
    longest_name=5,
    quotation_marks={'"': '"', "“": "”", "‘": "’", "``": "''", "«": "»", "„": "“"},
    pauses=_words(", ; - – — --"),
    longest_quotation=400,
    longest_aside=12,
)

_VERSION_2 = replace(
    _VERSION_1,
    version=2,
    double_marks={'"': '"', "“": "”", "``": "''", "«": "»", "„": "“"},
    single_marks={"‘": "’", "'": "'"},
    dashes=_words("— -- – ―"),
    speech_verbs=_words(
        "acknowledged added adding adds admits admitted advised affirmed agreed agrees announced announces "
        "answered answering answers apologised apologized argued asked asking asks assented assured began begged "
        "begins bellowed blurted boasted breathed called calls challenged chimed chirped chuckled commented "
        "complained conceded concluded confessed continued continues corrected counselled cried cries croaked "
        "crowed crying declared declares demanded demands denied drawled echoed ejaculated enquired enquires "
        "exclaimed exclaiming exclaims explained explains expostulated faltered finished gasped giggled greeted "
        "groaned growled grumbled grunted hazarded hissed implored informed inquired inquires insisted insists "
        "instructed interjected interjoined interposed interrupted joked lamented laughed laughs moaned moralised "
        "moralized mumbled murmured murmuring murmurs mused muttered mutters objected observed observes opined "
        "ordered panted persisted piped pleaded preached proceeded promised prompted pronounced protested pursued "
        "queried questioned quoted quoth read reasoned rebuked recited recommended reflected rejoined remarked "
        "remarks reminded remonstrated repeated repeats replied replies replying reproved requested responded "
        "responds resumed retorted returned roared said saith sang say saying says scolded screamed shouted "
        "shouts shrieked shrilled sighed sighs snapped snarled sneered sniffed sobbed soliloquised soliloquized "
        "speculated spluttered spoke squeaked squealed stammered stated stuttered suggested suggests swore teased "
        "tells testified thinks thought thundered tittered told urged ventured vociferated volunteered vowed "
        "wailed warned whimpered whined whispered whispering whispers wondered writes wrote yelled "
    ),
    subjects=_words("he she i they we"),
    never_subjects=_words(
        "it its him her his hers their them theirs me my mine us our ours you your this that these those there "
        "which what who whom whose such "
    ),
    between=_words("then at last again also only now once more and but suddenly"),
    sentence_stops=_words(". ! ? … ..."),
    vocative_marks=_words("\" “ ” ‘ ’ ' `` '' « » , . ! ? ; : -- — – …"),
    before_vocatives=_words("dear dearest my oh ah o well yes no now come why sir madam good poor"),
)

_VERSION_3 = replace(
    _VERSION_2,
    version=3,
    titles={
        **_VERSION_2.titles,
        **_genders(
            {
                Gender.HE: "messrs esq squire signor señor don herr earl marquis viscount sultan tsar emperor abbé "
                "friar brother grandfather grandpa papa dad daddy",
                Gender.SHE: "mademoiselle signora signorina señora señorita doña dame frau fräulein countess baroness "
                "marchioness viscountess empress sister grandmother grandma granny mama mamma mum mummy auntie",
                Gender(0): "lieutenant sergeant corporal admiral commander inspector constable officer judge justice "
                "senator governor mayor minister bishop archbishop cardinal pope nurse cousin sheriff secretary prof",
            }
        ),
    },
    given_names=_genders(
        {
            Gender.HE: "aaron abraham adam adrian ahmed alan albert alec aleck alex alexander alfred alfie ali "
            "alistair allan allen alphonse ambrose amos andrew andy angus anthony antoine anton antonio archibald "
            "archie arnold arthur augustus austin barnaby barney bartholomew basil ben benedict benjamin bernard "
            "bert bertie bill billy bob bobby boris brendan brian bruce bruno carl carlos cecil cedric charles "
            "charley charlie chris christian christopher clarence clement clifford colin conrad craig cuthbert cyril "
            "dan daniel danny david davy dean dennis derek diego dick dmitri dominic donald douglas duncan ebenezer "
            "ed eddie edgar edmund edward edwin eli elias elijah eric ernest ethan eugene ezra felix ferdinand "
            "fernando fitzwilliam francois frank franklin franz fred freddie freddy frederick fritz gabriel geoffrey "
            "george gerald gilbert giles gordon graham greg gregory gustav guy hamilton hank hans harold harry "
            "harvey hector henri henry herbert herman homer horace howard hubert hugh hugo humphrey ian isaac ivan "
            "jack jacob jacques jake james jason jasper jeff jefferson jeffrey jem jeremiah jeremy jerome jerry jim "
            "jimmy jock joe joel john johnny jon jonah jonas jonathan jorge jose josé joseph joshua josiah juan jude "
            "julian julius justin karl keith ken kenneth kevin kurt larry lars laurence lawrence leo leonard leopold "
            "lewis lionel louis lucas ludwig luigi luke malcolm manuel marcus mario mark martin matt matthew maurice "
            "max maximilian michael miguel mike miles mohamed mohammed moses nat nathan nathaniel ned neil nicholas "
            "nick nicolas nigel noah noel norman oliver omar orlando oscar oswald otto pablo patrick paul pedro "
            "percival percy peter phil philip phillip pierre ralph raphael raymond reginald reuben richard rick rob "
            "robert roderick rodney roger roland ronald rudolf rudolph rufus rupert russell sam sammy samuel "
            "saul sean sebastian septimus seth sherlock sidney silas simon solomon stephen steve steven stewart "
            "stuart ted teddy terence theodore theophilus thomas tim timothy titus toby tobias tom tommy tony "
            "ulysses uriah valentine vernon victor vincent vladimir walter warren wilfred wilhelm will william "
            "willie willy winston",
            Gender.SHE: "abigail ada adela adelaide adele adeline agatha agnes aileen alexandra alice alicia alison "
            "althea amanda amelia amy anastasia andrea angela angelica angelina anita ann anna annabel anne annette "
            "annie antonia antoinette arabella audrey augusta barbara beatrice becky belinda bella bernadette bertha "
            "bess bessie beth betsy betty bianca blanche brenda bridget camilla carla carmen carol caroline carrie "
            "catharine catherine cathy cecilia cecily celeste celia charlotte chloe christina christine cicely clara "
            "clarissa claudia clementina constance cora cordelia cornelia cynthia daisy daphne deborah deirdre delia "
            "della denise desdemona diana dinah dolly dolores dora dorothea dorothy edith edna effie eileen elaine "
            "eleanor elena elinor eliza elizabeth ella ellen elsa elsie emilia emily emma erica esmeralda estella "
            "esther ethel eugenia eunice eva evangeline eve evelina fanny fatima fiona flora florence frances "
            "francesca gabrielle georgiana georgina geraldine gertrude ginny gloria grace greta gwen gwendolen "
            "gwendolyn hannah harriet harriett hattie hazel heather heidi helen helena henrietta hester hetty hilda "
            "hope ida imogen ingrid irene iris irma isabel isabella isadora ivy jacqueline jane janet janice jean "
            "jemima jennifer jenny jessica jessie jill joan joanna josephine joyce judith judy julia juliana juliet "
            "justine karen kate katharine katherine kathleen kathy katie kitty laetitia laura lavinia leah leila "
            "lena leonora letitia lillian lily linda lisa lizzie lizzy lois lola lorna lottie louisa louise lucia "
            "lucille lucinda lucretia lucy lydia mabel madeleine madeline madge maggie mamie marcella margaret "
            "margery margot maria marian marianne marie marilla marion marjorie martha mary matilda maud maude may "
            "mercedes mercy mildred millicent minerva minnie miranda miriam mollie molly monica muriel myra myrtle "
            "nadia nancy naomi natalie natasha nell nellie nelly nettie nina nora norah octavia olga olivia olympia "
            "ophelia pamela patience patricia patty paula pauline pearl peggy penelope phoebe phyllis polly portia "
            "priscilla prudence rachel rebecca rhoda rita roberta rosa rosalie rosalind rosamond rosanna rose "
            "rosemary rosie roxana ruth sally samantha sandra sara sarah selina selma sharon sheila sibyl sonia "
            "sophia sophie sophy stella susan susanna susannah susie sylvia tabitha tamara teresa tess thelma "
            "theodora theresa ursula valerie vanessa vera verena veronica victoria viola violet virginia vivian "
            "wilhelmina winifred yvonne zelda zoe",
        }
    ),
    nouns=_genders(
        {
            Gender.HE: "man men boy boys lad gentleman gentlemen fellow chap bloke father fathers son sons brother "
            "brothers husband husbands uncle nephew grandfather grandson stepfather bridegroom widower bachelor king "
            "prince duke lord baron squire monk priest butler footman waiter actor policeman fireman businessman "
            "salesman spokesman chairman fisherman sportsman nobleman clergyman sailor knight wizard papa dad daddy "
            "landlord coachman son-in-law father-in-law brother-in-law boyfriend guy sir",
            Gender.SHE: "woman women girl girls lass lady ladies mother mothers daughter daughters sister sisters "
            "wife wives aunt niece grandmother granddaughter stepmother bride widow spinster queen princess duchess "
            "countess baroness nun maid maiden housemaid waitress actress governess hostess mistress policewoman "
            "businesswoman spokeswoman chairwoman noblewoman witch mamma mama mum mummy mom housekeeper landlady "
            "damsel daughter-in-law mother-in-law sister-in-law girlfriend madam heroine nurse",
        }
    ),
)

_VERSION_4 = replace(
    _VERSION_3,
    version=4,
    speech_verbs=_VERSION_3.speech_verbs
    | _words(
        "accused add agreeing announcing answer argue ask barked beg bid calling cautioned chided coaxed comforted "
        "commanded commanding confided congratulated consoled contradicted cooed corroborated cry declare declaring "
        "demand demanding encouraged entreated exclaim exhorted explain explaining gasping gushed hinted hollered "
        "inquire inquiring interposing invited jested mentioned murmur mutter muttering noted observe observing "
        "offered pleading pouted proposed protesting purred ranted reassured reckoned remark remarking repeat "
        "repeating reply reported respond retorting revealed scoffed screaming shout shouting shrieking snorted "
        "soothed stammering suggesting supposed surmised taunted threatened trilled uttered wheezed whisper wondering "
        "yelling"
    ),
    ranks=_ranks(
        "miss mademoiselle signorina señorita fräulein",  # MISS
        "mrs madame mistress signora señora frau",  # MRS
        "mr mister monsieur messrs signor señor herr",
        *"captain colonel general major lieutenant sergeant corporal admiral commander inspector".split(),
    ),
    verbs_have_subjects=True,
    mistakes_fade=True,
)

_VERSION_5 = replace(
    _VERSION_4,
    version=5,
    possessive=_words("'s ’s ' ’ s"),  # the last: of texts that have lost their apostrophes
    speech_nouns=_words(
        "answer comment consolation cry enquiry exclamation greeting inquiry observation question rejoinder remark "
        "reply response retort"
    ),
    copulas=_words("was is were came"),
    relatives=_words("who whom whose"),
    conjunctions=_words("and but then"),
    voices_are_turns=True,
    narrators_are_apart=True,
)

_VERSION_6 = replace(
    _VERSION_5,
    version=6,
    speech_verbs=_VERSION_5.speech_verbs
    | _words(
        "acquiesced asserted asserting asserts assuring averred avowed bawled beseeched besought bleated blustered "
        "cackled chanted chattered chorused claimed clamored clamoured complaining consented crooned cursed deplored "
        "dictated disclosed elaborated emphasised emphasized enjoined enthused enunciated exulted fretted fumed gibed "
        "gloated guessed gulped gurgled howled hummed implied intimated intoned jeered lectured lisped maintained "
        "marveled marvelled mimicked mocked mourned nagged owned pleads prayed predicted pressed probed proclaimed "
        "prophesied quavered quibbled quipped railed rasped raved reiterated rejoiced related relented reproached "
        "resolved screeched simpered snickered sniggered sobbing spat specified sputtered stipulated stormed stressed "
        "sympathised sympathized twittered upbraided vouchsafed warbled wept whooped yelped"
    ),
    speech_nouns=_VERSION_5.speech_nouns | _words("assurance entreaty protest words"),
    names_alone=_words(
        "abbé admiral archbishop baron baroness bishop captain cardinal colonel commander constable corporal count "
        "countess doctor duchess duke earl emperor empress general governor inspector judge king lieutenant madame "
        "mademoiselle major marchioness marquis mayor monsieur pope president prince princess professor queen "
        "sergeant sheriff signor signora signorina sultan tsar viscount viscountess"
    ),
    titles_tell=True,
    name_links=_words("of in at on from for by and or & who that which"),
    quotations_have_speakers=True,
    finer_cues=True,
    phrasal_verbs=frozenset(
        {("broke", "in"), ("broke", "out"), ("burst", "out"), ("cut", "in"), ("joined", "in"), ("put", "in")}
        | {("struck", "in"), ("goes", "on"), ("went", "on")}
    ),
    half_verbs=_words("began begins continued offered proceeded promised threatened ventured vowed"),
    clause_openers=_words("when while as till until before after for so that ; , : -- — and but then"),
)

_VERSIONS = _VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4, _VERSION_5, _VERSION_6
LEXICONS = {lexicon.version: lexicon for lexicon in _VERSIONS}
LATEST = max(LEXICONS)  # for new models, and for labels


def lexicon(version: int) -> Lexicon:
    if version not in LEXICONS:
        known = ", ".join(map(str, LEXICONS))
        raise StreamcorefError(
            f"this model needs version {version} of the English word lists, this release knows {known}; "
            "use the release that made it"
        )
    return LEXICONS[version]


# Labels of entities

PRONOUNS = LEXICONS[LATEST].pronoun_words
DETERMINERS = LEXICONS[LATEST].determiners
POSSESSIVE_ENDINGS = LEXICONS[LATEST].possessive
POSSESSIVE_S = ("'s", "’s")
BARE_TITLES = _words("mr mrs ms messrs dr st")  # what is left of a name that was cut off: never a label
EPITHETS = _words(  # say how somebody is seen, not who it is: "Poor Alice"
    "poor dear dearest old little young sweet good wretched brave unhappy happy lovely pretty beautiful darling "
    "beloved wicked gentle honest noble late"
)

# Texts with names for pronouns: which pronouns are replaced

PLAIN_PRONOUNS = _words("he him she it they them")
POSSESSIVE_PRONOUNS = _words("his hers its their theirs")
REPLACED_PRONOUNS = PLAIN_PRONOUNS | POSSESSIVE_PRONOUNS | {"her"}  # which is either
PLURAL_PRONOUNS = _words("they them their theirs")
HE = _words("he him his himself")
SHE = _words("she her hers herself")
OTHER_PERSONS = _words(  # these name nobody, so they keep no later pronoun from its name: "I know," she said
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself ye"
)

# What speaks against a name

RELATIVES = _words("who whom whose")  # "he who laughs last"
SUBJECTS = _words("he she they")  # before "that" these do the same: "he that is without sin"
QUANTITIES = _words(  # "one of them"
    "all any both couple dozen dozens each eight either enough few five four half last lot many more most much neither "
    "nine none one others pair part seven several six some ten three twelve two which whichever whom"
)
PARTITIVES = _words("all both each two three four")  # "them both", "it all"
PAIRED = _words("he him his she her hers")  # "he or she"
ENCLOSURES = {"“": "”", "‘": "’", '"': '"', "'": "'", "``": "''", "(": ")", "[": "]"}  # round a word that is spoken of
EMPHASIS = "*_"  # marks round a word that are no words of the sentence
STYLES = _words(  # with their capitals: "Her Majesty"
    "Eminence Excellency Grace Highness Holiness Honor Honour Imperial Ladyship Lordship Majesty Royal Serene Worship"
)
# "It" before the first of these, with one of the second a few words on, stands for no thing: "it is true that".
BE = _words("is was 's ’s be been being will would might may seems seemed appears appeared")
CLAUSE_OPENERS = _words("that to who whom whether when if as because")

# What "her" is, told by its neighbours: before these words it is an object ("told her that") ...

AFTER_OBJECT = _words(
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
UNSURE_AFTER = _words(
    "alone both back dear either even ever every first five four half home inside just last later left less like "
    "more most much never next now once one only other outside past right still ten three twice two very well will"
)
UNSURE_MARKS = _words("... … <")  # behind these anything may follow: "her ... hat"
# Those of them that may tell when or how, so that even a preposition and a word behind them decide nothing.
ADVERBS = _words(
    "alone even ever every inside just last later less like more most much never next now once outside still twice well"
)
UNSURE_ENDINGS = ("ing", "ed", "ly")  # "found her sleeping"
UNSURE_NOUNS = _words("back half home left past right will")
PREPOSITIONS = _words(
    "about above across after against along among around at before behind below beneath beside between beyond "
    "by during for from in inside into near of off on onto over past through to toward towards under upon "
    "with within without"
)
# ... and behind these too: "gave her flowers", "made her laugh".
UNSURE_BEHIND = _words(
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

NUMBERLESS_VERBS = _words("can could did had may might must never shall should will would")
NUMBERLESS_ENDING = "ed"
NUMBERED_VERBS = _words("are do have were n't n’t")
IRREGULAR_PLURALS = ("people", "men", "women", "children", "folk", "police", "mice", "geese")
SINGULAR_ENDINGS = ("ss", "us", "is")  # an s that makes no plural
HEAD_ENDS = _words("of in on at with from by for under near behind")  # what the head of a phrase goes before

# What can be said instead of a pronoun

POINTERS = _words("a an this that these those")  # "a woman" is "the woman" when she comes again
NUMBERS = _words("two three four five six seven eight nine ten twelve")
VAGUE = (PRONOUNS - _words("'s ’s s'")) | _words("no every few many most several such same former latter own")

# People under other names, as training may call them (`people_names.py` has the names)

OTHER_TITLE = {  # of the other gender, as it is spelled
    **{"mr": "Mrs.", "mister": "Mrs.", "mrs": "Mr.", "miss": "Mr.", "ms": "Mr.", "sir": "Lady", "lady": "Sir"},
    **{"lord": "Lady", "master": "Miss", "king": "Queen", "queen": "King", "prince": "Princess", "princess": "Prince"},
    **{"duke": "Duchess", "duchess": "Duke", "uncle": "Aunt", "aunt": "Uncle", "monsieur": "Madame"},
    "madame": "Monsieur",
}
SHE_FOR = {"he": "she", "him": "her", "himself": "herself"}
HE_FOR = {"she": "he", "hers": "his", "herself": "himself"}
BEFORE_SURNAMES = _words(  # titles that more often go before a surname than before a given name
    "mr mister mrs ms dr doctor captain colonel general major professor rev reverend president"
)
GENDERED = _words(  # whoever is called one of these has the gender that goes with it
    "man woman men women boy girl boys girls lad lass gentleman lady gentlemen ladies guy husband wife bride groom "
    "widow widower father mother dad mum mom papa mama son daughter brother sister grandfather grandmother grandson "
    "granddaughter uncle aunt nephew niece king queen prince princess duke duchess lord baron baroness count countess "
    "actor actress waiter waitress host hostess monk nun priest hero heroine god goddess heir heiress maid housemaid "
    "fellow sir madam spokesman spokeswoman chairman chairwoman businessman businesswoman policeman policewoman "
    "postman fisherman boyfriend girlfriend mistress master bachelor spinster emperor empress squire page-boy footman "
    "butler"
)

# What tells English from other languages: words that are in every text, whoever writes it

SMALL_WORDS = _words(
    "the of and to a in is it that for on as with was he be by at this had not are but from or have an they which one "
    "you were all her she there would their we him been has when who will no more if out so up said what its about "
    "than into them can only other some could these may i do first my now over your me did us our just like how any "
    "then also after get got very most where here much before because does each such should these those through "
    "again off down back even still too own never every being his am go going know think want see say yes yeah oh ok "
    "okay well really right good new make made use used u ur im lol dont cant n't n’t 's ’s 'm ’m 're ’re 've ’ve 'll "
    "’ll 'd ’d na"
)
