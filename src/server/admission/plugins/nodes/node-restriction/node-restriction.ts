/**
 * NodeRestriction: limits a compromised node to its own pods. It applies to every user in the group of nodes,
 * whatever other permissions the user has. One table lists the rules; they apply to every kind of write.
 */
import type { TokenRequest } from "../../../../../api/generated/types/authentication-v1.ts";
import type { ApiObject, Requester } from "../../../../../resources/rules/kind-rules.ts";
import type { Authorizer } from "../../../../access/authz/authorizer.ts";
import { demand, isAllowed } from "../../../permission.ts";
import { definePlugin } from "../../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest, Operation } from "../../../plugin.ts";
import { refusal } from "../../../refusal.ts";
import type { NodeRule } from "./node-rule.ts";
import {
  certificateRule,
  claimRule,
  claimStatusRule,
  csiNodeRule,
  leaseRule,
  nodeRule,
  resourceSliceRule,
} from "./node-rules.ts";
import { otherPodRule, podEvictionRule, podRule, podStatusRule } from "./pod-rules.ts";
import { audienceQuestion, tokenRule } from "./token-rules.ts";

const GROUP = "system:nodes";
const PREFIX = "system:node:";
const TOKENS = "serviceaccounts/token";

interface RuleRow {
  readonly resource: string;
  readonly operations: readonly Operation[];
  readonly rule: NodeRule<never>;
}

const WRITES: readonly Operation[] = ["CREATE", "UPDATE", "DELETE"];

const RULES: readonly RuleRow[] = [
  { resource: "pods", operations: WRITES, rule: podRule },
  { resource: "pods/status", operations: WRITES, rule: podStatusRule },
  { resource: "pods/eviction", operations: WRITES, rule: podEvictionRule },
  { resource: "pods/binding", operations: WRITES, rule: otherPodRule },
  { resource: "pods/ephemeralcontainers", operations: WRITES, rule: otherPodRule },
  { resource: "pods/resize", operations: WRITES, rule: otherPodRule },
  { resource: "nodes", operations: WRITES, rule: nodeRule },
  { resource: "nodes/status", operations: WRITES, rule: nodeRule },
  { resource: "persistentvolumeclaims", operations: WRITES, rule: claimRule },
  { resource: "persistentvolumeclaims/status", operations: WRITES, rule: claimStatusRule },
  { resource: TOKENS, operations: ["CREATE"], rule: tokenRule },
  { resource: "leases.coordination.k8s.io", operations: WRITES, rule: leaseRule },
  { resource: "csinodes.storage.k8s.io", operations: WRITES, rule: csiNodeRule },
  { resource: "resourceslices.resource.k8s.io", operations: WRITES, rule: resourceSliceRule },
  {
    resource: "certificatesigningrequests.certificates.k8s.io",
    operations: ["CREATE"],
    rule: certificateRule,
  },
];

const RULE_OF: ReadonlyMap<string, NodeRule> = new Map(
  RULES.map(({ resource, rule }) => [resource, rule as NodeRule]),
);

export function nodeRestriction(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin({
    name: "NodeRestriction",
    interests: RULES.map(({ resource, operations }) => ({ resources: [resource], operations })),

    validate(object, request) {
      const node = nodeOf(request.user);
      if (node === undefined) return;
      const why =
        node === ""
          ? `could not determine node from user "${request.user.name}"`
          : RULE_OF.get(pathOf(request))?.({ node, object, request });
      if (why !== undefined) throw refusal(request, why);
    },

    /** A token for an audience that the pod does not use requires a permission. */
    validateLater(object, request) {
      const node = nodeOf(request.user);
      if (node === undefined || object === undefined || pathOf(request) !== TOKENS) return undefined;
      const asked = audienceQuestion({ node, object: object as ApiObject as TokenRequest, request });
      if (asked === undefined) return undefined;
      const answer = Promise.resolve(authorizer.decide(asked)).then(isAllowed);
      const why = `audience "${asked.resource}" not found in pod spec volume, ${request.user.name} is not authorized to request tokens for this audience`;
      return demand(answer, () => refusal(request, why));
    },
  });
}

/** Name of the node; empty if the user name contains none; undefined for other users. */
function nodeOf({ name, groups }: Requester): string | undefined {
  return name.startsWith(PREFIX) && groups.includes(GROUP) ? name.slice(PREFIX.length) : undefined;
}

function pathOf({ resource: { facts }, subresource }: AdmissionRequest): string {
  const full = facts.group === "" ? facts.name : `${facts.name}.${facts.group}`;
  return subresource === "" ? full : `${full}/${subresource}`;
}
