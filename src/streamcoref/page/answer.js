// A text with its entities while it is read, and the corrections that somebody makes by hand.
import {farthestEnds, inOrder, insert, overlapping} from "./places.js";
import {Positions, countBelow} from "./positions.js";

// Hues this many degrees apart are well spread however many there are.
const GOLDEN_ANGLE = 137.508, FIRST_HUE = 250;
const LONGEST_LABEL = 30; // characters, of an entity that has no name yet

// A mention is {start, end, word_start, word_end, sentence, score, source, entity}: `start` and `end` count UTF-16
// units of the text, `source` is the number of the entity that the model put it into, `entity` the one it is in now.
// A saying is {start, end, kind, speaker, addressee, raw}: a quotation, the entities that say and hear it now, null where
// unknown, and `raw`, the quotation as the server has it, with the model's entities.
// An entity is {id, hue, name, type, type_score, label, mentions, sayings}: `name` is null until it is finished, `type` too,
// and for ever where the model tells no types; `label` is what is shown, `sayings` are what it says.
export class Answer {
  constructor(key) {
    this.key = key;
    this.text = "";
    this.turns = []; // where a speaker begins: {start, speaker}
    this.positions = new Positions();
    this.words = 0;
    this.mentions = []; // in the order of the text, outer ones first
    this.sources = new Map(); // the model's entities by number
    this.entities = new Map(); // what is left of them after corrections
    this.corrections = []; // {merge: [from, into]} and {rename: [entity, name]}, in the order in which they were made
    this.draft = null; // what would come next, {text, mentions, sources}; see addDraft
    this.loads = 0; // how often all entities and mentions have been replaced
    this.sayings = []; // in the order of the text, outer ones first
    this.changes = 0; // goes up with every change, so that others can see whether there was one
  }

  addText(text, speaker) {
    if (speaker !== undefined && (this.turns.at(-1)?.speaker ?? "") !== speaker) {
      this.turns.push({start: this.text.length, speaker});
    }
    this.text += text;
    this.positions.add(text);
    this.changes++;
  }

  // What a text that is not said yet would bring: its mentions count, until they are taken back.
  addDraft(text, events) {
    this.takeBack();
    const known = new Set(this.sources.keys());
    this.draft = {text, mentions: [], sources: []};
    this.positions.add(text);
    for (const event of events) if (event.mention) this.draft.mentions.push(this.add(event));
    this.positions.cut(this.text.length);
    this.draft.sources = [...this.sources.keys()].filter((id) => !known.has(id));
  }

  takeBack() {
    if (!this.draft) return;
    const {mentions, sources} = this.draft;
    this.draft = null;
    this.changes++;
    for (const mention of mentions) {
      for (const list of [this.mentions, mention.entity.mentions]) list.splice(list.indexOf(mention), 1);
    }
    for (const id of sources) { this.sources.delete(id); this.entities.delete(id); }
    for (const {source} of mentions) this.nameAgain(source);
  }

  // One event of the server; the mention that it brings.
  add(event) {
    this.changes++;
    if (event.event === "entities_merged") {
      this.unite(event.kept, event.gone);
      return null;
    }
    if (event.event === "quotation_found") {
      const saying = this.saying(event.quotation);
      insert(this.sayings, saying);
      this.letSpeak(saying);
      return null;
    }
    if (event.event === "entity_finished") {
      this.describe(event.entity, event);
      this.nameAgain(event.entity);
      return null;
    }
    const mention = this.mention(event.mention, event.entity);
    insert(this.mentions, mention);
    insert(mention.entity.mentions, mention);
    this.nameAgain(event.entity);
    return mention;
  }

  // Two of the model's entities are one.
  unite(kept, gone) {
    for (const mention of this.mentions) if (mention.source === gone) mention.source = kept;
    for (const {raw} of this.sayings) {
      for (const who of ["speaker", "addressee"]) if (raw[who] === gone) raw[who] = kept;
    }
    this.sources.delete(gone);
    this.correct(this.corrections);
  }

  // Many entities, mentions and quotations at once, in any order, in the place of those that were there.
  load(entities, mentions, quotations) {
    this.changes++;
    this.loads++;
    this.sources.clear();
    for (const entity of entities) this.describe(entity.id, entity);
    this.mentions = mentions.map(({entity, ...mention}) => this.mention(mention, entity)).sort(inOrder);
    this.sayings = quotations.map((quotation) => this.saying(quotation)).sort(inOrder);
    this.correct(this.corrections);
  }

  mention({start, end, word_start, word_end, sentence, score}, source) {
    const entity = this.entities.get(this.root(source)) ?? this.source(source);
    const [first, last] = [this.positions.unit(start), this.positions.unit(end)];
    return {start: first, end: last, word_start, word_end, sentence, score, source, entity};
  }

  saying(raw) {
    const [start, end] = [this.positions.unit(raw.start), this.positions.unit(raw.end)];
    return {start, end, kind: raw.kind, speaker: null, addressee: null, raw};
  }

  // Find out who the entities of a saying are now.
  letSpeak(saying) {
    const entity = (source) => (source === null ? null : this.entities.get(this.root(source)) ?? null);
    saying.speaker = entity(saying.raw.speaker);
    saying.addressee = entity(saying.raw.addressee);
    if (saying.speaker) insert(saying.speaker.sayings, saying);
  }

  describe(id, {name, type = null, type_score = null}) { Object.assign(this.source(id), {name, type, type_score}); }

  source(id) {
    let entity = this.sources.get(id);
    if (!entity) {
      const hue = Math.round(this.sources.size * GOLDEN_ANGLE + FIRST_HUE) % 360;
      entity = {id, hue, name: null, type: null, type_score: null, label: "", mentions: [], sayings: []};
      this.sources.set(id, entity);
      if (this.root(id) === id) this.entities.set(id, entity);
    }
    return entity;
  }

  // The entity that another was merged into, by hand.
  root(id) {
    for (const {merge} of this.corrections) if (merge && merge[0] === id) id = merge[1];
    return id;
  }

  // Begin again from the model's entities and make these corrections. Those of entities that are not there yet wait.
  correct(corrections) {
    this.changes++;
    this.corrections = corrections;
    const roots = new Map();
    for (const [id, entity] of this.sources) {
      entity.mentions = [];
      entity.sayings = [];
      roots.set(id, this.sources.get(this.root(id)) ?? entity);
    }
    this.entities = new Map([...this.sources].filter(([id, entity]) => roots.get(id) === entity));
    for (const mention of this.mentions) {
      mention.entity = roots.get(mention.source);
      mention.entity.mentions.push(mention);
    }
    for (const saying of this.sayings) this.letSpeak(saying);
    for (const id of this.entities.keys()) this.nameAgain(id);
  }

  nameAgain(id) {
    const entity = this.sources.get(this.root(id));
    if (!entity) return;
    const given = this.corrections.findLast(({rename}) => rename && rename[0] === entity.id);
    entity.label = given?.rename[1] ?? entity.name ?? this.guess(entity);
  }

  // Until the server names an entity: the longest of its first mentions that is short enough, which is no pronoun if
  // there is anything else.
  guess(entity) {
    const texts = entity.mentions.slice(0, 20).map((mention) => this.textOf(mention).replace(/\s+/g, " "));
    const short = texts.filter((text) => text.length <= LONGEST_LABEL);
    return (short.length ? short : texts).reduce((best, text) => (text.length > best.length ? text : best), "");
  }

  textOf({start, end}) {
    const {length} = this.text;
    return start < length ? this.text.slice(start, end) : this.draft.text.slice(start - length, end - length);
  }

  speakerAt(position) {
    return this.turns[countBelow(this.turns, position + 1, (turn) => turn.start) - 1]?.speaker ?? "";
  }

  mentionsIn(start, end) { return overlapping(this.mentions, this.ends().mentions, start, end); }

  sayingsIn(start, end) { return overlapping(this.sayings, this.ends().sayings, start, end); }

  ends() {
    if (this.endsOf !== this.changes) {
      this.endsOf = this.changes;
      this.farthest = {mentions: farthestEnds(this.mentions), sayings: farthestEnds(this.sayings)};
    }
    return this.farthest;
  }

  // Entities by the number of their mentions, or of their sayings.
  largestFirst(counted = "mentions") {
    return [...this.entities.values()]
      .filter((entity) => entity.mentions.length && entity[counted].length)
      .sort((a, b) => b[counted].length - a[counted].length || inOrder(a.mentions[0], b.mentions[0]));
  }
}

// The number of a mention in its entity.
export function numberOf(mention) {
  const {mentions} = mention.entity;
  let number = countBelow(mentions, mention.start, (other) => other.start);
  while (mentions[number] !== mention) number++;
  return number;
}
