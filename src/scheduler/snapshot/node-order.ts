/** Order in which nodes are checked: zones take turns, so that the first fitting nodes are in many zones. */

import { ownValue } from "../../resources/rules/value-rules.ts";
import type { NodeInfo } from "./node-info.ts";

const REGION_LABELS = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE_LABELS = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

export function zoneOf({ node }: NodeInfo): string {
  const { labels } = node.metadata;
  const first = (keys: readonly string[]): string =>
    keys.map((key) => ownValue(labels, key)).find((value) => value !== undefined) ?? "";
  return `${first(REGION_LABELS)}\0${first(ZONE_LABELS)}`;
}

export function interleaveZones(nodes: Iterable<NodeInfo>): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    const others = zones.get(zone);
    if (others === undefined) zones.set(zone, [node]);
    else others.push(node);
  }
  const lists = [...zones.values()];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const ordered: NodeInfo[] = [];
  for (let round = 0; round < longest; round++) {
    for (const list of lists) {
      const node = list[round];
      if (node !== undefined) ordered.push(node);
    }
  }
  return ordered;
}
