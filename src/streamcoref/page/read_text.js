// A text that is read while one waits: it appears as far as it has been read.
import {call, ndjson} from "./api.js";
import {Positions} from "./positions.js";

// `on.changed()` is called when the answer has grown, `on.progress(done)` with the part of the text that is read.
export async function readText(text, answer, on, signal) {
  const positions = new Positions();
  positions.add(text);
  const showUpTo = (character) => {
    const end = positions.unit(character);
    if (end > answer.text.length) answer.addText(text.slice(answer.text.length, end));
  };
  const response = await call("/v1/resolve", {method: "POST", json: {text}, accept: "application/x-ndjson", signal});
  for await (const event of ndjson(response)) {
    if (event.event === "done") {
      showUpTo(positions.characters);
      on.progress(1);
      on.changed();
      return;
    }
    if (event.event === "error") throw new Error(event.error);
    if (event.event === "progress") {
      showUpTo(event.characters);
      answer.words = event.words;
      on.progress(event.characters / Math.max(1, positions.characters));
    } else {
      const place = event.mention ?? event.quotation;
      if (place) showUpTo(place.end);
      answer.add(event);
    }
    on.changed();
  }
  throw new Error("The connection was lost before the text was read.");
}
