/** Finds a key in JSON text without parsing it. Works for stored bytes, which are well-formed and have no spaces. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;

/** Offset of the opening quote of the key at `path`; undefined if the key is absent. */
export function findKey(json: Buffer, path: readonly string[]): number | undefined {
  const names = path.map((name) => Buffer.from(name));
  let depth = 0;
  /** Number of path names that enclose the current position. */
  let found = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = stringEnd(json, at);
      if (depth === found + 1 && isKey(json.subarray(at, end + 2), names[found])) found += 1;
      if (found === names.length) return at;
      at = end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      found = Math.max(0, Math.min(found, depth - 1));
    }
  }
  return undefined;
}

/** True if a quoted string and the next byte are this key and its colon. */
function isKey(quoted: Buffer, name: Buffer | undefined): boolean {
  const last = quoted.length - 1;
  return quoted[last] === COLON && name !== undefined && name.equals(quoted.subarray(1, last - 1));
}

/** Offset of the closing quote. */
function stringEnd(json: Buffer, start: number): number {
  for (let at = start + 1; ;) {
    const end = json.indexOf(QUOTE, at);
    if (end < 0) return json.length;
    let slashes = 0;
    while (json[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}
