// The entities beside the text, the largest first, each with a strip that shows where in the text it is mentioned. Only
// the rows on the screen are in the page.
import {make, oncePerFrame} from "./dom.js";
import {visible} from "./marks.js";

const ROW = 46; // pixels
const BEYOND = 8; // rows
const PLACES = 120; // of the strip
const SVG = "http://www.w3.org/2000/svg";

export class EntityList {
  // `on.choose(entity)` is called when somebody picks an entity, `on.enter(entity)` when one goes into the
  // text with it, `on.point(entity)` when one points at it or leaves.
  constructor(on) {
    this.on = on;
    this.inner = make("div", {role: "none"});
    const box = {class: "entities", role: "listbox", "aria-label": "Entities, the largest first", tabindex: "0"};
    this.box = make("div", box, this.inner);
    this.empty = make("p", {class: "nothing", hidden: true}, "No entity is called so.");
    this.rows = [];
    this.counted = "mentions"; // of each entity, or "sayings"
    this.drawn = new Map(); // entity -> {element, drawing}
    this.chosen = this.pointed = null;
    this.draw = oncePerFrame(() => this.drawNow());
    this.box.addEventListener("scroll", this.draw, {passive: true});
    new ResizeObserver(this.draw).observe(this.box);
    const entityOf = (event) => event.target.closest("[role=option]")?.entity ?? null;
    this.box.addEventListener("click", (event) => { if (entityOf(event)) on.choose(entityOf(event)); });
    this.box.addEventListener("pointerover", (event) => on.point(entityOf(event)));
    this.box.addEventListener("pointerleave", () => on.point(null));
    this.box.addEventListener("keydown", (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (step) this.step(step);
      else if (event.key === "Enter" && this.chosen) on.enter(this.chosen);
      else return;
      event.preventDefault();
    });
  }

  // `answer` has changed, or what its names must contain (the name of a type lists those of it, too), or the `filters`:
  // `type`, if not all, and whether only those are listed who speak, by how often they do.
  refresh(answer, wanted = "", {type = "", speaking = false} = {}) {
    this.answer = answer;
    this.counted = speaking ? "sayings" : "mentions";
    const part = wanted.trim().toLowerCase();
    this.rows = answer.largestFirst(this.counted)
      .filter((entity) => !type || entity.type === type)
      .filter((entity) => entity.label.toLowerCase().includes(part) || entity.type === part);
    this.box.setAttribute("aria-label", speaking ? "Entities who speak, the most first" : "Entities, the largest first");
    this.inner.style.height = `${this.rows.length * ROW}px`;
    this.empty.hidden = this.rows.length > 0 || (part === "" && !type && !speaking);
    this.draw();
  }

  // The next or previous entity of the list.
  step(step) {
    const next = this.rows[this.chosen ? this.rows.indexOf(this.chosen) + step : 0];
    if (next) this.on.choose(next);
  }

  select(entity) {
    this.chosen = entity;
    const number = this.rows.indexOf(entity);
    if (number >= 0) {
      const above = number * ROW, below = above + ROW - this.box.clientHeight;
      if (this.box.scrollTop > above) this.box.scrollTop = above;
      else if (this.box.scrollTop < below) this.box.scrollTop = below;
    }
    this.drawNow();
  }

  point(entity) {
    if (entity === this.pointed) return;
    this.pointed = entity;
    this.draw();
  }

  drawNow() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - BEYOND);
    const end = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + BEYOND);
    const wanted = new Set(this.rows.slice(first, end));
    for (const [entity, {element}] of this.drawn) {
      if (wanted.has(entity)) continue;
      element.remove();
      this.drawn.delete(entity);
    }
    let before = null;
    for (let number = end - 1; number >= first; number--) before = this.drawRow(number, before);
    const active = this.drawn.get(this.chosen)?.element;
    if (active) this.box.setAttribute("aria-activedescendant", active.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  drawRow(number, before) {
    const entity = this.rows[number];
    const places = entity[this.counted];
    const drawing = `${entity.label}\n${entity.type}\n${this.counted},${places.length},${this.answer.text.length}`;
    let row = this.drawn.get(entity);
    if (row?.drawing !== drawing) {
      const element = entityRow(entity, places, this.answer.text.length);
      row?.element.remove();
      row = {element, drawing};
      this.drawn.set(entity, row);
    }
    const {element} = row;
    if (element.nextSibling !== before || element.parentNode !== this.inner) this.inner.insertBefore(element, before);
    element.style.transform = `translateY(${number * ROW}px)`;
    element.setAttribute("aria-setsize", this.rows.length);
    element.setAttribute("aria-posinset", number + 1);
    element.setAttribute("aria-selected", entity === this.chosen);
    element.classList.toggle("on", entity === this.chosen || entity === this.pointed);
    return element;
  }
}

// `places` are what is counted: its mentions, or what it says.
function entityRow(entity, places, length) {
  const size = make("span", {class: "size"}, places.length.toLocaleString("en"));
  const name = make("bdi", {class: "name"}, visible(entity.label));
  const what = entity.type ? [make("span", {class: "type"}, visible(entity.type))] : [];
  const row = make("div", {role: "option", id: `entity${entity.id}`}, name, ...what, size, strip(places, length));
  row.style.setProperty("--h", entity.hue);
  row.title = visible(entity.label);
  row.entity = entity;
  return row;
}

function strip(all, length) {
  const part = PLACES / Math.max(1, length);
  const places = new Set(all.map(({start}) => Math.min(PLACES - 1, Math.floor(start * part))));
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${PLACES} 6`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", [...places].map((place) => `M${place}.5 0v6`).join(""));
  svg.append(path);
  return svg;
}
