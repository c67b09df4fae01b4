/* The scores of one span against all entities, compiled: the features of each pair, their prior and the product, the
 * shortlist, and its scores by the net. It does what `score_table.Shortlists` does with numpy, `pair_score/` and
 * `features/` in some sixty operations, and numbers pairs' features exactly as these do. They remain the definition:
 * without a compiler they are what runs, and the tests hold this file to them.
 *
 * `link_kernel.py` fills in `struct links` once a segment. An entity's numbers lie side by side with those of the
 * others: of a column of several, number j of entity n is at [j * capacity + n].
 */

#include <stdint.h>
#include <stdlib.h>

/* One file for old processors and new ones: the loader of glibc picks what this one can do. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_CPU
#endif
#define INLINE static inline __attribute__((always_inline))

enum { PERSONS = 2, GENDERS = 5, TABLES = 4, AT_ONCE = 64 };
enum { ROWS = 6, LANES = 16, BLOCK = 2 * LANES }; /* of the net's product: what the registers hold at once */

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t bits __attribute__((vector_size(4 * LANES), aligned(4)));

/* The checksum of this file, by which a library is known that was built from another. */
const uint32_t built_from = BUILT_FROM;

struct links {
    /* How many: places for entities, words and forms that each remembers, forms of a name, of the shortlist, numbers
     * of a vector and of the hidden layer; from one row to the next of spans' readings, of entities, of scores. */
    int64_t capacity, forms, last_words, names, shortlist, size, hidden, reading_stride, entity_stride, score_stride;
    /* What a feature's value is multiplied by in the number of a combination; 0 of one that is not there. */
    int64_t distance_step, size_step, form_step, last_word_step, identity_step, talk_step;
    int64_t fade, titles_tell, narrators_are_apart; /* of the word lists */
    /* Of the spans, [k] */
    const int64_t *place, *form, *last_word;
    const int64_t *kind, *title, *first, *last, *gender, *voice, *meant, *reversed, *sure;
    const int64_t *says, *should, *before, *calls, *inside;
    const float *vectors, *readings; /* [k, size], [k, hidden] */
    /* Of the entities, [capacity] or [several, capacity] */
    const int64_t *ids, *sizes, *places, *all_forms, *all_last_words;
    const int64_t *titles, *firsts, *lasts, *called, *genders, *voices, *narrated, *told;
    const float *entities, *entity_readings; /* [capacity, size], [capacity, hidden] */
    /* Of the scorer: prior of every combination, what it adds to the hidden layer as a sum of tables, and the net */
    const float *priors;
    int64_t tables, table_lengths[TABLES];
    const float *table[TABLES]; /* [length, hidden] each */
    const float *product, *weight; /* [size, hidden], [hidden] */
    double bias;
    float *products, *among, *scores; /* [k, score_stride], [k, k], [k, score_stride] */
    int64_t spans;
    /* To work in */
    int64_t *index, *best; /* [capacity], [shortlist] */
    float *pairs; /* [size, ROWS] */
};

/* ---- Features, one by one: each adds its value times its step to `index` ---- */

INLINE int64_t bucket(int64_t number)
{
    if (number < 5)
        return number < 0 ? 0 : number;
    return number < 8 ? 5 : number < 16 ? 6 : number < 32 ? 7 : number < 64 ? 8 : 9;
}

/* Some entities at a time, column by column, so that they are compared side by side. */
INLINE void match(const struct links *k, int64_t count, const int64_t *theirs, int64_t forms, int64_t mine, int64_t step)
{
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        int64_t same[AT_ONCE] = {0}, end = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (int64_t j = 0; j < forms; j++)
            for (int64_t n = 0; n < end; n++)
                same[n] |= theirs[j * k->capacity + first + n] == mine;
        for (int64_t n = 0; n < end; n++)
            k->index[first + n] += same[n] * step;
    }
}

/* What a span and an entity can be to each other: `features/likeness.py` says what each means. */
enum {
    NOTHING = 0,
    NAMELESS = 1, SAME_NAME = 2, SAME_AT_TIMES = 3, PART_OF_NAME = 4, PART_AT_TIMES = 5,
    TITLE_AND_SURNAME = 6, OF_THE_FAMILY = 7, OTHER_TITLE = 8, OTHER_NAME = 9,
    UNGENDERED = 10, UNGENDERED_NAME = 11, SAME_GENDER = 12, SAME_GENDER_NAMELESS = 13, GENDER_AT_TIMES = 14,
    OTHER_GENDER = 15, SILENT = 16, SAME_NARRATION = 17, OTHER_VOICE = 18, MEANT_PERHAPS = 19, NEITHER_PERHAPS = 22,
    REVERSED = 25, SAME_TURN = 26, SAME_TURN_OTHER = 31, SAME_SPEAKER = 36, NAMELESS_AGREES = 40, NAMELESS_CLASHES = 41,
    NOUN_UNGENDERED = 42, NOUN_AGREES = 43, NOUN_AT_TIMES = 44, NOUN_CLASHES = 45, SILENT_NAMED = 46, NARRATES = 47,
};
enum { OTHER, NAME, THIRD, NARRATED_I, NARRATED_YOU, QUOTED_I, QUOTED_YOU, SPOKEN_I, SPOKEN_YOU };
enum { NOBODY = -1, NARRATOR = 1, A_TURN = 2 };
enum { MISS = 1, MRS = 2, RANKS = 8 };
enum { AT_TIMES = 8, OFTEN = 4, TURNS = SAME_TURN_OTHER - SAME_TURN, CONVERSATION = 4 };
static const int64_t NEVER = (int64_t)1 << 40;

INLINE int64_t of(const struct links *k, const int64_t *column, int64_t place, int64_t n)
{
    return column[place * k->capacity + n];
}

INLINE int is_nameless(const struct links *k, int64_t n) { return k->called[n] == 0; }

INLINE void votes_of_gender(const struct links *k, int64_t gender, int64_t n, int64_t *own, int64_t *every)
{
    *own = *every = 0;
    for (int place = 0; place < GENDERS; place++) {
        int64_t votes = of(k, k->genders, place, n);
        *every += votes;
        *own += (gender >> place & 1) ? votes : 0;
    }
}

/* 0 none, 1 less than half, 3 more; 2 if there are no mentions that have a gender. */
INLINE int agreement(const struct links *k, int64_t gender, int64_t n)
{
    int64_t own, every;
    votes_of_gender(k, gender, n, &own, &every);
    return (2 * own >= every) << 1 | (own > 0);
}

INLINE int titles_clash(int64_t one, int64_t other)
{
    int64_t sex = one & ((1 << RANKS) - 1), other_sex = other & ((1 << RANKS) - 1);
    int64_t rank = one >> RANKS, other_rank = other >> RANKS;
    return (sex && other_sex && sex != other_sex) || (rank && other_rank && rank != other_rank);
}

INLINE int is_husband(int64_t one, int64_t other)
{
    return (one == 0 && other >> RANKS == MRS) || (other == 0 && one >> RANKS == MRS);
}

static int by_forms(const struct links *k, int64_t s, int64_t n)
{
    int64_t title = k->title[s], first = k->first[s], last = k->last[s], gender = k->gender[s];
    int single = first == last, shares = 0;
    int64_t whole = 0, some = 0, family = 0, titled_so = 0, other = 0, all_called = 0, own, every;
    for (int64_t j = 0; j < k->names; j++) {
        int64_t their_first = of(k, k->firsts, j, n), their_last = of(k, k->lasts, j, n);
        shares |= their_first == last || their_last == last || their_first == first || their_last == first;
    }
    if (!shares)
        return OTHER_NAME;
    votes_of_gender(k, gender, n, &own, &every);
    for (int64_t j = 0; j < k->names; j++) {
        int64_t called = of(k, k->called, j, n), their_title = of(k, k->titles, j, n);
        int64_t their_first = of(k, k->firsts, j, n), their_last = of(k, k->lasts, j, n);
        if (!called)
            continue;
        all_called += called;
        int singles = their_first == their_last, shares_last = last == their_last;
        int clash = titles_clash(title, their_title);
        if (single && singles && !clash) {
            clash = is_husband(title, their_title);
            if (k->titles_tell && their_title >> RANKS == MISS)
                clash |= title == 0 && gender == 0;
            else if (k->titles_tell && title >> RANKS == MISS)
                clash |= their_title == 0 && 2 * own <= every;
        }
        if (clash) {
            other += shares_last ? called : 0;
            family += shares_last ? called : 0;
            continue;
        }
        if (first == their_first && shares_last) {
            whole += called;
            some += called;
            continue;
        }
        family += shares_last ? called : 0;
        if (shares_last && single != singles && (single ? title : their_title))
            titled_so += called;
        else if ((single && (last == their_first || last == their_last)) ||
                 (singles && (their_last == first || their_last == last)))
            some += called;
    }
    int64_t least = k->fade ? all_called : 0;
    int is_same = whole > 0 && AT_TIMES * whole >= least;
    if (2 * other > all_called || (k->titles_tell && other > whole && AT_TIMES * other >= all_called))
        return OTHER_TITLE;
    int unlike = k->fade && gender != 0 && 3 * own < every && (!is_same || 3 * whole < all_called);
    if (!unlike) {
        if (is_same)
            return 3 * whole >= all_called ? SAME_NAME : SAME_AT_TIMES;
        if (some && AT_TIMES * some >= least)
            return 2 * some >= all_called ? PART_OF_NAME : PART_AT_TIMES;
        if (titled_so && OFTEN * titled_so >= least)
            return TITLE_AND_SURNAME;
    }
    return family && OFTEN * family >= least ? OF_THE_FAMILY : OTHER_NAME;
}

INLINE int elsewhere(const struct links *k, int64_t n)
{
    if (of(k, k->voices, 0, n) || of(k, k->voices, 1, n))
        return OTHER_VOICE;
    return is_nameless(k, n) ? SILENT : SILENT_NAMED;
}

INLINE int by_turns(const struct links *k, int64_t s, int64_t n, int person)
{
    int64_t ago[PERSONS], voice = k->voice[s];
    for (int one = 0; one < PERSONS; one++) {
        int64_t theirs = of(k, k->voices, one, n);
        ago[one] = theirs >= A_TURN ? voice / A_TURN - theirs / A_TURN : NEVER;
    }
    int64_t mine = ago[person], other = ago[1 - person], nearest = mine < other ? mine : other;
    nearest = nearest < 0 ? 0 : nearest;
    if (k->fade && nearest > CONVERSATION && nearest < NEVER && is_nameless(k, n))
        return NEITHER_PERHAPS;
    if (nearest == NEVER)
        return elsewhere(k, n);
    int64_t later = nearest + (nearest > 0);
    int64_t place = nearest == 1 ? 2 - voice % A_TURN : later < TURNS ? later : TURNS - 1;
    return (int)(SAME_TURN + place + (other < mine ? TURNS : 0));
}

INLINE int quoted(const struct links *k, int64_t s, int64_t n, int person)
{
    int64_t id = k->ids[n], meant = k->meant[s], reversed = k->reversed[s];
    if (meant == NOBODY)
        return reversed != NOBODY && id == reversed ? REVERSED : by_turns(k, s, n, person);
    if (id == meant)
        return (int)(MEANT_PERHAPS + k->sure[s]);
    return id == reversed ? REVERSED : (int)(NEITHER_PERHAPS + k->sure[s]);
}

INLINE int spoken(const struct links *k, int64_t s, int64_t n, int person)
{
    int64_t first = of(k, k->voices, 0, n), voice = first < 0 ? first : of(k, k->voices, 1, n);
    if (voice >= 0)
        return elsewhere(k, n);
    return SAME_SPEAKER + (voice != k->voice[s]) + 2 * ((first < 0) == (person == 1));
}

INLINE int narrated(const struct links *k, int64_t n, int person)
{
    return of(k, k->narrated, person, n) > 0 ? SAME_NARRATION : elsewhere(k, n);
}

INLINE int by_gender(const struct links *k, int64_t s, int64_t n)
{
    static const int named[] = {OTHER_GENDER, GENDER_AT_TIMES, UNGENDERED_NAME, SAME_GENDER};
    static const int nameless[] = {OTHER_GENDER, GENDER_AT_TIMES, UNGENDERED, SAME_GENDER_NAMELESS};
    if (k->voice[s] == NARRATOR && 2 * of(k, k->narrated, 0, n) > k->sizes[n])
        return NARRATES;
    return (is_nameless(k, n) ? nameless : named)[agreement(k, k->gender[s], n)];
}

INLINE int by_name(const struct links *k, int64_t s, int64_t n)
{
    static const int nameless[] = {NAMELESS_CLASHES, NAMELESS, NAMELESS, NAMELESS_AGREES};
    if (!is_nameless(k, n))
        return by_forms(k, s, n);
    return k->gender[s] ? nameless[agreement(k, k->gender[s], n)] : NAMELESS;
}

INLINE int by_noun(const struct links *k, int64_t s, int64_t n)
{
    static const int nouns[] = {NOUN_CLASHES, NOUN_AT_TIMES, NOUN_UNGENDERED, NOUN_AGREES};
    return k->gender[s] ? nouns[agreement(k, k->gender[s], n)] : NOTHING;
}

/* Outside of quotations who is told of is not who narrates, unless a name says so. */
INLINE int told(const struct links *k, int64_t s, int64_t n, int value)
{
    if (!k->narrators_are_apart || k->voice[s] != NARRATOR || of(k, k->narrated, 0, n) <= k->told[n])
        return value;
    int says_so = (value >= SAME_NAME && value < UNGENDERED) || value == NAMELESS_CLASHES;
    return says_so ? value : NARRATES;
}

INLINE void identity(const struct links *k, int64_t s, int64_t count)
{
    int64_t *index = k->index, step = k->identity_step;
#define OF_ALL(value)                        \
    for (int64_t n = 0; n < count; n++)      \
        index[n] += step * (value);          \
    break
    switch (k->kind[s]) {
    case OTHER: OF_ALL(told(k, s, n, by_noun(k, s, n)));
    case NAME: OF_ALL(told(k, s, n, by_name(k, s, n)));
    case THIRD: OF_ALL(told(k, s, n, by_gender(k, s, n)));
    case NARRATED_I:
        OF_ALL(k->narrators_are_apart && k->told[n] > of(k, k->narrated, 0, n) ? NARRATES : narrated(k, n, 0));
    case NARRATED_YOU: OF_ALL(narrated(k, n, 1));
    case QUOTED_I: OF_ALL(quoted(k, s, n, 0));
    case QUOTED_YOU: OF_ALL(quoted(k, s, n, 1));
    case SPOKEN_I: OF_ALL(spoken(k, s, n, 0));
    case SPOKEN_YOU: OF_ALL(spoken(k, s, n, 1));
    }
#undef OF_ALL
}

/* An entity's part in the conversation: `features/talk.py`. */
enum { SPEAKS = 1, EXPECTED = 2, SPOKE = 3, CALLED = 4, UNEXPECTED = 5, SAYS_IT = 6, LISTENS = 7 };

INLINE void talk(const struct links *k, int64_t s, int64_t count)
{
    int64_t says = k->says[s], should = k->should[s], before = k->before[s], calls = k->calls[s];
    if (says == NOBODY && should == NOBODY && before == NOBODY && calls == NOBODY)
        return;
    int64_t inside = k->inside[s], otherwise = should == NOBODY ? NOTHING : UNEXPECTED;
    for (int64_t n = 0; n < count; n++) {
        int64_t id = k->ids[n], value = otherwise;
        value = id == calls ? (inside ? LISTENS : CALLED) : value;
        value = id == before ? SPOKE : value;
        value = id == should ? EXPECTED : value;
        value = id == says ? (inside ? SAYS_IT : SPEAKS) : value;
        k->index[n] += k->talk_step * value;
    }
}

/* ---- Scores ---- */

FOR_EACH_CPU void number_features(const struct links *k, int64_t s, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        k->index[n] = k->distance_step * bucket((k->place[s] - k->places[n]) >> 1) + k->size_step * bucket(k->sizes[n]);
    if (k->form_step)
        match(k, count, k->all_forms, k->forms, k->form[s], k->form_step);
    if (k->last_word_step)
        match(k, count, k->all_last_words, k->last_words, k->last_word[s], k->last_word_step);
    if (k->identity_step)
        identity(k, s, count);
    if (k->talk_step)
        talk(k, s, count);
}

/* The best entities by prior and product, in `best`, in no order; of equal ones the first. How many. */
static int64_t shortlist(const struct links *k, int64_t s, int64_t count, float *scores)
{
    const float *products = k->products + s * k->score_stride;
    int64_t *best = k->best, found = 0, least = 0;
    for (int64_t n = 0; n < count; n++) {
        float score = k->priors[k->index[n]] + products[n];
        if (found < k->shortlist) {
            best[found] = n;
            scores[found] = score;
            least = found == 0 || score <= scores[least] ? found : least;
            found++;
        } else if (score > scores[least]) {
            best[least] = n;
            scores[least] = score;
            for (int64_t one = least = 0; one < found; one++)
                least = scores[one] < scores[least] || (scores[one] == scores[least] && best[one] > best[least]) ? one : least;
        }
    }
    return found;
}

/* What the net adds to the scores of some of the shortlist, at most ROWS; it reads all places of `best` up to these. */
FOR_EACH_CPU void refine(const struct links *k, int64_t s, const int64_t *slots, int64_t rows, float *scores)
{
    const float *span = k->vectors + s * k->size, *reading = k->readings + s * k->reading_stride;
    const float *entity[ROWS], *parts[ROWS][TABLES + 1];
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t slot = slots[r < rows ? r : 0], index = k->index[slot];
        entity[r] = k->entities + slot * k->entity_stride;
        parts[r][TABLES] = k->entity_readings + slot * k->entity_stride;
        for (int64_t t = k->tables - 1; t >= 0; t--) {
            parts[r][t] = k->table[t] + index % k->table_lengths[t] * k->hidden;
            index /= k->table_lengths[t];
        }
    }
    for (int64_t i = 0; i < k->size; i++)
        for (int64_t r = 0; r < ROWS; r++)
            k->pairs[i * ROWS + r] = span[i] * entity[r][i];
    lanes sums[ROWS] = {0};
    for (int64_t h = 0; h < k->hidden; h += BLOCK) {
        lanes hidden[ROWS][2];
        for (int64_t r = 0; r < ROWS; r++)
            for (int half = 0; half < 2; half++) {
                int64_t at = h + half * LANES;
                hidden[r][half] = *(const lanes *)(reading + at) + *(const lanes *)(parts[r][TABLES] + at);
                for (int64_t t = 0; t < k->tables; t++)
                    hidden[r][half] += *(const lanes *)(parts[r][t] + at);
            }
        const float *weights = k->product + h;
        for (int64_t i = 0; i < k->size; i++, weights += k->hidden) {
            lanes left = *(const lanes *)weights, right = *(const lanes *)(weights + LANES);
            for (int64_t r = 0; r < ROWS; r++) {
                float pair = k->pairs[i * ROWS + r];
                hidden[r][0] += pair * left;
                hidden[r][1] += pair * right;
            }
        }
        for (int64_t r = 0; r < ROWS; r++)
            for (int half = 0; half < 2; half++) {
                lanes active = (lanes)((bits)hidden[r][half] & (hidden[r][half] > 0));
                sums[r] += active * *(const lanes *)(k->weight + h + half * LANES);
            }
    }
    for (int64_t r = 0; r < rows; r++) {
        float sum = (float)k->bias;
        for (int lane = 0; lane < LANES; lane++)
            sum += sums[r][lane];
        scores[r] += sum;
    }
}

/* A span against the first `count` entities: the scores of its shortlist, in its row of `scores`. */
void score_row(const struct links *k, int64_t s, int64_t count)
{
    float scores[64];
    number_features(k, s, count);
    int64_t found = shortlist(k, s, count, scores);
    for (int64_t r = 0; r < found; r += ROWS)
        refine(k, s, k->best + r, found - r < ROWS ? found - r : ROWS, scores + r);
    for (int64_t r = 0; r < found; r++)
        k->scores[s * k->score_stride + k->best[r]] = scores[r];
}

/* An entity is changed by a span, of which it is this share now: its products with the spans that follow. */
void blend_products(const struct links *k, int64_t slot, int64_t s, float share)
{
    for (int64_t later = s + 1; later < k->spans; later++) {
        float *product = k->products + later * k->score_stride + slot, new = k->among[later * k->spans + s];
        *product = share == 1 ? new : *product + share * (new - *product);
    }
}
