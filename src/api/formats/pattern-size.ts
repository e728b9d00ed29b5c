/**
 * How large the program of a regular expression becomes, found out before it is made: repetitions are written out, so that a text of some
 * characters (`a{1000}a{1000}`…) stands for thousands of instructions, at two microseconds each.
 */

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;

/** Never much less than it is; more for what is quoted by `\Q`. Stops counting at `max`. */
export function patternSize(source: string, max: number): number {
  const counter = new SizeCounter();
  for (let at = 0; at < source.length && counter.size <= max;) at = counter.take(source, at);
  return counter.size;
}

class SizeCounter {
  size = 0;
  /** Of what a repetition would repeat. */
  #last = 0;
  /** The size before each group that is open. */
  readonly #groups: number[] = [];

  /** Counts what begins here; returns where it ends. */
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

/** After the bracket that closes a class; one right at its beginning is a member. */
function classEnd(source: string, start: number): number {
  let at = start + (source[start + 1] === "^" ? 3 : 2);
  while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}
