// What the browser remembers for us. A page in a frame may not be allowed to: then it forgets.

function guarded(kind) {
  const store = () => globalThis[kind];
  return {
    get(name) { try { return store().getItem(name); } catch { return null; } },
    set(name, value) { try { store().setItem(name, value); } catch { /* full, or forbidden */ } },
    remove(name) { try { store().removeItem(name); } catch { /* forbidden */ } },
  };
}

export const lasting = guarded("localStorage"); // for all tabs
export const passing = guarded("sessionStorage"); // for this tab, until it is closed
