/**
 * Nobody hands out by a role or a binding what they do not hold themselves, unless they may `escalate` the role or `bind` it. It looks at
 * the object that will be stored, so it does not matter by which kind of request it came, and it cannot be turned off.
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
import { inTurns } from "../../../../base/loop/in-turns.ts";
import type { Loop } from "../../../../base/loop/loop.ts";
import { whenDone } from "../../../../base/loop/soon.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import { isPrivileged } from "../../../access/authz/authorizer-chain.ts";
import type { AccessAttributes, Authorizer } from "../../../access/authz/authorizer.ts";
import { RbacAuthorizer } from "../../../access/authz/rbac/rbac-authorizer.ts";
import type { RoleBook } from "../../../access/authz/rbac/role-book.ts";
import { compactRules, findShortfall, listText, ruleText } from "../../../access/authz/rbac/rule-cover.ts";
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
  readonly book: RoleBook;
  /** Only what roles give counts as held. */
  readonly holdings: RbacAuthorizer;
}

export function roleEscalation(parts: {
  readonly loop: Loop;
  readonly authorizer: Authorizer;
  readonly book: RoleBook;
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
      const decision = guard.authorizer.decide(exemption(object, request));
      const checked = whenDone(decision, ({ outcome }) =>
        outcome === "allowed" ? undefined : inTurns(check(object, request, guard), guard.loop),
      );
      return checked instanceof Promise ? checked : undefined;
    },
  });
}

/** What somebody must be allowed to do who may hand out more than they hold. */
function exemption(object: Guarded, { resource, verb, user, namespace }: AdmissionRequest): AccessAttributes {
  const isRole = !("roleRef" in object);
  const plural = isRole ? resource.facts.name : object.roleRef.kind === "Role" ? "roles" : "clusterroles";
  // Who creates by `create` names nothing in the path; who applies does, even what is not there yet.
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
  // The rules that an aggregating role will gather are not known yet: they may be any.
  const gathers = hasAggregation(object) || hasAggregation(request.previous as Guarded | undefined);
  if (gathers && (yield* findEscalation(EVERYTHING, request, guard.holdings)) !== undefined)
    throw refuse(request, object, "must have cluster-admin privileges to use the aggregationRule");
}

function hasAggregation(object: Guarded | undefined): boolean {
  return object !== undefined && "aggregationRule" in object && object.aggregationRule !== undefined;
}

function rulesOf(binding: RoleBinding | ClusterRoleBinding, book: RoleBook): readonly PolicyRule[] {
  const { roleRef, metadata } = binding;
  const rules = book.findRules(roleRef, metadata.namespace ?? "");
  if (rules !== undefined) return rules;
  const resource = roleRef.kind === "Role" ? "roles" : "clusterroles";
  throw notFound({ group: GROUP, resource }, roleRef.name);
}

/** Undefined when everything that is wanted is held. */
function* findEscalation(
  wanted: readonly PolicyRule[],
  { user, namespace }: AdmissionRequest,
  holdings: RbacAuthorizer,
): Generator<undefined, string | undefined> {
  const { rules, error } = holdings.rulesFor(user, namespace);
  const { parts, isComplete } = yield* findShortfall(rules, wanted);
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

/** What the garbage collector changes before an object can go gives nobody anything. */
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
