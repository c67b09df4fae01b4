// The text to read. Only the blocks on and near the screen are in the page, so that a book costs no more than a letter.
import {cutBlocks} from "./blocks.js";
import {count, make, oncePerFrame} from "./dom.js";
import {drawBlock, drawingOf, visible} from "./marks.js";
import {inOrder, placeOf} from "./places.js";
import {countBelow} from "./positions.js";
import {Tip} from "./tip.js";

const BEYOND = 600; // pixels above and below the screen that are drawn, too
const CHARACTER = 8.4, LINE_HEIGHT = 35, BLANK_LINE = 14; // pixels, roughly, of a block before it is drawn

// As places are drawn: a quotation before a mention of the same words.
const inReading = (a, b) => inOrder(a, b) || (a.entity ? 1 : 0) - (b.entity ? 1 : 0);

export class Reader {
  // `on.choose(mention)` is called when somebody picks a mention, `on.listen(saying)` a quotation, `on.point(entity)` when
  // one points at a mention or leaves, `on.hear(entity)` when one points at what it says.
  constructor(on) {
    this.title = make("h1", {}, make("bdi"));
    this.counts = make("p", {class: "counts"});
    this.column = make("div", {class: "blocks", dir: "auto"});
    const pane = {class: "text", "aria-label": "Text", tabindex: "0"};
    this.tip = new Tip();
    this.pane = make("section", pane, this.title, this.counts, this.column, this.tip.root);
    this.answer = null;
    this.drawn = new Map(); // block number -> {element, drawing}
    this.chosen = this.pointed = this.current = null;
    this.draw = oncePerFrame(() => this.drawNow());
    this.pane.addEventListener("scroll", this.draw, {passive: true});
    new ResizeObserver(() => this.resized()).observe(this.pane);
    addEventListener("beforeprint", () => this.drawNow(true));
    addEventListener("afterprint", this.draw);
    this.listen(on);
  }

  listen(on) {
    const linkOf = (event) => event.target.closest(".m, .said")?.place;
    const follow = (place) => (place.entity ? on.choose(place) : on.listen(place));
    for (const kind of ["pointerover", "focusin"]) {
      this.pane.addEventListener(kind, (event) => {
        const mention = event.target.closest(".m"), said = event.target.closest(".q");
        // Of a mention inside of a quotation, the mention is meant.
        if (mention || !said) on.point(mention?.place.entity ?? null);
        else on.hear(said.place.speaker);
        this.tip.show(said, event.clientY);
      });
    }
    for (const kind of ["pointerleave", "focusout"]) {
      this.pane.addEventListener(kind, () => { on.point(null); this.tip.hide(); });
    }
    this.pane.addEventListener("click", (event) => {
      const place = linkOf(event);
      if (place && getSelection().isCollapsed) follow(place);
    });
    this.pane.addEventListener("keydown", (event) => {
      const place = linkOf(event);
      if (!place) return;
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (event.key === "Enter") follow(place);
      else if (step) this.moveFocus(place, step);
      else return;
      event.preventDefault();
    });
  }

  open(answer) {
    this.answer = answer;
    this.name();
    this.chosen = this.pointed = this.current = null;
    this.forget();
    this.pane.scrollTop = 0;
    this.refresh();
  }

  name() { this.title.firstChild.textContent = visible(this.answer.key); }

  forget() {
    for (const {element} of this.drawn.values()) element.remove();
    this.drawn.clear();
    this.blocks = [];
    this.heights = [];
    this.cutUpTo = 0;
    this.placeBlocks();
  }

  // The text has grown, or its mentions have changed.
  refresh() {
    const {text, turns} = this.answer;
    if (text.length !== this.cutUpTo) {
      const grown = cutBlocks(text, turns, this.blocks.pop());
      this.heights.length = this.blocks.length;
      for (const block of grown) {
        const old = this.drawn.get(this.blocks.length);
        if (old) old.measured = false;
        this.blocks.push(block);
        this.heights.push(this.guessHeight(block));
      }
      this.cutUpTo = text.length;
      this.placeBlocks();
    }
    const {words, entities, mentions, sayings} = this.answer;
    const named = [...entities.values()].filter((entity) => entity.mentions.length).length;
    this.counts.textContent = [
      count(words, "word", "words"), count(named, "entity", "entities"), count(mentions.length, "mention", "mentions"),
      ...(sayings.length ? [count(sayings.length, "quotation", "quotations")] : []),
    ].join(" · ");
    this.draw();
  }

  guessHeight({start, end, space, speaker}) {
    const lines = Math.ceil(((end - start) * CHARACTER) / Math.max(1, this.column.clientWidth));
    return (lines + (speaker ? 1 : 0)) * LINE_HEIGHT + space * BLANK_LINE;
  }

  placeBlocks() {
    this.tops = new Float64Array(this.blocks.length + 1);
    this.heights.forEach((height, i) => { this.tops[i + 1] = this.tops[i] + height; });
  }

  resized() {
    if (!this.answer || this.column.clientWidth === this.width) return;
    this.width = this.column.clientWidth;
    const top = this.pane.scrollTop - this.column.offsetTop;
    const anchor = this.blockAt(top);
    const inside = top - this.tops[anchor];
    this.heights = this.blocks.map((block) => this.guessHeight(block));
    this.placeBlocks();
    if (top > 0) this.pane.scrollTop = this.column.offsetTop + this.tops[anchor] + inside;
    for (const drawing of this.drawn.values()) drawing.measured = false;
    this.draw();
  }

  // The block at so many pixels from the first.
  blockAt(top) {
    return Math.max(0, Math.min(countBelow(this.tops, top + 1) - 1, this.blocks.length - 1));
  }

  drawNow(everything = false) {
    if (!this.answer) return;
    // What is drawn may turn out higher or lower than was thought, so that more, or less, comes on the screen.
    for (let round = 0; round < 4 && this.drawScreen(everything); round++);
    this.paint();
  }

  // Draw what belongs on the screen; true if something moved by it.
  drawScreen(everything) {
    const {pane, column, drawn, blocks} = this;
    const top = pane.scrollTop - column.offsetTop;
    const first = everything ? 0 : this.blockAt(top - BEYOND);
    const end = everything ? blocks.length : blocks.length && this.blockAt(top + pane.clientHeight + BEYOND) + 1;
    const anchor = this.blockAt(top);
    const inside = top - this.tops[anchor];
    const focused = document.activeElement?.place;
    for (const [number, {element}] of drawn) {
      if (number >= first && number < end) continue;
      if (element.contains(document.activeElement)) pane.focus({preventScroll: true});
      element.remove();
      drawn.delete(number);
    }
    let before = null;
    for (let number = end - 1; number >= first; number--) {
      const drawing = drawingOf(this.answer, blocks[number], this.current);
      const old = drawn.get(number);
      if (old?.drawing === drawing) { before = old.element; continue; }
      const element = drawBlock(this.answer, blocks[number], this.current);
      if (old) old.element.replaceWith(element);
      else column.insertBefore(element, before);
      drawn.set(number, {element, drawing, measured: false});
      if (focused && old) this.elementOf(focused, element)?.focus({preventScroll: true});
      before = element;
    }
    column.style.paddingBlockStart = `${this.tops[first] ?? 0}px`;
    column.style.paddingBlockEnd = `${(this.tops.at(-1) ?? 0) - (this.tops[end] ?? 0)}px`;
    let moved = false;
    for (const [number, item] of drawn) {
      if (item.measured) continue;
      item.measured = true;
      const {height} = item.element.getBoundingClientRect();
      moved ||= Math.abs(height - this.heights[number]) > 0.5;
      this.heights[number] = height;
    }
    if (!moved) return false;
    this.placeBlocks();
    column.style.paddingBlockStart = `${this.tops[first]}px`;
    column.style.paddingBlockEnd = `${this.tops.at(-1) - this.tops[end]}px`;
    // Whatever was measured above, what one reads stays where it is.
    const kept = column.offsetTop + this.tops[anchor] + inside;
    if (top > 0 && Math.abs(kept - pane.scrollTop) > 0.5) pane.scrollTop = kept;
    return true;
  }

  // Light up the chosen entity and the one pointed at, and leave one link in the order of Tab.
  paint() {
    const screen = this.pane.getBoundingClientRect();
    this.pane.classList.toggle("chosen", this.chosen !== null);
    for (const element of this.column.querySelectorAll(".m, .q")) {
      const entity = element.place.entity ?? element.place.speaker;
      element.classList.toggle("on", entity !== null && (entity === this.chosen || entity === this.pointed));
    }
    this.tip.check();
    const stops = [...this.column.querySelectorAll(".m[role], .said")];
    const stop =
      stops.find((element) => element === document.activeElement) ??
      stops.find((element) => element.place === this.current) ??
      stops.find((element) => element.getBoundingClientRect().bottom > screen.top);
    for (const element of stops) element.tabIndex = element === stop ? 0 : -1;
  }

  choose(entity) { this.chosen = entity; this.paint(); }

  point(entity) {
    if (entity === this.pointed) return;
    this.pointed = entity;
    this.paint();
  }

  // Go to a mention or to another place of the text, {start, end}; null is nowhere.
  goTo(place, {focus = false} = {}) {
    this.current = place;
    if (!place) { this.draw(); return; }
    const number = Math.max(0, countBelow(this.blocks, place.start + 1, (block) => block.start) - 1);
    if (!this.drawn.has(number)) {
      this.pane.scrollTop = this.column.offsetTop + this.tops[number] - this.pane.clientHeight / 3;
    }
    for (let round = 0; round < 3; round++) {
      this.drawNow();
      this.elementOf(place)?.scrollIntoView({block: "center"});
    }
    this.drawNow();
    if (focus) this.elementOf(place)?.focus({preventScroll: true});
  }

  goToEnd() {
    for (let round = 0; round < 2; round++) {
      this.drawNow();
      this.pane.scrollTop = this.pane.scrollHeight;
    }
  }

  elementOf(place, within = this.column) {
    return [...within.querySelectorAll(".m, .hit, .said")].find((element) => element.place === place);
  }

  // From a mention or quotation to the next or previous one in the text, whosever it is.
  moveFocus(place, step) {
    const {mentions, sayings} = this.answer;
    const [own, others] = place.entity ? [mentions, sayings] : [sayings, mentions];
    let before = placeOf(others, place); // those that begin where it does and are as long count as before it
    if (!place.entity) while (before > 0 && inReading(place, others[before - 1]) < 0) before--;
    const next = [own[own.indexOf(place) + step], others[step > 0 ? before : before - 1]].filter(Boolean);
    next.sort((a, b) => step * inReading(a, b));
    if (next.length) this.goTo(next[0], {focus: true});
  }
}
