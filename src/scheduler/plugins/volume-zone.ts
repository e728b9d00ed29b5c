/** Restricts pods to the zones and regions in the labels of their bound volumes. */

import { PersistentVolume } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { ALWAYS } from "../framework/cluster-event.ts";
import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";
import { claimsOf } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import { hasClaims, knownClaims } from "./pod-volume-claims.ts";

const REJECTION = reject("VolumeZone", "node(s) had no available volume zone", false);

/** Current and legacy name of each label. */
const LABELS: readonly (readonly [string, string])[] = [
  ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
  ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
];

/** Separator in the label of a volume in several zones. */
const SEPARATOR = "__";

interface Demand {
  readonly labels: readonly [string, string];
  readonly values: readonly string[];
}

export const volumeZone: PluginFactory = ({ cache }) => ({
  name: "VolumeZone",
  scope: "cluster",
  queueingHints: {
    claim: (pod, { key }) => claimsOf(pod).includes(key),
    volume: ALWAYS,
    storageClass: ALWAYS,
    nodeAdded: ALWAYS,
    nodeLabels: ALWAYS,
  },
  filter({ pod }) {
    if (!hasClaims(pod)) return undefined;
    const demands = knownClaims(pod, cache).flatMap(({ spec }) => {
      const { volumeName } = spec;
      const volume =
        volumeName === undefined ? undefined : cache(PersistentVolume).find({ name: volumeName });
      return volume === undefined ? [] : demandsOf(volume);
    });
    if (demands.length === 0) return undefined;
    return {
      type: "check",
      check: (node) => (demands.every((demand) => isMet(demand, node)) ? undefined : REJECTION),
    };
  },
});

function demandsOf({ metadata }: PersistentVolume): readonly Demand[] {
  return LABELS.flatMap((labels) => {
    const text = ownValue(metadata.labels, labels[0]) ?? ownValue(metadata.labels, labels[1]);
    return text === undefined ? [] : [{ labels, values: text.split(SEPARATOR) }];
  });
}

/** A node without any zone or region label matches all. */
function isMet({ labels: [label, older], values }: Demand, { node }: NodeInfo): boolean {
  const { labels } = node.metadata;
  const isPlaced = LABELS.flat().some((key) => ownValue(labels, key) !== undefined);
  if (!isPlaced) return true;
  const value = ownValue(labels, label) ?? ownValue(labels, older);
  return value !== undefined && values.includes(value);
}
