/**
 * Fills ClusterRoles that are made of others.
 *
 * Reads ClusterRoles; writes the rules of those with an aggregationRule: the rules of all roles that its selectors choose, each once.
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

/** The roles that take rules from this one, as it was or as it is. */
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

/** By selector, then by the name of the role, then as the role has them; never its own. `roles` are in order of names. */
function aggregatedRules(
  { metadata, aggregationRule }: ClusterRole,
  roles: readonly ClusterRole[],
): readonly PolicyRule[] {
  // In normal form, equal ones are equal texts; there may be thousands.
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
