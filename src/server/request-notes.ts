/** What is noted about a request while it is worked on: warnings for its client, annotations for the audit log. */

/** More than that help nobody. As upstream, what is said twice is said once. */
const WARNINGS_MAX = 64;
const ANNOTATIONS_MAX = 64;
const ANNOTATION_CHARS_MAX = 10_240;

const NONE: readonly string[] = [];

export class RequestNotes {
  #warnings: string[] | undefined;
  #annotations: Map<string, string> | undefined;

  get warnings(): readonly string[] {
    return this.#warnings ?? NONE;
  }

  get annotations(): ReadonlyMap<string, string> {
    return this.#annotations ?? new Map();
  }

  warn(text: string): void {
    this.#warnings ??= [];
    if (this.#warnings.length < WARNINGS_MAX && !this.#warnings.includes(text)) this.#warnings.push(text);
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map();
    if (this.#annotations.size >= ANNOTATIONS_MAX || this.#annotations.has(key)) return;
    this.#annotations.set(key, value.slice(0, ANNOTATION_CHARS_MAX));
  }
}
