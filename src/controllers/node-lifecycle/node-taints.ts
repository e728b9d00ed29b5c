/** Computes a node's taints from its conditions. Taints of other writers stay, in their order. */
import type { Node, Taint } from "../../api/generated/types/core-v1.ts";
import { readyOf } from "./node-health.ts";

const PREFIX = "node.kubernetes.io/";
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;

/** NoSchedule taint by condition and status. */
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

/** `evicts`: an unready node gets the NoExecute taint. */
export interface TaintOptions {
  readonly evicts: boolean;
  readonly time: string;
}

/** Undefined if the node has the wanted taints. */
export function findTaintChange(node: Node, { evicts, time }: TaintOptions): readonly Taint[] | undefined {
  const known = node.spec.taints ?? [];
  const wanted = new Set(wantedTaints(node, evicts));
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

/** The node has a NoExecute taint because it is not ready. */
export function isEvicting({ spec }: Node): boolean {
  return (spec.taints ?? []).some(({ key, effect }) => effect === "NoExecute" && OWN_NO_EXECUTE.has(key));
}

function wantedTaints(node: Node, evicts: boolean): readonly string[] {
  const keys = (node.status.conditions ?? []).flatMap(({ type, status }) => {
    const key = BY_CONDITION.get(`${type}=${status}`);
    return key === undefined ? [] : [key];
  });
  if (node.spec.unschedulable === true) keys.push(UNSCHEDULABLE);
  const evicting = evicts ? BY_CONDITION.get(`Ready=${readyOf(node)?.status ?? "Unknown"}`) : undefined;
  const effects = keys.map((key) => `${key}:NoSchedule`);
  return evicting === undefined ? effects : [...effects, `${evicting}:NoExecute`];
}

function isOwn({ key, effect }: Taint): boolean {
  if (effect === "NoSchedule") return OWN_NO_SCHEDULE.has(key);
  return effect === "NoExecute" && OWN_NO_EXECUTE.has(key);
}

function keyOf({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}
