/**
 * Computes how fast unready nodes may evict their pods, by zone.
 *
 * If most of a zone is unready, a network failure is likelier than broken machines, so evictions slow down. If all zones are unready, they
 * stop.
 */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { isNodeReady } from "./node-health.ts";

/** Nodes per second; upstream's defaults. */
const NORMAL_RATE = 0.1;
const CAREFUL_RATE = 0.01;
/** While most of a zone is unready, a zone above this size evicts slowly, and a smaller one stops. */
const LARGE_ZONE = 50;
const UNHEALTHY_SHARE = 0.55;
/** Fewer unready nodes than this never count as most of a zone. */
const UNHEALTHY_MIN = 3;
/** Label of short-lived nodes, which do not count for the health of their zone. */
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
  /** No counted node of any zone is ready. */
  readonly isFullOutage: boolean;
}

type Group = "ready" | "notReady" | "excluded";
type ZoneCount = Record<Group, number>;

/** Counts the nodes of each zone, so that the health of the zones costs no visit of all nodes. */
export class ZoneCounts {
  readonly #nodes = new Map<string, { readonly zone: string; readonly group: Group }>();
  readonly #zones = new Map<string, ZoneCount>();

  /** Adds the node, or takes over its new state. */
  put(node: Node): void {
    const { name } = node.metadata;
    this.remove(name);
    const [zone, group] = [zoneOf(node), groupOf(node)];
    this.#nodes.set(name, { zone, group });
    const count = this.#zones.get(zone) ?? { ready: 0, notReady: 0, excluded: 0 };
    this.#zones.set(zone, count);
    count[group]++;
  }

  remove(name: string): void {
    const known = this.#nodes.get(name);
    const count = this.#zones.get(known?.zone ?? "");
    if (known === undefined || count === undefined) return;
    this.#nodes.delete(name);
    count[known.group]--;
    if (count.ready + count.notReady + count.excluded === 0) this.#zones.delete(known.zone);
  }

  health(): ZoneHealth {
    return healthOf(this.#zones);
  }
}

function groupOf(node: Node): Group {
  if (ownValue(node.metadata.labels, EXCLUDED) !== undefined) return "excluded";
  return isNodeReady(node) ? "ready" : "notReady";
}

function healthOf(counts: ReadonlyMap<string, ZoneCount>): ZoneHealth {
  const states = [...counts].map(([zone, count]) => ({ zone, count, state: stateOf(count) }));
  const counted = states.filter(({ count }) => count.ready + count.notReady > 0);
  const isFullOutage = counted.length > 0 && counted.every(({ state }) => state === "FullDisruption");
  return {
    isFullOutage,
    zones: new Map(
      states.map(({ zone, state, count }) => {
        const perSecond = isFullOutage ? 0 : rateOf(state, count.ready + count.notReady);
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

/** A fully unready zone beside healthy ones evicts at the normal rate. */
function rateOf(state: ZoneState, size: number): number {
  if (state !== "PartialDisruption") return NORMAL_RATE;
  return size > LARGE_ZONE ? CAREFUL_RATE : 0;
}
