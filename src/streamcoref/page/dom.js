// Elements made without markup: whatever a text, a speaker, a name or a key says stays text.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function count(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

// One call a frame at most, however often it is asked for.
export function oncePerFrame(act) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; act(); });
  };
}

// One call in so many milliseconds, the last one always made.
export function atMostEvery(milliseconds, act) {
  let waiting = null, last = -Infinity;
  return () => {
    if (waiting !== null) return;
    const run = () => { waiting = null; last = performance.now(); act(); };
    waiting = setTimeout(run, Math.max(0, last + milliseconds - performance.now()));
  };
}
