/** A ResourceQuota refuses more objects or more resources. */
import { durationText } from "../text/duration-text.ts";
import { findFailure } from "./failure.ts";
import type { Situation, StuckRule } from "./situation.ts";
import { inNamespace, kubectlName } from "./situation.ts";

/** `exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3` */
const EXCEEDED = /exceeded quota: ([^,\s]+), requested: (.*?), used: (.*?), limited: (.*)$/;

export const quotaRule: StuckRule = (situation) => {
  // A Deployment repeats the message of its ReplicaSet, which also knows the number of refusals.
  if (situation.type.kind === "Deployment") return undefined;
  const failure = findFailure(situation);
  const [, quota, requested = "", used = "", limited = ""] = EXCEEDED.exec(failure?.message ?? "") ?? [];
  if (quota === undefined || failure === undefined) return undefined;
  const { namespace = "" } = situation.object.metadata;
  const [limits, uses] = [valuesIn(limited), valuesIn(used)];
  const shares = [...valuesIn(requested).keys()].map(
    (name) => `${name} ${uses.get(name) ?? "?"} of ${limits.get(name) ?? "?"} used`,
  );
  const names = [...limits.keys()].map((name) => `spec.hard.${name}`).join(" and ");
  const place = `ResourceQuota ${namespace}/${quota}`;
  return {
    blockedBy: `${place}: ${shares.join(", ")}; ${attemptsText(situation, failure.count)}`,
    unblock: [
      { command: `kubectl edit quota ${quota}${inNamespace(namespace)}`, effect: `raise ${names}` },
      { command: `kubectl scale ${scaledName(situation)} --replicas=N`, effect: "ask for less" },
    ],
  };
};

/** A Deployment would undo the scaling of its ReplicaSet. */
function scaledName(situation: Situation): string {
  const { metadata } = situation.object;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return kubectlName(situation);
  return `${owner.kind.toLowerCase()} ${owner.name}${inNamespace(metadata.namespace)}`;
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
