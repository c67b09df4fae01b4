// The page that the format `html` writes: its documents are in it, and it needs no server.
import {Answer} from "./answer.js";
import {make} from "./dom.js";
import {View} from "./view.js";

// A document is an article of the class `source` with its text and, in the next element, what is known of it.
function read(article) {
  const data = JSON.parse(article.nextElementSibling.textContent);
  const answer = new Answer(data.key);
  // Markup has no way to hold a NUL; a mark stands for it, and a list says where.
  answer.addText(data.nuls.length ? withNuls(article.textContent, data.nuls) : article.textContent);
  answer.words = data.words;
  answer.turns = data.turns.map(([start, speaker]) => ({start: answer.positions.unit(start), speaker}));
  const mentions = [];
  data.entities.forEach(({spans}, entity) => {
    for (let i = 0; i < spans.length; i += 2) mentions.push({entity, start: spans[i], end: spans[i + 1]});
  });
  // The largest first: they get the colours that are easiest to tell apart.
  const entities = data.entities.map(({name, type, spans}, id) => ({id, name, type, size: spans.length}));
  const quotations = (data.quotations ?? []).map(([start, end, speaker, addressee, kind]) => (
    {start, end, speaker, addressee, kind}
  ));
  answer.load(entities.sort((a, b) => b.size - a.size), mentions, quotations);
  return answer;
}

function withNuls(text, positions) {
  const characters = [...text];
  for (const position of positions) characters[position] = "\0";
  return characters.join("");
}

const articles = [...document.querySelectorAll("article.source")];
const view = new View();
const open = (number) => {
  const answer = read(articles[number]);
  document.title = answer.key;
  view.open(answer);
};
if (articles.length > 1) {
  const choice = make("select", {"aria-label": "Document", onchange: () => open(choice.selectedIndex)});
  for (const article of articles) choice.append(make("option", {}, article.getAttribute("aria-label")));
  document.body.append(make("header", {class: "tools"}, choice));
}
if (articles.length) {
  document.body.append(make("main", {}, view.root));
  open(0);
}
