/**
 * How far a watch has come. Two objects may change at one revision (keys that expire together do), and a connection may break between
 * their events; so a revision counts as complete only once something later came, and a watch resumes after the last complete one.
 * What it is then told again is recognised and left out: no event is lost, none delivered twice.
 *
 * Example: events at 5 (a), 7 (b), and the connection breaks: complete is 5, partial 7 with b. The watch after 5 brings 7 (b), which is
 * known, and 7 (c), which is new.
 */
import { orderOfVersions } from "../refs/resource-version.ts";

export interface Position {
  /** Every change up to here was delivered. */
  readonly complete: string;
  /** The newest revision of which a change was delivered, and of which objects. */
  readonly partial?: { readonly version: string; readonly keys: ReadonlySet<string> };
}

/** The newest resource version that was seen. */
export function newestVersion({ complete, partial }: Position): string {
  return partial?.version ?? complete;
}

/** The position after a change, or undefined when that was delivered before. */
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
 * The position after a bookmark, which promises that everything up to it was sent. One that is older than what was delivered changes
 * nothing; one that is older than where the watch began shows a server that is behind: undefined.
 */
export function afterBookmark(position: Position, version: string): Position | undefined {
  if (orderOfVersions(version, position.complete) === "older") return undefined;
  return orderOfVersions(version, newestVersion(position)) === "older" ? position : { complete: version };
}
