// Where a character is. The server counts characters, this language UTF-16 units: a character beyond U+FFFF is one of
// those and two of these. Between the two stands a list of such characters, which most texts have none of.

const WIDE = /[\ud800-\udbff][\udc00-\udfff]/g;

// How many values of an ascending list are below `value`.
export function countBelow(values, value, key = (item) => item) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(values[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Positions {
  constructor() {
    this.wide = []; // the numbers of the wide characters
    this.units = 0;
  }

  get characters() { return this.units - this.wide.length; }

  add(text) {
    for (const match of text.matchAll(WIDE)) this.wide.push(this.units + match.index - this.wide.length);
    this.units += text.length;
  }

  // Forget everything from this unit on.
  cut(units) {
    this.units = units;
    while (this.wide.length && this.wide.at(-1) + this.wide.length - 1 >= units) this.wide.pop();
  }

  unit(character) { return character + countBelow(this.wide, character); }

  character(unit) {
    let low = 0, high = this.wide.length; // wide character i begins at unit wide[i] + i
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.wide[middle] + middle < unit) low = middle + 1;
      else high = middle;
    }
    return unit - low;
  }
}
