// JSON and CSV, character by character as streamcoref.formats writes them.

// A probability as Python spells it.
export function spelt(score) {
  if (score === null) return null;
  if (Number.isInteger(score)) return `${score}.0`;
  if (Math.abs(score) >= 1e-4) return String(score);
  return score.toExponential().replace(/e-(\d)$/, "e-0$1");
}

const quoted = (value) => JSON.stringify(value);

export function toJson(document) {
  const {key, genre, text, words, sentenceEnds, sections, entities, quotations} = document;
  const head =
    `{"key": ${quoted(key)}, "genre": ${quoted(genre)}, "text": ${quoted(text)}, ` +
    `"words": ${words.length}, "sentences": ${sentenceEnds.length}, ` +
    `"sections": [${sections.map(sectionJson).join(", ")}], "entities": [`;
  const lines = entities.map(({id, name, size, type, type_score, mentions}) => {
    const places = mentions.map(mentionJson).join(", ");
    const what = type === null ? "" : `"type": ${quoted(type)}, "type_score": ${spelt(type_score)}, `;
    return `\n  {"id": ${id}, "name": ${quoted(name)}, "size": ${size}, ${what}"mentions": [${places}]}`;
  });
  const said = quotations.map((one) => `\n  ${quotationJson(one)}`).join(",");
  const more = quotations.length ? `, "quotations": [${said}\n]` : "";
  return `[\n${head}${lines.join(",")}${lines.length ? "\n" : ""}]${more}}\n]\n`;
}

function sectionJson({title, level, start, end}) {
  return `{"title": ${quoted(title)}, "level": ${level}, "start": ${start}, "end": ${end}}`;
}

function quotationJson({word_start, word_end, start, end, speaker, addressee, kind, score}) {
  return (
    `{"word_start": ${word_start}, "word_end": ${word_end}, "start": ${start}, "end": ${end}, ` +
    `"speaker": ${speaker}, "addressee": ${addressee}, "kind": ${quoted(kind)}, "score": ${spelt(score)}}`
  );
}

function mentionJson({text, start, end, word_start, word_end, sentence, score}) {
  return (
    `{"text": ${quoted(text)}, "start": ${start}, "end": ${end}, "word_start": ${word_start}, ` +
    `"word_end": ${word_end}, "sentence": ${sentence}, "score": ${spelt(score)}}`
  );
}

const COLUMNS = "document entity name size text start end word_start word_end sentence score".split(" ");
const TYPE_COLUMNS = ["type", "type_score"]; // where any entity has a type

export function toCsv({key, entities}) {
  const typed = entities.some(({type}) => type !== null);
  const rows = entities
    .flatMap(({mentions, ...entity}) => mentions.map((mention) => ({...entity, mention})))
    .sort(({mention: a}, {mention: b}) => a.word_start - b.word_start || b.word_end - a.word_end)
    .map(({id, name, size, type, type_score, mention: m}) =>
      [key, id, name, size, m.text, m.start, m.end, m.word_start, m.word_end, m.sentence, spelt(m.score),
        ...(typed ? [type, spelt(type_score)] : [])]);
  return lines([typed ? [...COLUMNS, ...TYPE_COLUMNS] : COLUMNS, ...rows]);
}

const QUOTATION_COLUMNS =
  "document speaker speaker_name addressee addressee_name text start end word_start word_end kind score".split(" ");

export function toQuotationsCsv({key, entities, quotations}) {
  const who = (id) => (id === null ? [null, null] : [id, entities[id].name]);
  const rows = quotations.map((one) =>
    [key, ...who(one.speaker), ...who(one.addressee), one.text, one.start, one.end, one.word_start, one.word_end,
      one.kind, spelt(one.score)]);
  return lines([QUOTATION_COLUMNS, ...rows]);
}

const lines = (rows) => rows.map((row) => `${row.map(cell).join(",")}\n`).join("");

function cell(value) {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
