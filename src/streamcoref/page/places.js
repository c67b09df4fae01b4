// Places of a text, {start, end}, in lists that are in the order of the text, outer places before those inside them.
import {countBelow} from "./positions.js";

export const inOrder = (a, b) => a.start - b.start || b.end - a.end;

// Where a place belongs in a sorted list: most often at its end.
export function placeOf(places, place) {
  let low = 0, high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (inOrder(places[middle], place) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function insert(places, place) { places.splice(placeOf(places, place), 0, place); }

// How far the places up to each reach.
export function farthestEnds(places) {
  let farthest = 0;
  return Float64Array.from(places, (place) => (farthest = Math.max(farthest, place.end)));
}

// The places that have some of these characters, in order. Those that began before are looked for backwards, no farther
// than the farthest end of all before says.
export function overlapping(places, ends, start, end) {
  let first = countBelow(places, start, (place) => place.start);
  while (first > 0 && ends[first - 1] > start) first--;
  const found = [];
  for (let i = first; i < places.length && places[i].start < end; i++) {
    if (places[i].end > start) found.push(places[i]);
  }
  return found;
}
