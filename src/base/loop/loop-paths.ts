import { assert } from "../assert.ts";

/**
 * Gives each actor below one parent a path of its own, so that no two of them share a queue or a random stream.
 * The second `store` below `cluster` is `cluster/store#2`: who restarts a part in the same order gets the same paths.
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
    `an actor's name is not empty and has no "/" or "#", found ${JSON.stringify(name)}`,
  );
}

/** The path without the numbers of repeated actors: a bounded set, fit for a metric's label. */
export function boundedPath(path: string): string {
  return path.replaceAll(/#\d+/g, "");
}
