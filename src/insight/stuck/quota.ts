/** A ResourceQuota refuses more objects or more resources. */
import { addQuantities, formatQuantity, parseQuantity } from "../../api/values/quantity.ts";
import { durationText } from "../text/duration-text.ts";
import { findFailure } from "./failure.ts";
import type { Finding, Remedy, Situation, StuckRule } from "./situation.ts";
import { inNamespace, kubectlName } from "./situation.ts";

/** `exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3` */
const EXCEEDED = /exceeded quota: ([^,\s]+), requested: (.*?), used: (.*?), limited: (.*)$/;

const SCALED = new Set(["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"]);

/** `failed quota: q: must specify limits.memory for: app; requests.memory for: app` */
const UNSTATED = /failed quota: ([^:\s]+): must specify (.*)$/;

export const quotaRule: StuckRule = (situation) => {
  const failure = findFailure(situation);
  const [, quota, requested = "", used = "", limited = ""] = EXCEEDED.exec(failure?.message ?? "") ?? [];
  if (failure === undefined) return undefined;
  if (quota === undefined) return unstated(situation, failure.message);
  const { namespace = "" } = situation.object.metadata;
  const [limits, uses] = [valuesIn(limited), valuesIn(used)];
  const shares = [...valuesIn(requested).keys()].map(
    (name) => `${name} ${uses.get(name) ?? "?"} of ${limits.get(name) ?? "?"} used`,
  );
  const missing = missingCount(situation);
  const raises = [...valuesIn(requested)].map(
    ([name, amount]) => `spec.hard.${name} to ${enough(uses.get(name), amount, missing)}`,
  );
  const place = `ResourceQuota ${namespace}/${quota}`;
  return {
    blockedBy: `${place}: ${shares.join(", ")}; ${attemptsText(situation, failure.count)}`,
    unblock: [
      {
        command: `kubectl edit quota ${quota}${inNamespace(namespace)}`,
        effect: `raise ${raises.join(" and ")} or more`,
      },
      ...scaleRemedy(situation),
    ],
  };
};

function unstated(situation: Situation, message: string): Finding | undefined {
  const [, quota, fields] = UNSTATED.exec(message) ?? [];
  if (quota === undefined || fields === undefined) return undefined;
  const { namespace = "" } = situation.object.metadata;
  const command = `kubectl set resources ${kubectlName(situation.top)}`;
  const names = [...fields.matchAll(/([a-z.-]+) for/g)].map(([, name = ""]) => name);
  const of = (part: string): string => {
    const found = names.filter(
      (name) => name.startsWith(`${part}.`) || (part === "requests" && !name.includes(".")),
    );
    return found.length === 0 ? "" : ` --${part}=${found.map(amountOf).join(",")}`;
  };
  return {
    blockedBy: `ResourceQuota ${namespace}/${quota} refuses pods that do not state ${names.join(" and ")}`,
    unblock: [
      { command: `${command}${of("requests")}${of("limits")}`, effect: "state them, for example so" },
    ],
  };
}

/** An example amount of `limits.memory` or `cpu`. */
function amountOf(name: string): string {
  const resource = name.replace(/^(requests|limits)\./, "");
  return `${resource}=${resource === "cpu" ? "100m" : "128Mi"}`;
}

/** Number of pods that are still to be created. */
function missingCount({ object }: Situation): bigint {
  const { spec, status } = object as {
    readonly spec?: { readonly replicas?: number };
    readonly status?: { readonly replicas?: number };
  };
  return BigInt(Math.max(1, (spec?.replicas ?? 1) - (status?.replicas ?? 0)));
}

/** `?` for a text that is no quantity. */
function enough(used: string | undefined, amount: string, count: bigint): string {
  try {
    const each = parseQuantity(amount);
    const more = { nano: each.nano * count, format: each.format };
    return formatQuantity(addQuantities(parseQuantity(used ?? "0"), more));
  } catch (error) {
    if (error instanceof SyntaxError) return "?";
    throw error;
  }
}

/** A workload is scaled at its top: its owner would undo the scaling of a ReplicaSet. */
function scaleRemedy({ top }: Situation): readonly Remedy[] {
  const { status } = top.object as { readonly status?: { readonly replicas?: number } };
  if (!SCALED.has(top.type.kind)) return [];
  const command = `kubectl scale ${kubectlName(top)} --replicas=${String(status?.replicas ?? 0)}`;
  return [{ command, effect: "ask for no more than there are" }];
}

function attemptsText({ events, now }: Situation, count: number): string {
  const last = Date.parse(events[0]?.lastTimestamp ?? "");
  const times = count === 1 ? "once" : `${String(count)} times`;
  return `refused ${times}${Number.isNaN(last) ? "" : `, last ${durationText(now - last)} ago`}`;
}

/** `pods=3,requests.cpu=1` */
function valuesIn(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(",").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
}
