// Corrections by hand: rename an entity, merge two, take it back, and export what came of it.
import {toConllu} from "./conllu.js";
import {correctedDocument} from "./corrected.js";
import {make} from "./dom.js";
import {lasting} from "./storage.js";
import {toCsv, toJson, toQuotationsCsv} from "./tables.js";

const SAVED = "streamcoref.corrections."; // and the name of what was read, for what can be read again
const FORMATS = {
  json: {label: "JSON", ending: ".json", type: "application/json", write: toJson},
  conllu: {label: "CoNLL-U", ending: ".conllu", type: "text/plain", write: toConllu},
  csv: {label: "CSV", ending: ".csv", type: "text/csv", write: toCsv},
  quotations: {label: "Quotations", ending: ".quotations.csv", type: "text/csv", write: toQuotationsCsv},
};
const EXPORTED = {quotations: "who says what, corrected, as CSV"};

export class Corrections {
  // `report(sentence)` tells the reader something.
  constructor(report) {
    this.report = report;
    this.saved = null;
    const button = (text, title, act) => make("button", {type: "button", title, onclick: act}, text);
    this.field = make("input", {"aria-label": "New name", maxlength: "200"});
    this.form = make("form", {class: "row", hidden: true}, this.field, make("button", {}, "Rename"));
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.rename(); });
    this.field.addEventListener("keydown", (event) => { if (event.key === "Escape") this.stopAsking(); });
    this.mergeButton = button("Merge…", "Merge with another entity (m)", () => this.askForOther());
    const renameButton = button("Rename…", "Give it another name (r)", () => this.askForName());
    this.tools = [make("span", {class: "correct row"}, renameButton, this.mergeButton), this.form];
    this.undoButton = button("Undo", "Take back the last correction", () => this.undo());
    this.exports = Object.entries(FORMATS).map(([name, {label}]) =>
      button(label, `Save ${EXPORTED[name] ?? `the corrected answer as ${label}`}`, () => this.export(name)));
    this.bar = make("div", {class: "export row", role: "group", "aria-label": "Corrections and export"},
      this.undoButton, make("span", {class: "quiet"}, "Export"), ...this.exports);
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("storage", (event) => { if (this.saved && event.key === SAVED + this.saved) this.restore(); });
  }

  // `record()` gives the text's record for an export; `saved` is the name to save corrections under, or null.
  open(view, record, saved = null) {
    this.stopAsking();
    this.view = view;
    this.record = record;
    this.saved = saved;
    this.restore();
  }

  restore() {
    let corrections = [];
    try { corrections = JSON.parse(lasting.get(SAVED + this.saved) ?? "[]"); } catch { /* not ours */ }
    if (this.saved) this.apply(corrections, false);
    this.undoButton.disabled = this.view.answer.corrections.length === 0;
  }

  apply(corrections, save = true) {
    this.view.answer.correct(corrections);
    this.undoButton.disabled = corrections.length === 0;
    if (save && this.saved) lasting.set(SAVED + this.saved, JSON.stringify(corrections));
    this.view.refresh();
  }

  undo() { this.apply(this.view.answer.corrections.slice(0, -1)); }

  askForName() {
    if (!this.view.chosen) return;
    this.stopAsking();
    this.form.hidden = false;
    this.field.value = this.view.chosen.label;
    this.field.focus();
    this.field.select();
  }

  rename() {
    const name = this.field.value.replace(/\s+/g, " ").trim();
    const {chosen, answer} = this.view;
    this.stopAsking();
    if (chosen && name && name !== chosen.label) this.apply([...answer.corrections, {rename: [chosen.id, name]}]);
  }

  askForOther() {
    const {chosen} = this.view;
    if (!chosen) return;
    this.stopAsking();
    this.mergeButton.setAttribute("aria-pressed", "true");
    this.view.root.classList.add("merging");
    this.report(`Pick the entity that is also “${chosen.label}”, in the list or in the text. Escape: none.`);
    this.view.asked = {answer: (other) => this.merge(other, chosen), cancel: () => this.stopAsking()};
  }

  merge(other, chosen) {
    this.stopAsking();
    if (other === chosen) return;
    this.apply([...this.view.answer.corrections, {merge: [other.id, chosen.id]}]);
    this.report(`“${other.label}” is now “${chosen.label}”.`);
  }

  stopAsking() {
    this.form.hidden = true;
    this.mergeButton.setAttribute("aria-pressed", "false");
    if (!this.view) return;
    this.view.asked = null;
    this.view.root.classList.remove("merging");
    this.report("");
  }

  key(event) {
    if (!this.view?.chosen || event.target.closest?.("input, textarea, select, dialog")) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "r") this.askForName();
    else if (event.key === "m") this.askForOther();
    else return;
    event.preventDefault();
  }

  async export(name) {
    const {ending, type, write} = FORMATS[name];
    try {
      const document = correctedDocument(this.view.answer, await this.record());
      download(new Blob([write(document)], {type}), fileName(document.key) + ending);
    } catch (error) {
      this.report(error.message);
    }
  }
}

const fileName = (key) => key.replace(/[^\p{L}\p{N} ._-]+/gu, "_").replace(/^\.+/, "") || "text";

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
