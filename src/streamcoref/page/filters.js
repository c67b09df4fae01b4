// Which entities are listed: all, those of a type, those who speak. What a text has none of cannot be chosen.
import {make} from "./dom.js";
import {visible} from "./marks.js";

export class Filters {
  // `changed()` is called when somebody wants others.
  constructor(changed) {
    this.select = make("select", {"aria-label": "Type", hidden: true, onchange: changed});
    this.box = make("input", {type: "checkbox", onchange: changed});
    this.label = make("label", {hidden: true}, this.box, " Who speaks");
    this.root = make("div", {class: "filters row"}, this.select, this.label);
    this.shown = "";
  }

  get type() { return this.select.value; }

  get speaking() { return this.box.checked; }

  forget() {
    this.select.value = "";
    this.box.checked = false;
  }

  // The answer has grown: there may be other types, and somebody who speaks.
  refresh(answer) {
    const types = new Map();
    let speaks = false;
    for (const {type, mentions, sayings} of answer.entities.values()) {
      if (type !== null && mentions.length) types.set(type, (types.get(type) ?? 0) + 1);
      speaks ||= sayings.length > 0;
    }
    this.label.hidden = !speaks;
    if (!speaks) this.box.checked = false;
    const known = [...types].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
    const shown = JSON.stringify(known);
    if (shown === this.shown) return;
    this.shown = shown;
    const {type} = this;
    this.select.hidden = known.length === 0;
    this.select.replaceChildren(
      make("option", {value: ""}, "All types"),
      ...known.map(([name, number]) => make("option", {value: name}, `${visible(name)} (${number.toLocaleString("en")})`)),
    );
    this.select.value = types.has(type) ? type : "";
  }
}
