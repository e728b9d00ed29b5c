/**
 * Position of a watch. Two objects may change at one revision (keys that expire together do), and a connection may
 * break between their events. So a revision is complete only once a later event arrives, and a watch resumes after
 * the last complete one. Repeated changes are recognised and skipped: no event is lost or delivered twice.
 *
 * Example: events at 5 (a) and 7 (b), then the connection breaks: complete is 5, partial is 7 with b. The resumed
 * watch sends 7 (b), which is skipped, and 7 (c), which is new.
 */
import { orderOfVersions } from "../refs/resource-version.ts";

export interface Position {
  /** Every change up to this version was delivered. */
  readonly complete: string;
  /** The newest revision of which changes were delivered, and the objects they concern. */
  readonly partial?: { readonly version: string; readonly keys: ReadonlySet<string> };
}

/** The newest resourceVersion delivered. */
export function newestVersion({ complete, partial }: Position): string {
  return partial?.version ?? complete;
}

/** The position after a change; undefined when the change was delivered already. */
export function afterChange(position: Position, version: string, key: string): Position | undefined {
  const { complete, partial } = position;
  const order = orderOfVersions(version, complete);
  if (order === "older" || order === "same") return undefined;
  if (partial === undefined) return { complete, partial: { version, keys: new Set([key]) } };
  switch (orderOfVersions(version, partial.version)) {
    case "older":
      return undefined;
    case "same":
      if (partial.keys.has(key)) return undefined;
      return { complete, partial: { version, keys: new Set([...partial.keys, key]) } };
    case "newer":
    case "unknown":
      return { complete: partial.version, partial: { version, keys: new Set([key]) } };
  }
}

/**
 * The position after a bookmark, which promises that everything up to it was sent. A bookmark older than the last
 * delivery changes nothing. One older than the start of the watch shows a server that is behind: undefined.
 */
export function afterBookmark(position: Position, version: string): Position | undefined {
  if (orderOfVersions(version, position.complete) === "older") return undefined;
  return orderOfVersions(version, newestVersion(position)) === "older" ? position : { complete: version };
}
