/** Tracks which resource versions a cache has seen. */
import type { ApiObject } from "../../api/api-object.ts";
import { isNumber, orderOfVersions } from "../refs/resource-version.ts";
import type { WatcherEvent } from "../watch/watcher-event.ts";

/**
 * Upper bound of remembered versions without order: as many as may arrive between the event of a write and its
 * response.
 */
const REMEMBERED_MAX = 1024;

export class SeenVersions {
  #newest: string | undefined;
  /** Versions without order, oldest first. */
  readonly #remembered = new Set<string>();

  get newest(): string | undefined {
    return this.#newest;
  }

  note(event: WatcherEvent<ApiObject>): void {
    this.#newest = event.resourceVersion;
    if (isNumber(event.resourceVersion)) return;
    if (event.type === "reset") this.#remembered.clear();
    if (event.type === "changes")
      for (const { object } of event.changes) this.#remember(object.metadata.resourceVersion);
    this.#remember(event.resourceVersion);
  }

  /** True also when a later version was seen. */
  has(version: string): boolean {
    if (this.#newest === undefined) return false;
    const order = orderOfVersions(this.#newest, version);
    return order === "same" || order === "newer" || this.#remembered.has(version);
  }

  #remember(version: string | undefined): void {
    if (version === undefined) return;
    this.#remembered.add(version);
    if (this.#remembered.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#remembered;
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}
