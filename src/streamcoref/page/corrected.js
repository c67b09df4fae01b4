// A corrected answer as a document: words, sentences and speakers by the server's record of the text, entities in the
// normal form that every format of ours writes.

// `record` is the text's, as the format `jsonlines` has it on a line.
export function correctedDocument(answer, record) {
  const ends = [];
  for (const sentence of record.sentences) ends.push((ends.at(-1) ?? 0) + sentence.length);
  return {
    key: record.doc_key,
    genre: record.genre ?? null,
    text: record.text ?? answer.text,
    words: record.sentences.flat(),
    sentenceEnds: ends,
    speakers: (record.speakers ?? []).flat(),
    offsets: record.offsets.map(([start, end]) => [answer.positions.unit(start), answer.positions.unit(end)]),
    sections: record.sections ?? [],
    ...normalForm(answer),
  };
}

const byWords = (a, b) => a.word_start - b.word_start || a.word_end - b.word_end;

// Entities by their first mention and numbered so, no span twice; quotations name them by these numbers.
function normalForm(answer) {
  const entities = [...answer.entities.values()]
    .filter((entity) => entity.mentions.length)
    .map((entity) => {
      const sorted = [...entity.mentions].sort(byWords);
      const mentions = sorted.filter((mention, i) => i === 0 || byWords(sorted[i - 1], mention) !== 0);
      return {was: entity.id, name: entity.label, type: entity.type, type_score: entity.type_score, mentions};
    })
    .sort((a, b) => byWords(a.mentions[0], b.mentions[0]));
  const place = ({start, end, word_start, word_end, sentence, score}) => ({
    text: answer.text.slice(start, end),
    start: answer.positions.character(start),
    end: answer.positions.character(end),
    word_start, word_end, sentence, score: score ?? null,
  });
  const numbers = new Map(entities.map(({was}, id) => [was, id]));
  const number = (source) => source === null ? null : numbers.get(answer.root(source)) ?? null;
  const quotations = answer.sayings
    .map(({start, end, raw}) => (
      {...raw, speaker: number(raw.speaker), addressee: number(raw.addressee), text: answer.text.slice(start, end)}
    ))
    .sort(byWords);
  return {
    entities: entities.map(({mentions, was, ...known}, id) => (
      {id, ...known, size: mentions.length, mentions: mentions.map(place)}
    )),
    quotations,
  };
}
