// The text and its entities side by side: choosing an entity, walking through its mentions and what it says, searching.
import {numberOf} from "./answer.js";
import {count, make} from "./dom.js";
import {EntityList} from "./entity_list.js";
import {Filters} from "./filters.js";
import {visible} from "./marks.js";
import {Reader} from "./reader.js";
import {whoSays} from "./sayings.js";
import {findPlaces} from "./search.js";
import {lasting} from "./storage.js";

const LINES = "streamcoref.joinLines"; // in the browser's storage

export class View {
  // `tools` are elements for the chosen entity, shown with its name; see corrections.js.
  constructor(tools = []) {
    this.reader = new Reader({
      choose: (mention) => this.pick(mention.entity, mention),
      listen: (saying) => this.listen(saying),
      point: (entity) => this.point(entity),
      hear: (entity) => { this.reader.point(null); this.list.point(entity); },
    });
    this.list = new EntityList({
      choose: (entity) => this.pick(entity),
      enter: () => this.walkTo(this.at ?? 0, {focus: true}),
      point: (entity) => this.point(entity),
    });
    this.filters = new Filters(() => this.filtered());
    this.chosen = null;
    this.walking = "mentions"; // or "sayings": what one walks through of the chosen entity
    this.places = []; // that one walks through: these, or what was searched for
    this.at = null; // the number of the place where one is
    this.asked = null; // {answer, cancel}, while an entity is asked for: picking one answers instead of choosing it
    const search = {type: "search", placeholder: "Find an entity or words", "aria-label": "Find an entity or words"};
    this.search = make("input", {...search, oninput: () => this.searched()});
    this.search.addEventListener("keydown", (event) => { if (event.key === "Enter") this.enterSearch(); });
    this.hits = make("button", {type: "button", class: "hits", hidden: true, onclick: () => this.walkHits()});
    this.name = make("bdi", {class: "name"});
    this.where = make("span", {class: "where", "aria-live": "polite"});
    const button = (label, text, act) =>
      make("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
    const kind = (name) => make("button", {type: "button", onclick: () => this.walkThrough(name)});
    this.kinds = {mentions: kind("mentions"), sayings: kind("sayings")};
    this.kinds.sayings.title = "What it says (s)";
    this.kindRow = make("div", {class: "row kinds", hidden: true}, this.kinds.mentions, this.kinds.sayings);
    this.said = make("p", {class: "saying", "aria-live": "polite", hidden: true});
    this.card = make("div", {class: "card", role: "group", "aria-label": "Where you are", hidden: true},
      make("div", {class: "row"}, this.name, button("Show all entities (Escape)", "✕", () => this.clear())),
      this.kindRow,
      make("div", {class: "row"},
        button("Previous (p)", "‹", () => this.step(-1)),
        this.where,
        button("Next (n)", "›", () => this.step(1)),
        ...tools),
      this.said,
    );
    const join = make("input", {type: "checkbox", onchange: () => this.joinLines(join.checked)});
    this.join = join;
    const key = (name) => make("kbd", {}, name);
    this.aside = make("aside", {"aria-label": "Entities"},
      this.search, this.filters.root, this.hits, this.card, this.list.empty, this.list.box,
      make("p", {class: "keys"},
        key("j"), key("k"), " entities ", key("n"), key("p"), " mentions ", key("s"), " says ", key("/"), " find ", key("Esc"), " all"),
      make("label", {class: "lines"}, join, " Join lines into paragraphs"),
    );
    this.root = make("div", {class: "view"}, this.reader.pane, this.aside);
    addEventListener("keydown", (event) => this.key(event));
    join.checked = lasting.get(LINES) === "yes";
    this.reader.pane.classList.toggle("joined", join.checked);
  }

  open(answer) {
    this.answer = answer;
    this.search.value = "";
    this.hits.hidden = true;
    this.filters.forget();
    this.setChosen(null);
    this.reader.open(answer);
    this.listAgain();
  }

  // The answer has grown or was corrected.
  refresh() {
    if (this.chosen) this.findAgain();
    this.reader.refresh();
    this.listAgain();
    this.describe();
  }

  listAgain() {
    this.filters.refresh(this.answer);
    this.list.refresh(this.answer, this.search.value, this.filters);
  }

  // Others are to be listed. Who is looked at by what they say is walked through so.
  filtered() {
    this.listAgain();
    if (this.filters.speaking && this.chosen?.sayings.length) this.walkThrough("sayings");
  }

  // The chosen entity and the place where one is may be other objects now, or gone.
  findAgain() {
    const entity = this.answer.entities.get(this.chosen.id);
    if (!entity) { this.clear(); return; }
    this.chosen = this.reader.chosen = this.list.chosen = entity;
    if (!entity.sayings.length) this.walking = "mentions";
    this.places = entity[this.walking];
    const {current} = this.reader;
    const number = this.places.findIndex((place) => place.start === current?.start && place.end === current.end);
    this.at = number < 0 ? null : number;
    this.reader.current = this.places[number] ?? null;
  }

  pick(entity, mention = null) {
    if (this.asked) { this.asked.answer(entity); return; }
    if (entity === this.chosen && !mention) { this.step(1); return; }
    const speaks = !mention && this.filters.speaking && entity.sayings.length > 0;
    this.setChosen(entity, speaks ? "sayings" : "mentions");
    this.walkTo(mention ? numberOf(mention) : 0, {still: mention !== null});
  }

  // To a quotation, among all that its speaker says.
  listen(saying) {
    const {speaker} = saying;
    if (!speaker) return;
    if (this.asked) { this.asked.answer(speaker); return; }
    this.setChosen(speaker, "sayings");
    this.walkTo(speaker.sayings.indexOf(saying), {still: true});
  }

  // The chosen entity's mentions or sayings, from where one is on.
  walkThrough(walking) {
    const {chosen} = this, {current} = this.reader;
    if (!chosen?.[walking].length || walking === this.walking) return;
    this.setChosen(chosen, walking);
    const next = this.places.findIndex(({end}) => end > (current?.start ?? 0));
    this.walkTo(next < 0 ? this.places.length - 1 : next);
  }

  point(entity) { this.reader.point(entity); this.list.point(entity); }

  setChosen(entity, walking = "mentions") {
    this.chosen = entity;
    this.walking = walking;
    this.places = entity ? entity[walking] : [];
    this.at = null;
    this.reader.choose(entity);
    this.list.select(entity);
    this.describe();
  }

  clear() {
    this.asked?.cancel();
    this.setChosen(null);
    this.reader.goTo(null);
  }

  // The next or previous place; from the last to the first.
  step(step) {
    const {length} = this.places;
    if (length) this.walkTo(this.at === null ? 0 : (this.at + step + length) % length);
  }

  walkTo(number, {focus = false, still = false} = {}) {
    if (!this.places[number]) return;
    this.at = number;
    // The focus goes along if it is in the text.
    const inText = document.activeElement?.closest(".blocks") !== null;
    if (still) this.reader.current = this.places[number];
    else this.reader.goTo(this.places[number], {focus: focus || inText});
    this.reader.draw();
    this.describe();
  }

  describe() {
    this.card.hidden = this.places.length === 0;
    this.card.classList.toggle("of-entity", this.chosen !== null);
    this.name.textContent = visible(this.chosen ? this.chosen.label : `“${this.search.value.trim()}”`);
    this.card.style.setProperty("--h", this.chosen?.hue ?? 0);
    const number = this.at === null ? "–" : (this.at + 1).toLocaleString("en");
    this.where.textContent = `${number} of ${this.places.length.toLocaleString("en")}`;
    const {mentions = [], sayings = []} = this.chosen ?? {};
    this.kindRow.hidden = sayings.length === 0;
    this.kinds.mentions.textContent = count(mentions.length, "mention", "mentions");
    this.kinds.sayings.textContent = `says ${sayings.length.toLocaleString("en")}`;
    for (const [name, button] of Object.entries(this.kinds)) button.setAttribute("aria-pressed", name === this.walking);
    const saying = this.walking === "sayings" ? this.places[this.at] : null;
    this.said.hidden = !saying;
    this.said.textContent = saying ? visible(whoSays(saying)) : "";
  }

  searched() {
    this.listAgain();
    this.found = findPlaces(this.answer.text, this.search.value);
    this.hits.hidden = this.found.length === 0;
    this.hits.textContent = `${count(this.found.length, "place", "places")} in the text`;
    if (!this.chosen) { this.places = []; this.describe(); }
  }

  enterSearch() {
    if (this.list.rows.length && this.search.value.trim()) this.pick(this.list.rows[0]);
    else this.walkHits();
  }

  walkHits() {
    this.setChosen(null);
    this.places = this.found ?? [];
    this.walkTo(0);
  }

  joinLines(joined) {
    lasting.set(LINES, joined ? "yes" : "no");
    this.reader.pane.classList.toggle("joined", joined);
    this.reader.forget();
    this.reader.refresh();
  }

  key(event) {
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
    if (event.ctrlKey || event.altKey || event.metaKey || this.root.closest("[hidden]")) return;
    if (event.key === "Escape" && (!typing || typing === this.search)) {
      if (typing) { this.search.value = ""; this.searched(); this.search.blur(); }
      else if (this.asked) this.asked.cancel();
      else this.clear();
    } else if (typing) return;
    else if (event.key === "/") this.search.focus();
    else if (event.key === "n") this.step(1);
    else if (event.key === "p") this.step(-1);
    else if (event.key === "s") this.walkThrough(this.walking === "sayings" ? "mentions" : "sayings");
    else if (event.key === "j") this.list.step(1);
    else if (event.key === "k") this.list.step(-1);
    else return;
    event.preventDefault();
  }
}
