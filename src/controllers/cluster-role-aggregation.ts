/**
 * Fills aggregated ClusterRoles.
 *
 * Reads ClusterRoles. A ClusterRole with an aggregationRule gets the rules of all roles that its selectors match.
 */
import type { ObjectKey } from "../api/api-object.ts";
import { ClusterRole } from "../api/generated/types/rbac-v1.ts";
import type { PolicyRule } from "../api/generated/types/rbac-v1.ts";
import { stringifyJson } from "../api/json/json-text.ts";
import { jsonEqual } from "../api/patch/json-equal.ts";
import { compileLabelSelector, labelsMatch } from "../api/selectors/label-selector.ts";
import type { ObjectChange } from "../runtime/cache/object-change.ts";
import { defineController, indexing, watching } from "../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

const AGGREGATING = "aggregating";

export const clusterRoleAggregationController = defineController({
  name: "clusterrole-aggregation-controller",
  for: ClusterRole,
  indexes: [
    indexing(ClusterRole, AGGREGATING, (role) => (role.aggregationRule === undefined ? [] : ["yes"])),
  ],
  watches: [watching(ClusterRole, aggregatorsOf)],
  reconcile,
});

async function reconcile(role: ClusterRole, { cache, client }: ReconcileContext): Promise<Outcome> {
  if (role.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) return undefined;
  const rules = aggregatedRules(role, cache(ClusterRole).list());
  if (jsonEqual(rules, role.rules ?? [])) return undefined;
  await client(ClusterRole).apply({ metadata: { name: role.metadata.name }, rules }, { force: true });
  return undefined;
}

/** Aggregated roles whose selectors match this role, before or after the change. */
function aggregatorsOf(
  { before, after }: ObjectChange<ClusterRole>,
  read: CacheReader,
): readonly ObjectKey[] {
  const labels = [before, after].flatMap((role) => (role === undefined ? [] : [role.metadata.labels]));
  return read(ClusterRole)
    .indexed(AGGREGATING, "yes")
    .filter(({ aggregationRule }) =>
      (aggregationRule?.clusterRoleSelectors ?? []).some((selector) => {
        const compiled = compileLabelSelector(selector);
        return labels.some((each) => labelsMatch(compiled, each));
      }),
    )
    .map(({ metadata }) => ({ name: metadata.name }));
}

/** Ordered by selector, then by role name, then as in the role; excludes the role itself. `roles` are sorted by name. */
function aggregatedRules(
  { metadata, aggregationRule }: ClusterRole,
  roles: readonly ClusterRole[],
): readonly PolicyRule[] {
  // Keyed by normalized JSON: equal rules have equal texts, and there may be thousands.
  const rules = new Map<string, PolicyRule>();
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    const compiled = compileLabelSelector(selector);
    const chosen = roles.filter(
      (role) => role.metadata.name !== metadata.name && labelsMatch(compiled, role.metadata.labels),
    );
    for (const rule of chosen.flatMap((role) => role.rules ?? [])) {
      const text = stringifyJson(rule);
      if (!rules.has(text)) rules.set(text, rule);
    }
  }
  return [...rules.values()];
}
