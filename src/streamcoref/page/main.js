// The server's page: a text is pasted, dropped, tried or chatted, and read on the same view.
import {Answer} from "./answer.js";
import {fetchJson} from "./api.js";
import {Corrections} from "./corrections.js";
import {atMostEvery, count, make} from "./dom.js";
import {EXAMPLES} from "./examples.js";
import {FINISHED, allJobs, followJob, jobPath, removeJob, startJob, stopJob} from "./jobs.js";
import {LiveStream} from "./live.js";
import {drawBlock, visible} from "./marks.js";
import {readText} from "./read_text.js";
import {passing} from "./storage.js";
import {View} from "./view.js";

const LONGEST = 400000; // characters that are read while one waits; a longer text becomes a job
const DRAFT = "streamcoref.draft";
const REFRESH = 150; // milliseconds between two drawings of an answer that grows

const part = (id) => document.getElementById(id);
const corrections = new Corrections((sentence) => report(sentence));
const view = new View(corrections.tools);
const refresh = atMostEvery(REFRESH, () => view.refresh());
let session = null; // {stop()}: what is being read, so that it can be left for something else

part("reading").append(view.root);
part("bar").append(corrections.bar);

function report(sentence, bad = false) {
  part("report").textContent = sentence;
  part("report").classList.toggle("bad", bad);
}

// How much has been read, or null when nothing is being read any more.
function progress(done) {
  part("progress").hidden = done === null;
  part("progress").querySelector("progress").value = done ?? 0;
  part("percent").textContent = done === null ? "" : `${Math.floor(done * 100)} % read`;
  part("reading").setAttribute("aria-busy", done !== null);
}

// Everything has come: it is on the screen before the page says so.
function finish() {
  view.refresh();
  requestAnimationFrame(() => requestAnimationFrame(() => progress(null)));
}

// One of the three faces of the page.
function show(face) {
  session?.stop();
  session = null;
  report("");
  progress(null);
  part("start").hidden = face !== "start";
  part("reading").hidden = face === "start";
  part("chat").hidden = face !== "live";
  corrections.bar.hidden = face === "start";
  document.title = "streamcoref";
}

function open(answer, record, saved) {
  if (answer.key) document.title = `${answer.key} · streamcoref`;
  view.open(answer);
  corrections.open(view, record, saved);
}

function showStart() {
  show("start");
  part("text").value = passing.get(DRAFT) ?? "";
  listJobs();
}

const card = (name, text) => [make("strong", {}, name), make("span", {}, text)];

async function listJobs() {
  const jobs = await allJobs();
  part("books").hidden = jobs.length === 0;
  part("books").querySelector("ul").replaceChildren(...jobs.map((job) => {
    const {id, name, state} = job;
    const remove = async () => {
      try { await removeJob(id); } catch (error) { report(error.message, true); }
      listJobs();
    };
    const button = make("button", {type: "button", "aria-label": `Remove ${name}`, onclick: remove}, "Remove");
    return make("li", {},
      make("a", {href: `#job=${encodeURIComponent(id)}`}, make("bdi", {}, visible(name))),
      make("span", {class: "quiet"}, howFar(job)), FINISHED.has(state) ? button : "");
  }));
}

function howFar({state, characters, characters_in_all: all, words, entities}) {
  if (state === "reading" && all) return `${Math.floor((100 * characters) / all)} % read`;
  return state === "done" ? `${count(words, "word", "words")}, ${count(entities, "entity", "entities")}` : state;
}

async function showText(text, title, key) {
  show("text");
  const answer = new Answer(title);
  const stopping = new AbortController();
  session = {stop: () => stopping.abort()};
  open(answer, () => fetchJson("/v1/split", {method: "POST", json: {text, key}}));
  progress(0);
  try {
    await readText(text, answer, {changed: refresh, progress}, stopping.signal);
    if (!stopping.signal.aborted) finish();
  } catch (error) {
    if (stopping.signal.aborted) return;
    progress(null);
    report(error.message, true);
  }
}

async function showJob(id) {
  show("job");
  const answer = new Answer("");
  const stopping = new AbortController();
  session = {stop: () => stopping.abort(), cancel: () => stopJob(id)};
  open(answer, () => fetchJson(`${jobPath(id)}/record`), `job.${id}`);
  progress(0);
  const state = (now, sentence) => {
    if (stopping.signal.aborted) return;
    const said = {queued: "Waiting for other books.", failed: "This could not be read.", cancelled: "Stopped."}[now];
    report(sentence || said || "", now === "failed");
    if (FINISHED.has(now)) finish();
  };
  const named = (name) => {
    if (stopping.signal.aborted || answer.key === name) return;
    answer.key = name;
    view.reader.name();
    document.title = `${name} · streamcoref`;
  };
  try {
    await followJob(id, answer, {changed: refresh, progress, state, named}, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) return;
    progress(null);
    report(error.message, true);
  }
}

async function showLive() {
  show("live");
  const answer = new Answer("Live chat");
  const changed = atMostEvery(REFRESH, () => {
    view.refresh();
    if (view.chosen === null) view.reader.goToEnd();
  });
  const drafted = () => { drawDraft(answer); changed(); };
  const live = new LiveStream(answer, {changed, drafted, state: (sentence) => report(sentence, sentence !== "")});
  drafted();
  session = {stop: () => live.close(), live};
  open(answer, () => live.record());
  part("message").focus();
  try {
    await live.start();
  } catch (error) {
    report(error.message, true);
  }
}

// The message that is being typed, as it would be read.
function drawDraft(answer) {
  const {text, draft} = answer;
  const mentionsIn = (start, end) => answer.mentionsIn(start, end);
  const whole = {text: text + (draft?.text ?? ""), mentionsIn, sayingsIn: () => []};
  const block = {start: text.length, end: whole.text.length, space: 0, speaker: null};
  part("draft").replaceChildren(...(draft ? [drawBlock(whole, block, null)] : []));
}

async function openFile(file) {
  report(`Sending ${file.name}`);
  try {
    location.hash = `job=${encodeURIComponent(await startJob(file))}`;
  } catch (error) {
    report(error.message, true);
  }
}

function readPasted(text, title = "Pasted text", key = "text") {
  const whole = text.toWellFormed();
  if (!whole.trim()) return;
  if (whole.length > LONGEST) openFile(new File([whole], `${key}.txt`, {type: "text/plain"}));
  else {
    history.pushState(null, "", "#text");
    showText(whole, title, key);
  }
}

// An address that somebody has written by hand may be anything.
function decoded(value) {
  try { return decodeURIComponent(value); } catch { return value; }
}

function route() {
  const [face, value] = location.hash.slice(1).split("=");
  if (face === "job" && value) showJob(decoded(value));
  else if (face === "live") showLive();
  else showStart();
}

part("paste").addEventListener("submit", (event) => {
  event.preventDefault();
  readPasted(part("text").value);
});
part("text").addEventListener("input", () => passing.set(DRAFT, part("text").value));
part("file").addEventListener("change", () => {
  if (part("file").files.length) openFile(part("file").files[0]);
  part("file").value = "";
});
part("examples").append(
  ...EXAMPLES.map(({name, text, begins}) =>
    make("button", {type: "button", onclick: () => readPasted(text, name, name)}, ...card(name, begins))),
  make("a", {href: "#live"}, ...card("Live chat", "Messages with speakers, read while you type them.")),
);
part("cancel").addEventListener("click", async () => {
  try {
    if (session?.cancel) await session.cancel();
    else { session?.stop(); progress(null); report("Stopped."); }
  } catch (error) {
    report(error.message, true);
  }
});
part("chat").addEventListener("submit", (event) => {
  event.preventDefault();
  const speaker = part("speaker").value.trim(), text = part("message").value.toWellFormed().trim();
  if (!text || !session?.live) return;
  session.live.say(speaker, text);
  part("message").value = "";
  const known = [...part("speakers").children].map((option) => option.value);
  if (speaker && !known.includes(speaker)) part("speakers").append(make("option", {value: speaker}));
});

for (const field of [part("speaker"), part("message")]) {
  field.addEventListener("input", () => {
    session?.live?.type(part("speaker").value.trim(), part("message").value.toWellFormed().trim());
  });
}
part("draft").addEventListener("click", (event) => {
  const mention = event.target.closest(".m")?.place;
  if (mention) view.pick(mention.entity);
});

addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (file) openFile(file);
  else readPasted(event.dataTransfer.getData("text/plain"));
});
addEventListener("hashchange", route);
// Nobody comes back to a chat whose page has gone. If the page itself comes back, it begins another.
addEventListener("pagehide", () => session?.live?.close());
addEventListener("pageshow", ({persisted}) => { if (persisted) route(); });
addEventListener("focus", () => { if (!part("start").hidden) listJobs(); });
route();
