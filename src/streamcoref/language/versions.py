"""The versions of the English `Lexicon`, which trained features read (`names.py`, `voices.py`).

A model has learned what they compute, so a version never changes. A better list is a new version beside the old ones; a
model's config says which it was trained with. A rule that reads the lists differently is a new version too, and is
asked for by it. Words are in lower case unless their comment says otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from streamcoref.errors import StreamcorefError
from streamcoref.language.lexicon import Gender, Lexicon, genders_of, ranks_of, word_set

_VERSION_1 = Lexicon(
    version=1,
    first_person=word_set("i me my mine myself"),
    second_person=word_set("you your yours yourself thou thee thy thine thyself ye"),
    pronouns=genders_of(
        {
            Gender.HE: "he him his himself",
            Gender.SHE: "she her hers herself",
            Gender.IT: "it its itself",
            Gender.THEY: "they them their theirs themselves",
            Gender.WE: "we us our ours ourselves",
        }
    ),
    pronoun_words=word_set(
        "i me my mine myself we us our ours ourselves "
        "you your yours yourself yourselves thou thee thy thine thyself ye "
        "he him his himself she her hers herself it its itself they them their theirs themselves themself "
        "this that these those who whom whose which what one oneself each other another both all some any none "
        "someone somebody something anyone anybody anything everyone everybody everything nobody nothing "
        "'s ’s s' 'em ’em 'im y'all ya here there then now"
    ),
    titles=genders_of(
        {
            Gender.HE: "mr mister sir lord master king prince duke count baron monsieur uncle father",
            Gender.SHE: "mrs miss ms lady madam madame mistress queen princess duchess aunt mother",
            Gender(0): "dr doctor captain colonel general major professor rev reverend st saint president",
        }
    ),
    articles=word_set("a an the"),
    definite=word_set("the"),
    determiners=word_set("a an the this that these those my your his her its our their"),
    particles=word_set("of the de del della di da dos du la le van von der den bin al el y e &"),
    name_marks="'’-",
    links=word_set("of in at on from with for to by and or , who that which"),
    possessive=word_set("'s ’s ' ’"),
    longest_name=5,
    quotation_marks={'"': '"', "“": "”", "‘": "’", "``": "''", "«": "»", "„": "“"},
    pauses=word_set(", ; - – — --"),
    longest_quotation=400,
    longest_aside=12,
)

_VERSION_2 = replace(
    _VERSION_1,
    version=2,
    double_marks={'"': '"', "“": "”", "``": "''", "«": "»", "„": "“"},
    single_marks={"‘": "’", "'": "'"},
    dashes=word_set("— -- – ―"),
    speech_verbs=word_set(
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
    subjects=word_set("he she i they we"),
    never_subjects=word_set(
        "it its him her his hers their them theirs me my mine us our ours you your this that these those there "
        "which what who whom whose such "
    ),
    between=word_set("then at last again also only now once more and but suddenly"),
    sentence_stops=word_set(". ! ? … ..."),
    vocative_marks=word_set("\" “ ” ‘ ’ ' `` '' « » , . ! ? ; : -- — – …"),
    before_vocatives=word_set("dear dearest my oh ah o well yes no now come why sir madam good poor"),
)

_VERSION_3 = replace(
    _VERSION_2,
    version=3,
    titles={
        **_VERSION_2.titles,
        **genders_of(
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
    given_names=genders_of(
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
    nouns=genders_of(
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
    | word_set(
        "accused add agreeing announcing answer argue ask barked beg bid calling cautioned chided coaxed comforted "
        "commanded commanding confided congratulated consoled contradicted cooed corroborated cry declare declaring "
        "demand demanding encouraged entreated exclaim exhorted explain explaining gasping gushed hinted hollered "
        "inquire inquiring interposing invited jested mentioned murmur mutter muttering noted observe observing "
        "offered pleading pouted proposed protesting purred ranted reassured reckoned remark remarking repeat "
        "repeating reply reported respond retorting revealed scoffed screaming shout shouting shrieking snorted "
        "soothed stammering suggesting supposed surmised taunted threatened trilled uttered wheezed whisper wondering "
        "yelling"
    ),
    ranks=ranks_of(
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
    possessive=word_set("'s ’s ' ’ s"),  # the last: of texts that have lost their apostrophes
    speech_nouns=word_set(
        "answer comment consolation cry enquiry exclamation greeting inquiry observation question rejoinder remark "
        "reply response retort"
    ),
    copulas=word_set("was is were came"),
    relatives=word_set("who whom whose"),
    conjunctions=word_set("and but then"),
    voices_are_turns=True,
    narrators_are_apart=True,
)

_VERSION_6 = replace(
    _VERSION_5,
    version=6,
    speech_verbs=_VERSION_5.speech_verbs
    | word_set(
        "acquiesced asserted asserting asserts assuring averred avowed bawled beseeched besought bleated blustered "
        "cackled chanted chattered chorused claimed clamored clamoured complaining consented crooned cursed deplored "
        "dictated disclosed elaborated emphasised emphasized enjoined enthused enunciated exulted fretted fumed gibed "
        "gloated guessed gulped gurgled howled hummed implied intimated intoned jeered lectured lisped maintained "
        "marveled marvelled mimicked mocked mourned nagged owned pleads prayed predicted pressed probed proclaimed "
        "prophesied quavered quibbled quipped railed rasped raved reiterated rejoiced related relented reproached "
        "resolved screeched simpered snickered sniggered sobbing spat specified sputtered stipulated stormed stressed "
        "sympathised sympathized twittered upbraided vouchsafed warbled wept whooped yelped"
    ),
    speech_nouns=_VERSION_5.speech_nouns | word_set("assurance entreaty protest words"),
    names_alone=word_set(
        "abbé admiral archbishop baron baroness bishop captain cardinal colonel commander constable corporal count "
        "countess doctor duchess duke earl emperor empress general governor inspector judge king lieutenant madame "
        "mademoiselle major marchioness marquis mayor monsieur pope president prince princess professor queen "
        "sergeant sheriff signor signora signorina sultan tsar viscount viscountess"
    ),
    titles_tell=True,
    name_links=word_set("of in at on from for by and or & who that which"),
    quotations_have_speakers=True,
    finer_cues=True,
    phrasal_verbs=frozenset(
        {("broke", "in"), ("broke", "out"), ("burst", "out"), ("cut", "in"), ("joined", "in"), ("put", "in")}
        | {("struck", "in"), ("goes", "on"), ("went", "on")}
    ),
    half_verbs=word_set("began begins continued offered proceeded promised threatened ventured vowed"),
    clause_openers=word_set("when while as till until before after for so that ; , : -- — and but then"),
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
