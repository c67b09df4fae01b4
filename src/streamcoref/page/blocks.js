// A text as blocks to draw: paragraphs, and turns of speakers. Line ends inside a block are kept.
import {countBelow} from "./positions.js";

const LINE = /[^\n\r\x85\u2028\u2029\f]*(?:\r\n|[\n\r\x85\u2028\u2029\f]|$)/y;
const LONGEST = 2500; // characters; a paragraph without an end is drawn in several blocks
const MOST_SPACE = 3; // blank lines that are shown before a block

// A block is {start, end, space, speaker}: `space` is how many blank lines stand before it, `speaker` is null unless
// one begins here.
//
// `last` is the last block of a text that has grown: it may go on, and the blocks returned take its place.
export function cutBlocks(text, turns, last = {start: 0, space: 0, speaker: null}) {
  const blocks = [];
  let {space, speaker} = last, open = null, turn = countBelow(turns, last.start, ({start}) => start);
  const close = () => { if (open) blocks.push(open); open = null; };
  LINE.lastIndex = last.start;
  while (LINE.lastIndex < text.length) {
    const start = LINE.lastIndex;
    let line = LINE.exec(text)[0];
    while (turns[turn]?.start <= start) { speaker = turns[turn++].speaker; close(); }
    if (turns[turn]?.start < LINE.lastIndex) {
      LINE.lastIndex = turns[turn].start;
      line = text.slice(start, LINE.lastIndex);
    }
    const content = line.replace(/[\n\r\x85\u2028\u2029\f]+$/, "");
    if (!content.trim()) {
      close();
      space = Math.min(space + 1, MOST_SPACE);
    } else {
      if (open && start + content.length - open.start > LONGEST) close();
      if (!open) { open = {start, end: start, space, speaker}; space = 0; speaker = null; }
      open.end = start + content.length;
      while (open.end - open.start > LONGEST) open = splitLong(text, open, blocks);
    }
    if (/[\f\u2029]$/.test(line)) { close(); space = Math.max(space, 1); }
  }
  close();
  return blocks;
}

// The first part of a long line goes to the blocks, the rest is returned.
function splitLong(text, block, blocks) {
  const most = block.start + LONGEST;
  const blank = text.lastIndexOf(" ", most);
  let cut = blank > block.start ? blank + 1 : most;
  if (/[\udc00-\udfff]/.test(text[cut])) cut--; // never through the middle of a character
  blocks.push({...block, end: cut});
  return {start: cut, end: block.end, space: 0, speaker: null};
}
