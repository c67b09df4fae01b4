// Books: a job of the server reads them, and goes on whether anybody looks or not. A page can come back to it.
import {ServerError, call, fetchJson, passes, serverSent} from "./api.js";

const PART = 200000; // characters that are fetched at once
const ENTITIES = 1000, MENTIONS = 5000; // the same for these
const AGAIN = 1000; // milliseconds until a server that does not answer is asked again
export const FINISHED = new Set(["done", "failed", "cancelled"]);

export async function startJob(file) {
  const form = new FormData();
  form.append("file", file, file.name);
  return (await fetchJson("/v1/jobs", {method: "POST", form})).id;
}

// To the server this is one and the same: a job that is not finished is stopped, one that is finished is removed.
export async function removeJob(id) { await call(jobPath(id), {method: "DELETE"}); }

export async function stopJob(id) {
  const {state} = await fetchJson(jobPath(id));
  if (!FINISHED.has(state)) await removeJob(id);
}

// The jobs of whoever asks, the latest first; none if the server wants to know first who that is.
export async function allJobs() {
  try {
    return (await fetchJson("/v1/jobs", {quiet: true})).jobs.reverse();
  } catch (error) {
    if (error instanceof ServerError) return [];
    throw error;
  }
}

export const jobPath = (id) => `/v1/jobs/${encodeURIComponent(id)}`;

// Follow a job until it is finished; the answer grows meanwhile. `on` is as for readText, with
// `on.named(name)` and `on.state(state, sentence)`.
export async function followJob(id, answer, on, signal) {
  const follower = new Follower(id, answer, on, signal);
  while (!signal.aborted) {
    try {
      if (await follower.follow()) return;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof ServerError) || !passes(error)) throw error;
      on.state("waiting", error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

class Follower {
  constructor(id, answer, on, signal) {
    this.path = jobPath(id);
    this.answer = answer;
    this.on = on;
    this.signal = signal;
    this.loaded = 0; // characters whose mentions have all been fetched; of others more may have come since
  }

  get(path) { return fetchJson(this.path + path, {signal: this.signal}); }

  // True when the job is finished.
  async follow() {
    const first = await this.get("");
    if (FINISHED.has(first.state)) return this.see(first);
    const response = await call(`${this.path}/progress`, {accept: "text/event-stream", signal: this.signal});
    for await (const status of serverSent(response)) if (await this.see(status)) return true;
    return false;
  }

  async see(status) {
    const {state, characters, characters_in_all: all, words} = status;
    const finished = FINISHED.has(state);
    this.answer.words = words;
    this.on.named(status.name);
    await this.fetchUpTo(characters, finished);
    this.on.progress(all ? characters / all : 0);
    this.on.state(state, status.error ?? "");
    this.on.changed();
    return finished;
  }

  // An entity may become certain long after its first mention was read. So all mentions are fetched again at the end,
  // and whenever twice as many characters have been read as the last time: each is fetched few times.
  async fetchUpTo(characters, finished) {
    const {answer} = this;
    const known = answer.positions.characters;
    for (let start = known; start < characters; start += PART) {
      const {text} = await this.get(`/text?start=${start}&end=${Math.min(start + PART, characters)}`);
      answer.addText(text);
    }
    if (finished || characters > 2 * this.loaded) {
      answer.load(await this.entities(Infinity), await this.mentions(0, characters), await this.quotations(0));
      this.loaded = characters;
    } else {
      const seen = new Set(answer.mentionsIn(answer.positions.unit(known), Infinity).map(placeName));
      for (const {entity, ...mention} of await this.mentions(known, characters)) {
        const place = {start: answer.positions.unit(mention.start), end: answer.positions.unit(mention.end)};
        if (!seen.has(placeName(place))) answer.add({event: "mention_linked", entity, mention});
      }
      for (const {id, ...known} of await this.entities(ENTITIES)) {
        answer.add({event: "entity_finished", entity: id, ...known});
      }
      // They come in the order of the text, each some time after its words.
      const last = answer.sayings.at(-1)?.raw.end ?? 0;
      for (const quotation of await this.quotations(last)) answer.add({event: "quotation_found", quotation});
    }
  }

  async mentions(start, end) {
    const all = [];
    for (; start < end; start += PART) {
      const stop = Math.min(start + PART, end);
      // Those that began before are here, too; they came with the part before.
      for (const mention of await this.pages("mentions", `start=${start}&end=${stop}&`, MENTIONS, Infinity)) {
        if (mention.start >= start && mention.start < stop) all.push(mention);
      }
    }
    return all;
  }

  // Those that begin there or later.
  async quotations(start) {
    const found = await this.pages("quotations", `start=${start}&`, MENTIONS, Infinity);
    return found.filter((quotation) => quotation.start >= start);
  }

  entities(most) { return this.pages("entities", "", ENTITIES, most); }

  // What the server gives page by page.
  async pages(what, query, limit, most) {
    const found = [];
    while (found.length < most) {
      const page = await this.get(`/${what}?${query}offset=${found.length}&limit=${limit}`);
      for (const item of page[what]) found.push(item);
      if (page[what].length < limit) break;
    }
    return found;
  }
}

const placeName = ({start, end}) => `${start},${end}`;
