import { assert } from "../assert.ts";

/**
 * Gives each child of one actor a path of its own: no two share a queue or a random stream. The second
 * `store` below `cluster` is `cluster/store#2`. Parts restarted in the same order get the same paths.
 */
export class ChildPaths {
  readonly #parent: string;
  readonly #taken = new Map<string, number>();

  constructor(parent: string) {
    this.#parent = parent;
  }

  take(name: string): string {
    assertActorName(name);
    const count = (this.#taken.get(name) ?? 0) + 1;
    this.#taken.set(name, count);
    return `${this.#parent}/${name}${count === 1 ? "" : `#${count}`}`;
  }
}

export function assertActorName(name: string): void {
  assert(
    /^[^/#]+$/.test(name),
    `an actor's name must not be empty or contain "/" or "#", found ${JSON.stringify(name)}`,
  );
}

/** The path without the numbers of repeated actors: a bounded set, suitable for a metric label. */
export function boundedPath(path: string): string {
  return path.replaceAll(/#\d+/g, "");
}
