// The key that a server may ask for: kept for this tab only.
import {passing} from "./storage.js";

const KEY = "streamcoref.key";
let asking = null;

export function storedKey() { return passing.get(KEY); }

// True when somebody has given one. Calls that ask at once share one dialog.
export function askForKey(refused) {
  asking ??= ask(refused).finally(() => { asking = null; });
  return asking;
}

function ask(refused) {
  const dialog = document.getElementById("key-dialog");
  const field = dialog.querySelector("input");
  dialog.querySelector(".wrong").hidden = !refused;
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const key = field.value.trim();
      field.value = "";
      if (dialog.returnValue === "give" && key) {
        // Only what fits into a header can be a key.
        passing.set(KEY, /^[\x21-\x7e]+$/.test(key) ? key : "?");
        resolve(true);
      } else resolve(false);
    }, {once: true});
  });
}
