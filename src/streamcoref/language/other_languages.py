"""Small words of languages that are not English: what tells that a text is in one of them.

Words that are also English (German "die", French "pour"), that stand inside names ("van", "de la") or that programs are
full of are left out. Languages whose letters are not Latin need no list, nor do those that have marks on most words.
"""

from __future__ import annotations

_LISTS = {
    "German": "und das ist nicht ein eine einen einem einer ich sie wir ihr zu mit auf für sich auch es wie aber oder "
    "wenn dass daß noch nur nach bei wird wurde haben hatte sein seine ihre über kann mich mir dir dich uns sehr "
    "schon als mehr unter zum zur diese dieser dieses hier immer",
    "French": "et les une est que qui dans pas il elle ne au aux avec ce cette ces je tu nous vous ils elles sont être "
    "était mais où tout tous comme sa ses leur leurs mes été avait très c'est qu'il d'un d'une n'est",
    "Spanish": "los las una que por para con se lo su sus como más pero este esta estas estos está eso ella ellos nos "
    "muy sobre también hay fue cuando donde porque yo te ya desde todo todos nada",
    "Italian": "che il gli una è sono con anche più nel nella della delle dei degli alla questo questa quello io lui "
    "si mi ti ci perché quando molto stato essere hanno",
    "Portuguese": "que não uma os com para por mais mas como foi ao ele ela seu sua isso este esta muito já também "
    "são está quando eu você pelo pela",
    "Dutch": "het een niet dat ik je ze hij wij jullie zijn op voor met aan er maar ook dan nog wel geen naar uit bij "
    "heeft hebben wordt deze dit haar hun",
    "Scandinavian": "och att det som på är av för med jag till inte ett hon från hade og er ikke af jeg hun sig meg "
    "seg eller etter fra å ved også skal være blev ble",
    "Finnish": "ja ei että se hän oli mutta kun niin minä sinä ovat joka myös kuin tai vain mitä tämä hänen olen",
    "Polish": "się nie że jest ale jak tak już dla przez od był była są jego jej który też tylko czy gdy oraz",
    "Czech": "se je že ale jako byl jsem jsou také který když už aby nebo není po ve jeho tak",
    "Hungarian": "az és hogy nem volt csak ez mint már még vagy azt egy ki ha nincs lesz",
    "Romanian": "și în nu cu pe este care din mai să sunt fost dar ca pentru într nici",
    "Turkish": "ve bir bu için ile çok daha gibi ama değil olarak sonra kadar ben sen",
    "Indonesian": "yang dan dengan ini itu untuk tidak dari pada saya kamu akan ada juga sudah telah kita mereka",
    "South Slavic": "je nije su što kao ali bio ili samo koji kako već bila sve nego jer",
    "Baltic": "ir kad yra bet kaip tai un nav kas ka ja see oli ning mis",
    "Tagalog": "ang ng mga sa ay hindi ito siya ko mo",
    "Swahili": "ya wa kwa ni katika hii kuwa lakini yake hiyo",
    "Latin": "et est quod sed ut qui esse sunt",
}
SMALL_WORDS = frozenset(word for words in _LISTS.values() for word in words.split())
