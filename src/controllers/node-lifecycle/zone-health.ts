/**
 * How fast nodes that are not ready may drive their pods away, zone by zone. When most of a zone is gone, it is more likely that the zone
 * cannot be seen than that all its machines broke; when nothing can be seen at all, nobody is driven away.
 */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { isNodeReady } from "./node-health.ts";

/** Nodes per second, as upstream's defaults. */
const NORMAL_RATE = 0.1;
const CAREFUL_RATE = 0.01;
/** A zone above this many nodes goes on slowly while most of it is gone, a smaller one waits. */
const LARGE_ZONE = 50;
const UNHEALTHY_SHARE = 0.55;
/** Fewer than three are never most of a zone. */
const UNHEALTHY_MIN = 3;
/** On nodes that come and go as somebody likes, and say nothing about their zone. */
const EXCLUDED = "node.kubernetes.io/exclude-disruption";

export type ZoneState = "Normal" | "PartialDisruption" | "FullDisruption";

export interface Zone {
  readonly state: ZoneState;
  readonly perSecond: number;
}

export function zoneOf({ metadata }: Node): string {
  const region = ownValue(metadata.labels, "topology.kubernetes.io/region") ?? "";
  const zone = ownValue(metadata.labels, "topology.kubernetes.io/zone") ?? "";
  return region === "" && zone === "" ? "" : `${region}:${zone}`;
}

export interface ZoneHealth {
  readonly zones: ReadonlyMap<string, Zone>;
  /** No node of any zone is ready, of those that say something about it. */
  readonly isAllDark: boolean;
}

export function zoneHealth(nodes: readonly Node[]): ZoneHealth {
  const counts = new Map<string, { ready: number; notReady: number }>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    const count = counts.get(zone) ?? { ready: 0, notReady: 0 };
    counts.set(zone, count);
    if (ownValue(node.metadata.labels, EXCLUDED) !== undefined) continue;
    if (isNodeReady(node)) count.ready++;
    else count.notReady++;
  }
  const states = [...counts].map(([zone, count]) => ({ zone, count, state: stateOf(count) }));
  const told = states.filter(({ count }) => count.ready + count.notReady > 0);
  const isAllDark = told.length > 0 && told.every(({ state }) => state === "FullDisruption");
  return {
    isAllDark,
    zones: new Map(
      states.map(({ zone, state, count }) => {
        const perSecond = isAllDark ? 0 : rateOf(state, count.ready + count.notReady);
        return [zone, { state, perSecond }];
      }),
    ),
  };
}

function stateOf({ ready, notReady }: { readonly ready: number; readonly notReady: number }): ZoneState {
  if (ready === 0 && notReady > 0) return "FullDisruption";
  const isMost = notReady / (ready + notReady) >= UNHEALTHY_SHARE;
  return notReady >= UNHEALTHY_MIN && isMost ? "PartialDisruption" : "Normal";
}

/** A zone that is wholly gone beside others that are not goes at the normal rate. */
function rateOf(state: ZoneState, size: number): number {
  if (state !== "PartialDisruption") return NORMAL_RATE;
  return size > LARGE_ZONE ? CAREFUL_RATE : 0;
}
