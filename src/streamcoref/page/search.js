// Places of a text that read like what somebody types. The browser's own search sees only what is on the screen.

const MOST = 10000;

export function findPlaces(text, wanted) {
  const words = wanted.trim();
  if (words.length < 2) return [];
  const pattern = words.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+");
  const places = [];
  for (const match of text.matchAll(new RegExp(pattern, "giu"))) {
    places.push({start: match.index, end: match.index + match[0].length});
    if (places.length === MOST) break;
  }
  return places;
}
