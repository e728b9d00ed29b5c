/** Which taints a node carries because of its conditions. Taints that others have put there stay, in their order. */
import type { Node, Taint } from "../../api/generated/types/core-v1.ts";
import { readyOf } from "./node-health.ts";

const PREFIX = "node.kubernetes.io/";
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;

/** Condition=status → the taint that keeps new pods away. */
const BY_CONDITION: ReadonlyMap<string, string> = new Map([
  ["Ready=False", NOT_READY],
  ["Ready=Unknown", UNREACHABLE],
  ["MemoryPressure=True", `${PREFIX}memory-pressure`],
  ["DiskPressure=True", `${PREFIX}disk-pressure`],
  ["PIDPressure=True", `${PREFIX}pid-pressure`],
  ["NetworkUnavailable=True", `${PREFIX}network-unavailable`],
]);
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

const OWN_NO_SCHEDULE: ReadonlySet<string> = new Set([...BY_CONDITION.values(), UNSCHEDULABLE]);
const OWN_NO_EXECUTE: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE]);

/** `drives`: whether pods may be driven away from a node that is not ready. */
export interface TaintWish {
  readonly drives: boolean;
  readonly time: string;
}

/** Undefined when the node has them already. */
export function findTaintChange(node: Node, { drives, time }: TaintWish): readonly Taint[] | undefined {
  const known = node.spec.taints ?? [];
  const wanted = new Set(wantedTaints(node, drives));
  const kept = known.filter((taint) => !isOwn(taint) || wanted.has(keyOf(taint)));
  const keptKeys = new Set(kept.map(keyOf));
  const added = [...wanted]
    .filter((key) => !keptKeys.has(key))
    .map((text): Taint => {
      const [key = "", effect = ""] = text.split(":");
      return { effect: effect === "NoExecute" ? "NoExecute" : "NoSchedule", key, timeAdded: time };
    });
  return added.length === 0 && kept.length === known.length ? undefined : [...kept, ...added];
}

/** The node drives pods away because it is not ready. */
export function isDriving({ spec }: Node): boolean {
  return (spec.taints ?? []).some(({ key, effect }) => effect === "NoExecute" && OWN_NO_EXECUTE.has(key));
}

function wantedTaints(node: Node, drives: boolean): readonly string[] {
  const keys = (node.status.conditions ?? []).flatMap(({ type, status }) => {
    const key = BY_CONDITION.get(`${type}=${status}`);
    return key === undefined ? [] : [key];
  });
  if (node.spec.unschedulable === true) keys.push(UNSCHEDULABLE);
  const driving = drives ? BY_CONDITION.get(`Ready=${readyOf(node)?.status ?? "Unknown"}`) : undefined;
  const effects = keys.map((key) => `${key}:NoSchedule`);
  return driving === undefined ? effects : [...effects, `${driving}:NoExecute`];
}

function isOwn({ key, effect }: Taint): boolean {
  if (effect === "NoSchedule") return OWN_NO_SCHEDULE.has(key);
  return effect === "NoExecute" && OWN_NO_EXECUTE.has(key);
}

function keyOf({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}
