/**
 * The default roles and bindings. The server restores missing parts and keeps additions. An annotation opts a role out. Labels,
 * annotations and rules are compared like upstream does at its start, and also after each change.
 */
import type {
  AggregationRule,
  ClusterRole,
  PolicyRule,
  RoleBinding,
  Subject,
} from "../../../api/generated/types/rbac-v1.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { runToEnd } from "../../../base/loop/yielding-work.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { defaultRoles } from "../../access/authz/rbac/default-roles.ts";
import type { DefaultRole } from "../../access/authz/rbac/default-roles.ts";
import { findUncovered } from "../../access/authz/rbac/rule-cover.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { RequiredObjects, RequiredObject } from "../required-objects.ts";

const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const PLURALS = {
  Role: "roles",
  ClusterRole: "clusterroles",
  RoleBinding: "rolebindings",
  ClusterRoleBinding: "clusterrolebindings",
} as const;

export function requiredRoles(registry: Registry): RequiredObjects {
  const resources = new Map<string, StoredResource>(
    Object.entries(PLURALS).map(([kind, plural]) => [
      kind,
      requireStored(registry, "rbac.authorization.k8s.io", plural),
    ]),
  );
  const objects = defaultRoles().flatMap((wanted) => {
    const resource = resources.get(wanted.kind);
    return resource === undefined ? [] : [kept(wanted, resource)];
  });
  return {
    name: "default roles",
    boot: ["poststarthook/rbac/bootstrap-roles"],
    objects,
    watched: [...resources.values()].map((resource) => prefixOf(resource, "")),
  };
}

function kept(wanted: DefaultRole, resource: StoredResource): RequiredObject {
  const { name, namespace = "" } = wanted.metadata;
  // Objects are immutable, so one check for each is enough.
  const inOrder = new WeakSet<ApiObject>();
  return {
    resource,
    namespace,
    name,
    manifest: () => wanted,
    corrected: (live) => {
      if (inOrder.has(live) || live.metadata.annotations?.[AUTO_UPDATE] === "false") return live;
      const corrected = correctedRole(live as DefaultRole, wanted);
      if (corrected === live) inOrder.add(live);
      return corrected;
    },
    mustBeRecreated: (live) => isOfOtherRole(live as DefaultRole, wanted),
  };
}

/** The role of a binding is immutable: the binding is deleted and created again. */
function isOfOtherRole(live: DefaultRole, wanted: DefaultRole): boolean {
  if (!("roleRef" in live) || !("roleRef" in wanted)) return false;
  return live.metadata.annotations?.[AUTO_UPDATE] !== "false" && !jsonEqual(live.roleRef, wanted.roleRef);
}

/** Returns the same object when nothing is missing. */
function correctedRole(live: DefaultRole, wanted: DefaultRole): DefaultRole {
  const metadata = correctedMetadata(live.metadata, wanted.metadata);
  const content = "roleRef" in wanted ? missingSubjects(live, wanted) : missingRules(live, wanted);
  if (metadata === live.metadata && content === undefined) return live;
  return { ...live, metadata, ...content } as DefaultRole;
}

function correctedMetadata(
  live: DefaultRole["metadata"],
  { labels = {}, annotations = {} }: DefaultRole["metadata"],
): DefaultRole["metadata"] {
  const hasAll = (
    wanted: Readonly<Record<string, string>>,
    own?: Readonly<Record<string, string>>,
  ): boolean => Object.keys(wanted).every((key) => own?.[key] !== undefined);
  if (hasAll(labels, live.labels) && hasAll(annotations, live.annotations)) return live;
  return {
    ...live,
    labels: { ...labels, ...live.labels },
    annotations: { ...annotations, ...live.annotations },
  };
}

function missingSubjects(
  live: DefaultRole,
  { subjects = [] }: Pick<RoleBinding, "subjects">,
): { readonly subjects: readonly Subject[] } | undefined {
  const own = "roleRef" in live ? (live.subjects ?? []) : [];
  const missing = subjects.filter((subject) => !own.some((each) => isSameSubject(each, subject)));
  return missing.length === 0 ? undefined : { subjects: [...own, ...missing] };
}

function isSameSubject(left: Subject, right: Subject): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    (left.namespace ?? "") === (right.namespace ?? "") &&
    (left.apiGroup ?? "") === (right.apiGroup ?? "")
  );
}

/** Members of roles that name permissions. */
type RoleRules = Pick<ClusterRole, "aggregationRule" | "rules">;

interface RoleContent {
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: AggregationRule;
}

/** An aggregated role's rules belong to the aggregation. Only its selectors are compared. */
function missingRules(live: DefaultRole, wanted: RoleRules): RoleContent | undefined {
  const own = live as RoleRules;
  const gathered = "aggregationRule" in wanted ? wanted.aggregationRule : undefined;
  if (gathered !== undefined) return missingSelectors(own, gathered);
  if (jsonEqual(own.rules, wanted.rules)) return undefined;
  // Whole rules instead of their missing parts, because people read them.
  const missing = wanted.rules.filter((rule) => runToEnd(findUncovered(own.rules, [rule])).parts.length > 0);
  return missing.length === 0 ? undefined : { rules: [...own.rules, ...missing] };
}

function missingSelectors(
  live: RoleRules,
  { clusterRoleSelectors: wanted = [] }: AggregationRule,
): RoleContent | undefined {
  const own = ("aggregationRule" in live ? live.aggregationRule?.clusterRoleSelectors : undefined) ?? [];
  const missing = wanted.filter((selector) => !own.some((each) => jsonEqual(each, selector)));
  return missing.length === 0
    ? undefined
    : { aggregationRule: { clusterRoleSelectors: [...own, ...missing] } };
}
