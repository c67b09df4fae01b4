// CoNLL-U, character by character as streamcoref.formats writes it.

const ESCAPES = {" ": "s", "\t": "t", "\r": "r", "\n": "n", "|": "p", "\\": "\\"};
const escaped = (text) => text.replace(/[ \t\r\n|\\]/g, (c) => `\\${ESCAPES[c]}`);
const fitsComment = (text) => text === text.trim() && !/[\r\n]/.test(text);

export function toConllu(document) {
  const {key, genre, words, sentenceEnds, speakers} = document;
  if (!fitsComment(key)) throw refused("the name of the text has a line end or white space around it");
  const bad = words.findIndex((word) => !word || /[\t\r\n]/.test(word));
  if (bad >= 0) throw refused(`word ${bad} is ${JSON.stringify(words[bad])}`);
  const brackets = bracketCells(document);
  const surfaces = new Map(surfacesOf(document).map((surface) => [surface.first, surface]));
  const lines = [`# newdoc id = ${key}`, "# global.Entity = GRP"];
  if (genre !== null || key.indexOf("/") > 0) lines.push(`# meta::genre = ${genre ?? ""}`);
  if (!words.length) lines.push("");
  sentenceEnds.forEach((end, sentence) => {
    const start = sentenceEnds[sentence - 1] ?? 0;
    lines.push(`# sent_id = ${key}-${sentence + 1}`);
    const said = speakers.slice(start, end);
    const one = new Set(said).size === 1 && fitsComment(said[0]);
    if (one && said[0]) lines.push(`# speaker = ${said[0]}`);
    for (let i = start; i < end; i++) {
      const attributes = brackets.has(i) ? [`Entity=${brackets.get(i)}`] : [];
      const surface = surfaces.get(i);
      if (surface && surface.end - i > 1) {
        lines.push(row(`${i - start + 1}-${surface.end - start}`, surface.form, surface.attributes));
      } else if (surface) attributes.push(...surface.attributes);
      if (said.length && !one) attributes.push(`Speaker=${escaped(said[i - start])}`);
      lines.push(row(String(i - start + 1), words[i], attributes));
    }
    lines.push("");
  });
  return lines.map((line) => `${line}\n`).join("");
}

const refused = (problem) => new Error(`This cannot be written as CoNLL-U: ${problem}. JSON and CSV can hold it.`);

const row = (name, form, attributes) => [name, form, ..."_______", attributes.join("|") || "_"].join("\t");

// The brackets at each word: at one word those that close come first, inner ones before outer ones.
function bracketCells({entities}) {
  const closing = new Map(), opening = new Map();
  const note = (map, word, order, bracket) => map.set(word, [...(map.get(word) ?? []), [order, bracket]]);
  for (const {id, name, mentions} of entities) {
    checkCrossing(name, mentions);
    for (const {word_start: start, word_end: end} of mentions) {
      if (end - start === 1) note(opening, start, end, `(${id})`);
      else {
        note(opening, start, end, `(${id}`);
        note(closing, end - 1, start, `${id})`);
      }
    }
  }
  const descending = ([a, first], [b, second]) => b - a || (first < second ? 1 : -1);
  const cells = new Map();
  for (const word of new Set([...closing.keys(), ...opening.keys()])) {
    const all = [...(closing.get(word) ?? []).sort(descending), ...(opening.get(word) ?? []).sort(descending)];
    cells.set(word, all.map(([, bracket]) => bracket).join(""));
  }
  return cells;
}

// Two mentions of one entity that cross by more than a word would be read back as two nested ones.
function checkCrossing(name, mentions) {
  const enclosing = [];
  for (const mention of [...mentions].sort((a, b) => a.word_start - b.word_start || b.word_end - a.word_end)) {
    while (enclosing.length && enclosing.at(-1).word_end - 1 <= mention.word_start) enclosing.pop();
    const outer = enclosing.at(-1);
    if (outer && outer.word_end < mention.word_end) {
      throw refused(`two mentions of “${name}” cross, “${outer.text}” and “${mention.text}”`);
    }
    enclosing.push(mention);
  }
}

// What is said of the characters of each word, or of neighbours that share theirs.
function surfacesOf({text, words, offsets, sentenceEnds}) {
  const lasts = new Set(sentenceEnds);
  const groups = [];
  let position = 0;
  offsets.forEach(([start, end], word) => {
    const before = offsets[word - 1];
    if (before && before[0] === start && before[1] === end && !lasts.has(word)) {
      groups.at(-1).end = word + 1;
      return;
    }
    if (start < position || start >= end) throw refused(`the characters of word ${word} are empty or overlap others`);
    groups.push({first: word, end: word + 1});
    position = end;
  });
  return groups.map(({first, end}) => {
    const [start, stop] = offsets[first];
    const surface = text.slice(start, stop);
    const gap = text.slice(stop, end < words.length ? offsets[end][0] : text.length);
    const attributes = [];
    if (!gap) attributes.push("SpaceAfter=No");
    else if (gap !== " " || end === words.length) attributes.push(`SpacesAfter=${escaped(gap)}`);
    if (first === 0 && start > 0) attributes.push(`SpacesBefore=${escaped(text.slice(0, start))}`);
    const form = end - first > 1 ? surface.replace(/[\t\r\n]/g, " ") : words[first];
    if (form !== surface) attributes.push(`SpacesInToken=${escaped(surface)}`);
    return {first, end, form, attributes};
  });
}
