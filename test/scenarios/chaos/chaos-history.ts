/** Every change that a store has seen, in order, as objects. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import { isStoreError } from "../../../src/store/store-error.ts";
import type { Store, WatchEvent } from "../../../src/store/store.ts";

export interface Change {
  readonly revision: number;
  /** Time at which it was seen, which is at once. */
  readonly at: number;
  readonly key: string;
  readonly kind: string;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

export class ChaosHistory {
  readonly changes: Change[] = [];
  revision = 0;
  readonly #now: () => number;
  readonly #newest = new Map<string, ApiObject>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Follows the store until it is closed. */
  async follow(store: Store): Promise<void> {
    const watch = store.watch({ prefix: "", after: store.view.revision, lane: "background" });
    try {
      for await (const { events, revision } of watch) {
        for (const event of events) this.#take(event);
        this.revision = revision;
      }
    } catch (error) {
      if (!isStoreError(error, "Closed")) throw error;
    }
  }

  #take({ key, revision, after }: WatchEvent): void {
    if (!key.startsWith("/registry/")) return;
    const before = this.#newest.get(key);
    const object = after === undefined ? undefined : objectOf(after.value);
    if (object === undefined) this.#newest.delete(key);
    else this.#newest.set(key, object);
    const kind = (object ?? before)?.kind ?? "";
    this.changes.push({ revision, at: this.#now(), key, kind, before, after: object });
  }

  /** Objects that exist now. */
  left(): readonly ApiObject[] {
    return [...this.#newest.values()];
  }
}

function objectOf(value: Uint8Array): ApiObject {
  return JSON.parse(Buffer.from(value).toString()) as ApiObject;
}
