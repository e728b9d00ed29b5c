/**
 * Prevents privilege escalation: a user grants by a role or binding only permissions that the user holds. The verbs
 * `escalate` and `bind` override that. The plugin judges the object to be stored, so every kind of request is
 * covered. No option disables it.
 */
import { forbidden, notFound } from "../../../../api/errors/api-error.ts";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from "../../../../api/generated/types/rbac-v1.ts";
import { jsonEqual } from "../../../../api/patch/json-equal.ts";
import type { Loop } from "../../../../base/loop/loop.ts";
import { runInTurns } from "../../../../base/loop/run-in-turns.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import { isPrivileged } from "../../../access/authz/authorization.ts";
import type { AccessAttributes, Authorizer } from "../../../access/authz/authorizer.ts";
import { RbacAuthorizer } from "../../../access/authz/rbac/rbac-authorizer.ts";
import type { RoleIndex } from "../../../access/authz/rbac/role-index.ts";
import { compactRules, findUncovered, listText, ruleText } from "../../../access/authz/rbac/rule-cover.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

type Guarded = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

interface Guard {
  readonly loop: Loop;
  readonly authorizer: Authorizer;
  readonly book: RoleIndex;
  /** Authorizer with RBAC only: permissions from other authorizers do not count as held. */
  readonly holdings: RbacAuthorizer;
}

export function roleEscalation(parts: {
  readonly loop: Loop;
  readonly authorizer: Authorizer;
  readonly book: RoleIndex;
}): AdmissionPlugin {
  const guard = { ...parts, holdings: new RbacAuthorizer(parts.book) };
  return definePlugin<Guarded>({
    name: "RoleEscalation",
    interests: [
      {
        resources: ["roles", "clusterroles", "rolebindings", "clusterrolebindings"].map(
          (name) => `${name}.${GROUP}`,
        ),
        operations: ["CREATE", "UPDATE"],
      },
    ],
    validateLater: (object, request) => {
      if (object === undefined || isPrivileged(request.user) || changesOwnersOnly(object, request))
        return undefined;
      return insist(object, request, guard);
    },
  });
}

async function insist(object: Guarded, request: AdmissionRequest, guard: Guard): Promise<void> {
  const { outcome } = await guard.authorizer.decide(exemption(object, request));
  if (outcome !== "allowed") await runInTurns(check(object, request, guard), guard.loop);
}

/** Permission that allows a user to grant more than the user holds. */
function exemption(object: Guarded, { resource, verb, user, namespace }: AdmissionRequest): AccessAttributes {
  const isRole = !("roleRef" in object);
  const plural = isRole ? resource.facts.name : object.roleRef.kind === "Role" ? "roles" : "clusterroles";
  // A POST has no name in its path; an apply has one, even for a new object.
  const own = verb === "create" ? "" : object.metadata.name;
  return {
    user,
    verb: isRole ? "escalate" : "bind",
    path: "",
    group: GROUP,
    version: "*",
    resource: plural,
    subresource: "",
    namespace,
    name: isRole ? own : object.roleRef.name,
    fieldSelector: "",
    labelSelector: "",
  };
}

function* check(object: Guarded, request: AdmissionRequest, guard: Guard): Generator<undefined, undefined> {
  const wanted = "roleRef" in object ? rulesOf(object, guard.book) : object.rules;
  const refusal = yield* findEscalation(wanted, request, guard.holdings);
  if (refusal !== undefined) throw refuse(request, object, refusal);
  // An aggregating role may gather any rules later, so it requires all permissions.
  const gathers = hasAggregation(object) || hasAggregation(request.previous as Guarded | undefined);
  if (gathers && (yield* findEscalation(EVERYTHING, request, guard.holdings)) !== undefined)
    throw refuse(request, object, "must have cluster-admin privileges to use the aggregationRule");
}

function hasAggregation(object: Guarded | undefined): boolean {
  return object !== undefined && "aggregationRule" in object && object.aggregationRule !== undefined;
}

function rulesOf(binding: RoleBinding | ClusterRoleBinding, book: RoleIndex): readonly PolicyRule[] {
  const { roleRef, metadata } = binding;
  const rules = book.findRules(roleRef, metadata.namespace ?? "");
  if (rules !== undefined) return rules;
  const resource = roleRef.kind === "Role" ? "roles" : "clusterroles";
  throw notFound({ group: GROUP, resource }, roleRef.name);
}

/** Undefined if the user holds all wanted permissions. */
function* findEscalation(
  wanted: readonly PolicyRule[],
  { user, namespace }: AdmissionRequest,
  holdings: RbacAuthorizer,
): Generator<undefined, string | undefined> {
  const { rules, error } = holdings.rulesFor(user, namespace);
  const { parts, isComplete } = yield* findUncovered(rules, wanted);
  if (parts.length === 0 && isComplete) return undefined;
  const who = `user ${JSON.stringify(user.name)} (groups=${listText(user.groups)})`;
  if (parts.length === 0)
    return `${who} is attempting to grant RBAC permissions that are too many to compare with those held: use fewer or shorter rules`;
  const texts = [...new Set(compactRules(parts).map(ruleText))].toSorted();
  const unknown = error === undefined ? "" : `; resolution errors: [${error}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join("\n")}${unknown}`;
}

function refuse({ resource }: AdmissionRequest, { metadata }: Guarded, why: string): Error {
  return forbidden({ group: GROUP, resource: resource.facts.name }, metadata.name, why);
}

/** A change of owners or finalizers by the garbage collector grants nothing. */
function changesOwnersOnly(object: Guarded, { previous }: AdmissionRequest): boolean {
  return previous !== undefined && jsonEqual(essenceOf(object), essenceOf(previous));
}

function essenceOf({ metadata, ...rest }: ApiObject): unknown {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managed,
    resourceVersion: _version,
    ...kept
  } = metadata as ApiObject["metadata"] & { readonly managedFields?: unknown };
  return { ...rest, metadata: kept };
}
