// A conversation that is read while it is written. The server holds the stream; a lost connection is taken up again,
// and what it has not acknowledged is sent once more.
import {fetchJson, call} from "./api.js";
import {storedKey} from "./key.js";

const AGAIN = 1000; // milliseconds until a lost connection is tried again
const PAUSE = 150; // milliseconds between two looks at what is being typed

export class LiveStream {
  // `on.changed()` when the answer has grown, `on.drafted()` when its draft is another, `on.state(sentence)` when the
  // connection comes or goes.
  constructor(answer, on) {
    this.answer = answer;
    this.on = on;
    this.said = []; // turns [speaker, text]
    this.waiting = []; // messages that the server has not acknowledged: {text, speaker, end}
    this.typed = {speaker: "", text: ""}; // and not sent
    this.shown = null; // the typed that the answer's draft is of
    this.looking = false;
    this.heard = 0; // events
    this.closed = false;
  }

  async start() {
    this.id = (await fetchJson("/v1/streams", {method: "POST", json: {options: {}}})).id;
    if (this.closed) return this.end(); // somebody has left before it was there
    this.look(); // somebody may have typed meanwhile
    await this.connect();
  }

  async connect() {
    const {position} = await fetchJson(`/v1/streams/${encodeURIComponent(this.id)}`);
    if (this.closed) return;
    this.acknowledge(position);
    const url = new URL(`/v1/streams/${encodeURIComponent(this.id)}/live`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    // A browser sends no headers of ours with a WebSocket; a key goes as the name of a protocol.
    const key = storedKey();
    this.socket = new WebSocket(url, key ? ["streamcoref", `key.${encoded(key)}`] : ["streamcoref"]);
    this.socket.addEventListener("open", () => {
      this.on.state("");
      for (const message of this.waiting) this.send(message);
    });
    this.socket.addEventListener("message", ({data}) => this.receive(JSON.parse(data)));
    this.socket.addEventListener("close", () => this.lost());
  }

  lost() {
    if (this.closed) return;
    this.on.state("The connection is lost; trying again.");
    setTimeout(() => { if (!this.closed) this.connect().catch(() => this.lost()); }, AGAIN);
  }

  say(speaker, text) {
    this.type("", "");
    this.said.push([speaker, text]);
    const line = `${text}\n`;
    this.answer.addText(line, speaker);
    const message = {text: line, speaker, end: this.answer.positions.characters};
    this.waiting.push(message);
    if (this.socket?.readyState === WebSocket.OPEN) this.send(message);
    this.on.changed();
  }

  // What is being typed: what it would bring is asked for again and again, one question at a time.
  type(speaker, text) {
    this.typed = {speaker, text};
    if (!text) this.showDraft(null);
    this.look();
  }

  async look() {
    if (this.looking || !this.id) return;
    this.looking = true;
    // As long as a message waits to be read, what follows it cannot be known.
    while (this.typed.text && this.typed !== this.shown && !this.waiting.length && !this.closed) {
      const {typed, heard} = this, json = {text: `${typed.text}\n`, speaker: typed.speaker};
      let events = [];
      try {
        const path = `/v1/streams/${encodeURIComponent(this.id)}/preview`;
        ({events} = await fetchJson(path, {method: "POST", json, quiet: true}));
      } catch { /* it will be seen when it is sent */ }
      if (this.typed.text && this.heard === heard) {
        this.shown = typed;
        this.showDraft({text: typed.text, events});
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    this.looking = false;
  }

  showDraft(draft) {
    if (draft) this.answer.addDraft(draft.text, draft.events);
    else this.answer.takeBack();
    this.on.drafted();
  }

  // Reading at once what was said: that is what a conversation waits for.
  send({text, speaker}) {
    this.socket.send(JSON.stringify({text, speaker}));
    this.socket.send(JSON.stringify({flush: true}));
  }

  receive(event) {
    this.heard++;
    this.shown = null;
    this.answer.takeBack();
    if (event.event === "fed") {
      this.acknowledge(event.position);
      this.answer.words = event.words;
      this.on.changed();
      this.look();
      if (!this.waiting.length) this.learn();
    } else if (event.event === "error") this.on.state(event.error);
    else {
      this.answer.add(event);
      this.on.changed();
    }
  }

  // The names and types that the server would give the entities now; it says them by itself only at their end.
  async learn() {
    const {heard} = this;
    try {
      const {entities} = await fetchJson(`/v1/streams/${encodeURIComponent(this.id)}/entities`, {quiet: true});
      if (this.heard !== heard) return; // more has come, and will be asked about
      for (const entity of entities) if (this.answer.sources.has(entity.entity)) this.answer.add(entity);
      this.on.changed();
    } catch { /* they keep the names that they have */ }
  }

  acknowledge(position) {
    this.waiting = this.waiting.filter(({end}) => end > position);
  }

  record() {
    this.answer.takeBack();
    return fetchJson("/v1/split", {method: "POST", json: {turns: this.said}});
  }

  close() {
    if (this.closed) return;
    this.closed = true;
    this.socket?.close();
    if (this.id) this.end();
  }

  end() {
    call(`/v1/streams/${encodeURIComponent(this.id)}/close`, {method: "POST", keepalive: true}).catch(() => {});
  }
}

// Base64 for names of protocols, which have no "/", "+" or "=".
const encoded = (key) => btoa(key).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
