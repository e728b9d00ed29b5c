/**
 * Estimates the program size of a regular expression before it is compiled. Repetitions are expanded, so a short text
 * (`a{1000}a{1000}`…) can compile to thousands of instructions, at two microseconds each.
 */

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;

/** Estimated instructions: never much below the real number, and above it for text quoted by `\Q`. Stops at `max`. */
export function patternSize(source: string, max: number): number {
  const counter = new SizeCounter();
  for (let at = 0; at < source.length && counter.size <= max;) at = counter.take(source, at);
  return counter.size;
}

class SizeCounter {
  size = 0;
  /** Size of the part that a repetition would repeat. */
  #last = 0;
  /** Size before each open group. */
  readonly #groups: number[] = [];

  /** Counts the element at an index and returns the index after it. */
  take(source: string, at: number): number {
    const character = source[at];
    if (character === "\\") return this.#one(at + 2);
    if (character === "[") return this.#one(classEnd(source, at));
    if (character === "(") this.#groups.push(this.size);
    else if (character === ")") this.#last = this.size - (this.#groups.pop() ?? 0);
    else if (character === "{") return this.#repeat(source, at);
    else return this.#one(at + 1);
    this.size += 1;
    return at + 1;
  }

  #one(end: number): number {
    this.size += 1;
    this.#last = 1;
    return end;
  }

  #repeat(source: string, at: number): number {
    REPETITION.lastIndex = at;
    const found = REPETITION.exec(source);
    if (found === null) return this.#one(at + 1);
    const times = Math.max(Number(found[1]), Number(found[2] ?? 0), 1);
    this.size += this.#last * (times - 1);
    this.#last *= times;
    return at + found[0].length;
  }
}

/** Index after the bracket that closes a class. A closing bracket right at the start is a member of the class. */
function classEnd(source: string, start: number): number {
  let at = start + (source[start + 1] === "^" ? 3 : 2);
  while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}
