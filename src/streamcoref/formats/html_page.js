"use strict";
// Highlighting is two rules in a style sheet of our own, so that it costs the same for ten mentions and ten thousand.
const live = document.head.appendChild(document.createElement("style"));
let hovered = null, chosen = null;

const place = (element) => ({section: element.closest("section").id, entity: element.dataset.e});
const same = (a, b) => a && b && a.section === b.section && a.entity === b.entity;

function paint() {
  const fill = "background: oklch(var(--strong) var(--strong-chroma) var(--h))";
  const rules = [];
  for (const it of [hovered, chosen]) {
    if (!it) continue;
    rules.push(`#${it.section} .m[data-e="${it.entity}"] { ${fill}; border-block-end-color: var(--color); }`);
    rules.push(`#${it.section} a[data-e="${it.entity}"] { ${fill}; --quiet: var(--ink); }`);
  }
  live.textContent = rules.join("\n");
  for (const section of document.querySelectorAll("section.chosen")) section.classList.remove("chosen");
  for (const link of document.querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
  if (chosen) {
    const section = document.getElementById(chosen.section);
    section.classList.add("chosen");
    section.querySelector(`a[data-e="${chosen.entity}"]`).setAttribute("aria-current", "true");
  }
}

const marked = (event) => event.target instanceof Element ? event.target.closest("[data-e]") : null;
function hover(event) {
  const element = marked(event);
  const next = element && place(element);
  if (same(next, hovered) || (!next && !hovered)) return;
  hovered = next;
  paint();
}
document.addEventListener("pointerover", hover);
document.addEventListener("focusin", hover);

document.addEventListener("click", (event) => {
  const element = marked(event);
  if (!element) return;
  const next = place(element);
  const again = same(next, chosen);
  chosen = again ? null : next;
  paint();
  if (element.matches("a")) {
    event.preventDefault();
    if (!again) go(next, 0);
  }
});

// Arrow keys walk through the mentions of one entity; Escape shows all entities again.
function go(it, number) {
  const mention = document.getElementById(`${it.section}e${it.entity}m${number}`);
  if (!mention) return;
  mention.scrollIntoView({block: "center"});
  mention.focus({preventScroll: true});
}
document.addEventListener("keydown", (event) => {
  const element = marked(event);
  if (event.key === "Escape" && chosen) { chosen = null; paint(); }
  if (!element || !element.matches(".m")) return;
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (step) { event.preventDefault(); go(place(element), Number(element.dataset.m) + step); }
  if (event.key === "Enter") element.click();
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("aside input")) return;
  const wanted = event.target.value.trim().toLowerCase();
  const list = event.target.closest("aside");
  for (const item of list.querySelectorAll("li")) {
    item.hidden = !item.querySelector(".name").textContent.toLowerCase().includes(wanted);
  }
  for (const details of list.querySelectorAll("details")) details.open = wanted !== "";
});

const headings = [...document.querySelectorAll("h1")];
if (headings.length === 1) document.title = headings[0].textContent;
if (headings.length > 1) {
  const nav = document.querySelector("header nav");
  for (const heading of headings) {
    const link = document.createElement("a");
    link.href = `#${heading.closest("section").id}`;
    link.textContent = heading.textContent;
    nav.append(link);
  }
}
