// Who says what, in words.

// "Elizabeth to Jane (named)": who speaks, to whom if that is known, and how it is known.
export function whoSays({speaker, addressee, kind}) {
  const how = speaker ? ` (${kind})` : "";
  return `${speaker?.label ?? "Unknown speaker"}${toWhom({addressee})}${how}`;
}

export const toWhom = ({addressee}) => (addressee ? ` to ${addressee.label}` : "");
