// Calls of the server.
import {askForKey, storedKey} from "./key.js";

export class ServerError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// The response, if the server says yes; else a ServerError with its sentence. A server that wants a key gets one,
// unless the call is a quiet one. A body is `json` or a `form`. With `keepalive` the call outlives the page.
export async function call(path, options = {}) {
  const {method = "GET", json, form, accept = "application/json", signal, quiet = false, keepalive = false} = options;
  for (let refused = false; ; refused = true) {
    const headers = {Accept: accept};
    const key = storedKey();
    if (key) headers.Authorization = `Bearer ${key}`;
    if (json !== undefined) headers["Content-Type"] = "application/json";
    let response;
    try {
      const body = json === undefined ? form : JSON.stringify(json);
      response = await fetch(path, {method, headers, body, signal, keepalive});
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerError("The server cannot be reached.", 0);
    }
    if (response.ok) return response;
    if (response.status !== 401) throw new ServerError(await sentence(response), response.status);
    if (quiet || !(await askForKey(refused || key !== null))) throw new ServerError("This server asks for a key.", 401);
  }
}

// Whether it may be otherwise in a moment: the server cannot be reached, is busy, or stops.
export const passes = ({status}) => status === 0 || status === 429 || status >= 500;

export async function fetchJson(path, options) { return (await call(path, options)).json(); }

async function sentence(response) {
  try {
    const {error} = await response.json();
    if (typeof error === "string") return `${error[0].toUpperCase()}${error.slice(1)}.`;
  } catch { /* no JSON */ }
  return `The server answered ${response.status}.`;
}

// The lines of a response while they come.
export async function* linesOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line) yield line;
    if (done) return;
  }
}

export async function* ndjson(response) {
  for await (const line of linesOf(response)) yield JSON.parse(line);
}

// Server-sent events whose data are JSON. (EventSource could send no key.)
export async function* serverSent(response) {
  for await (const line of linesOf(response)) if (line.startsWith("data:")) yield JSON.parse(line.slice(5));
}
