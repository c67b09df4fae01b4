// One block of a text as elements: every mention and quotation in a <span>, a proper tree whatever they do.
import {numberOf} from "./answer.js";
import {make} from "./dom.js";
import {inOrder} from "./places.js";
import {whoSays} from "./sayings.js";

// Of mentions that lie in or across one another no more are drawn at a place: what it costs stays the same for any
// number of them.
const DEEPEST = 8;
const DEEPEST_LINE = 4; // underlines below one another
const CONTROL = /[\0-\x08\x0b\x0e-\x1f\x7f]/g;

// What stands for characters that cannot be seen, and line ends as the browser knows them.
export function visible(text) {
  return text
    .replace(/\r\n|[\r\x85\u2028\u2029\f]/g, "\n")
    .replace(CONTROL, (c) => String.fromCharCode(c === "\x7f" ? 0x2421 : 0x2400 + c.charCodeAt(0)));
}

// `current` is the place where somebody is: a mention, a quotation, or what was searched for, {start, end}. It is always
// drawn.
//
// Where two places cross, the one that began later is closed with the earlier and opened again behind it. Only its first
// piece is a link; of a quotation, a bar before that.
export function drawBlock(answer, block, current) {
  const {text} = answer;
  const places = answer.sayingsIn(block.start, block.end).concat(answer.mentionsIn(block.start, block.end));
  if (current && !current.entity && !current.raw && current.start < block.end && current.end > block.start) {
    places.push(current);
  }
  places.sort(inOrder); // which leaves a quotation before a mention of the same words
  const paragraph = make("p", {class: `block space${block.space}`});
  if (block.speaker) paragraph.append(make("bdi", {class: "speaker"}, visible(block.speaker)));
  const opened = [{element: paragraph, end: Infinity, level: -1}];
  let at = block.start;

  const write = (end) => {
    if (end > at) opened.at(-1).element.append(visible(text.slice(at, end)));
    at = Math.max(at, end);
  };
  const open = (place, first) => {
    const element = elementFor(place, first);
    element.place = place;
    if (place === current) element.classList.add("current");
    opened.at(-1).element.append(element);
    opened.push({place, element, end: place.end, level: place.raw ? -1 : 0});
  };
  const close = () => {
    const {place, element, level} = opened.pop();
    if (!place.raw) element.style.setProperty("--l", level);
    // A quotation has no line: around it the lines are those of what is inside.
    opened.at(-1).level = Math.min(Math.max(opened.at(-1).level, place.raw ? level : level + 1), DEEPEST_LINE);
  };
  const closeUpTo = (position) => {
    for (;;) {
      const end = Math.min(...opened.map((item) => item.end));
      if (end > position) return;
      write(end);
      const crossing = [];
      while (opened.some((item) => item.end === end)) {
        const {place} = opened.at(-1);
        close();
        if (place.end > end) crossing.push(place);
      }
      for (const place of crossing.reverse()) open(place, false);
    }
  };

  for (const place of places) {
    closeUpTo(Math.min(place.start, block.end));
    write(place.start);
    if (opened.length <= DEEPEST || place === current) open(place, place.start >= block.start);
  }
  closeUpTo(block.end);
  write(block.end);
  while (opened.length > 1) close();
  return paragraph;
}

function elementFor(place, first) {
  if (place.entity) return mentionElement(place, first);
  return place.raw ? sayingElement(place, first) : make("mark", {class: "hit"});
}

function sayingElement(saying, first) {
  const element = make("span", {class: saying.speaker ? "q" : "q unknown"});
  if (saying.speaker) element.style.setProperty("--h", saying.speaker.hue);
  if (first) {
    const bar = make("span", {class: "said", role: "link", tabindex: "-1", "aria-label": visible(whoSays(saying))});
    bar.place = saying;
    element.append(bar);
  }
  return element;
}

function mentionElement(mention, first) {
  const {entity} = mention;
  const single = entity.mentions.length === 1;
  const element = make("span", {class: single ? "m once" : "m"});
  if (first) {
    element.setAttribute("role", "link");
    element.tabIndex = -1;
  }
  element.title = visible(`${entity.label} · ${numberOf(mention) + 1} of ${entity.mentions.length}`);
  element.style.setProperty("--h", entity.hue);
  return element;
}

// Two drawings of a block are the same if this is.
export function drawingOf(answer, block, current) {
  const inside = (place) => place && place.start < block.end && place.end > block.start;
  const parts = answer.mentionsIn(block.start, block.end).map(
    ({start, end, entity}) => `${start},${end},${entity.id},${entity.mentions.length},${entity.label}`,
  );
  const said = answer.sayingsIn(block.start, block.end).map(
    (saying) => `${saying.start},${saying.end},${saying.speaker?.id},${whoSays(saying)}`,
  );
  return `${answer.loads};${said.join(";")};${block.start},${block.end},${inside(current) ? `${current.start},${current.end}` : ""};${parts.join(";")}`;
}
