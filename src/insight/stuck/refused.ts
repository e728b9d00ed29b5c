/** The server refuses a write of the loop, for another reason than those with rules of their own. */
import { findCondition } from "../state/conditions.ts";
import { findFailure } from "./failure.ts";
import type { Remedy, Situation, StuckRule } from "./situation.ts";
import { inNamespace, kubectlName } from "./situation.ts";

const FORBIDDEN = /^(?:Error creating: )?[a-z.]+ "[^"]*" is forbidden: /;
const POLICY = /ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.*)/s;
const RANGE = /(minimum|maximum) (\S+) usage per (?:Container|Pod) is ([^\s,]+)/;
const POD_SECURITY = /violates PodSecurity "([^"]+)": (.*)/s;

export const refusedRule: StuckRule = (situation) => {
  const failure = findFailure(situation);
  if (failure === undefined) return undefined;
  const text = failure.message.replace(FORBIDDEN, "");
  const edit = { command: `kubectl edit ${kubectlName(situation.top)}`, effect: "change the refused field" };
  const [, policy, why = ""] = POLICY.exec(text) ?? [];
  if (policy !== undefined) {
    const command = `kubectl get validatingadmissionpolicy ${policy} -o yaml`;
    return {
      blockedBy: `ValidatingAdmissionPolicy ${policy} refuses the write: ${why}`,
      unblock: [edit, { command, effect: "see the rules of the policy" }],
    };
  }
  const [, profile, faults = ""] = POD_SECURITY.exec(text) ?? [];
  if (profile !== undefined)
    return {
      blockedBy: `Pod Security of the namespace (${profile}) refuses the pods: ${faults}`,
      unblock: [edit, profileRemedy(situation)],
    };
  const ranges = rangeRemedies(situation, text);
  return { blockedBy: `a refused write: ${text}`, unblock: ranges.length > 0 ? ranges : [edit] };
};

/** A Deployment repeats the failure of its ReplicaSet, which the user may not be allowed to read. */
export const refusedBelowRule: StuckRule = (situation) => {
  const failure = findCondition(situation.object, "ReplicaFailure");
  if (failure?.status !== "True") return undefined;
  const effect = "change the refused field";
  return {
    blockedBy: `a refused write: ${failure.message ?? failure.reason ?? ""}`,
    unblock: [{ command: `kubectl edit ${kubectlName(situation.top)}`, effect }],
  };
};

function profileRemedy({ object }: Situation): Remedy {
  const label = "pod-security.kubernetes.io/enforce=privileged --overwrite";
  const command = `kubectl label namespace ${object.metadata.namespace ?? ""} ${label}`;
  return { command, effect: "allow every pod there" };
}

function rangeRemedies({ object, top }: Situation, text: string): readonly Remedy[] {
  const [, end, resource, bound] = RANGE.exec(text) ?? [];
  if (end === undefined || resource === undefined || bound === undefined) return [];
  const effect = `ask for ${bound} of ${resource} or ${end === "minimum" ? "more" : "less"}`;
  return [
    { command: `kubectl edit ${kubectlName(top)}`, effect },
    {
      command: `kubectl get limitrange${inNamespace(object.metadata.namespace)} -o yaml`,
      effect: "see all bounds",
    },
  ];
}
