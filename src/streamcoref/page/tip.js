// A word beside what somebody points at: who says this. Screen readers have it as the name of the quotation's link.
import {make} from "./dom.js";
import {visible} from "./marks.js";
import {whoSays} from "./sayings.js";

export class Tip {
  constructor() {
    this.root = make("div", {class: "tip", "aria-hidden": "true", hidden: true});
    this.of = null; // the element that it is of
  }

  // Above the line of the quotation at this height of the screen, or above its first; of nothing, there is no tip.
  show(element, height) {
    this.of = element;
    this.root.hidden = !element;
    if (!element) return;
    const {root} = this, pane = root.parentElement;
    root.textContent = visible(whoSays(element.place));
    root.classList.toggle("unknown", !element.place.speaker);
    root.style.setProperty("--h", element.place.speaker?.hue ?? 0);
    const lines = [...element.getClientRects()];
    const line = lines.find(({top, bottom}) => top <= height && height <= bottom) ?? lines[0];
    const around = pane.getBoundingClientRect();
    const most = pane.clientWidth - root.offsetWidth - 8;
    root.style.left = `${Math.max(8, Math.min(line.left - around.left, most))}px`;
    const above = line.top - around.top - root.offsetHeight - 2;
    root.style.top = `${pane.scrollTop + (above > 0 ? above : line.bottom - around.top + 2)}px`;
  }

  hide() { this.show(null); }

  // What it is of may have been drawn anew.
  check() { if (this.of && !this.of.isConnected) this.hide(); }
}
