/** Order of groups and versions in discovery. Clients prefer the first of several. */
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import { compareVersions } from "../../../api/values/version-order.ts";
import type { RemoteVersion } from "../../aggregation/remote-discovery.ts";

/** Served by this server or by an extension server. */
export type ServedVersion = GroupVersionFacts | RemoteVersion;

export interface Group {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly [ServedVersion, ...ServedVersion[]];
}

/** All groups except the core group, by descending priority. The aggregator's own group has no priority and comes first. */
export function orderedGroups(groupVersions: readonly ServedVersion[]): readonly Group[] {
  const byName = new Map<string, ServedVersion[]>();
  for (const groupVersion of groupVersions) {
    if (groupVersion.group === "") continue;
    byName.set(groupVersion.group, [...(byName.get(groupVersion.group) ?? []), groupVersion]);
  }
  return [...byName]
    .map(([name, versions]) => ({ name, versions: orderedVersions(versions) }))
    .toSorted(
      (left, right) => groupPriority(right) - groupPriority(left) || (left.name < right.name ? -1 : 1),
    );
}

export function orderedVersions(versions: readonly ServedVersion[]): Group["versions"] {
  const [first, ...rest] = versions.toSorted(
    (left, right) => priority(right) - priority(left) || compareVersions(right.version, left.version),
  );
  if (first === undefined) throw new Error("a group has at least one version");
  return [first, ...rest];
}

/** The highest priority among the versions of a group. */
function groupPriority({ versions }: Group): number {
  return Math.max(...versions.map(({ order }) => order?.[0] ?? Infinity));
}

function priority({ order }: ServedVersion): number {
  return order?.[1] ?? 0;
}
