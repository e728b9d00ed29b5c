/**
 * Applies a kind's rules to a version with other fields. Objects are converted to the version of the rules, and the
 * changes of the rules are converted back. Field paths in errors are therefore those of the rules' version, as in
 * kube-apiserver.
 */
import { setOwn } from "../../api/json/json-object.ts";
import type { ApiObject, Draft, KindRules, ScaleRules } from "../../resources/rules/kind-rules.ts";

export interface RuleConversion {
  /** Converts to the version of the rules. The result is not shared. */
  readonly toRules: (object: ApiObject) => ApiObject;
  readonly fromRules: (object: ApiObject) => ApiObject;
}

type RuleName = Exclude<
  keyof KindRules,
  | "columns"
  | "keepsStatus"
  | "nameRule"
  | "repeatsSpec"
  | "scale"
  | "tolerates"
  | "ttlSeconds"
  | "isRecord"
  | "isHeartbeat"
  | "deletionFinalizer"
  | "hasNoDependents"
  | "keepsDependents"
  | "deletionWarning"
  | "statusKeeps"
>;

/** Number of leading arguments that are objects. A previous object may be undefined. */
const OBJECTS: Readonly<Record<RuleName, 1 | 2>> = {
  cells: 1,
  compareRows: 2,
  defaults: 1,
  fields: 1,
  gracePeriodSeconds: 1,
  isHeld: 1,
  isNewGeneration: 2,
  markDeleted: 1,
  prepareCreate: 1,
  prepareStatus: 2,
  prepareUpdate: 2,
  rowConditions: 1,
  validate: 1,
  validateCreate: 1,
  validateStatus: 2,
  validateUpdate: 2,
  warnings: 2,
};

/** Rules that change their first object. */
const CHANGING: ReadonlySet<string> = new Set<RuleName>([
  "defaults",
  "markDeleted",
  "prepareCreate",
  "prepareStatus",
  "prepareUpdate",
]);

type Rule = (...args: unknown[]) => unknown;

/** A rule that the kind lacks stays absent: absence has a meaning. */
export function convertedRules(rules: KindRules, conversion: RuleConversion): KindRules {
  const converted: Record<string, unknown> = { ...rules };
  for (const [name, count] of Object.entries(OBJECTS)) {
    const rule = (rules as Readonly<Record<string, unknown>>)[name];
    if (typeof rule !== "function") continue;
    const plain: Rule = (...args) => (rule as Rule).apply(rules, args);
    converted[name] = convertedRule(plain, { conversion, count, isChanging: CHANGING.has(name) });
  }
  if (rules.scale !== undefined) converted["scale"] = convertedScale(rules.scale, conversion);
  return converted;
}

interface RuleShape {
  readonly conversion: RuleConversion;
  readonly count: number;
  readonly isChanging: boolean;
}

function convertedRule(rule: Rule, { conversion, count, isChanging }: RuleShape): Rule {
  return (...args) => {
    const objects = (args.slice(0, count) as (ApiObject | undefined)[]).map((object) =>
      object === undefined ? undefined : conversion.toRules(object),
    );
    const result = rule(...objects, ...args.slice(count));
    const [changed] = objects;
    if (isChanging && changed !== undefined)
      replace(args[0] as Draft<ApiObject>, conversion.fromRules(changed));
    return result;
  };
}

function convertedScale(
  scale: ScaleRules<ApiObject>,
  { toRules, fromRules }: RuleConversion,
): ScaleRules<ApiObject> {
  return {
    replicas: (object) => scale.replicas(toRules(object)),
    statusReplicas: (object) => scale.statusReplicas(toRules(object)),
    selector: (object) => scale.selector(toRules(object)),
    setReplicas: (draft, replicas) => {
      const inner = toRules(draft) as Draft<ApiObject>;
      scale.setReplicas(inner, replicas);
      replace(draft, fromRules(inner));
    },
  };
}

/** Changes the draft in place, because the caller holds it. */
function replace(draft: Draft<ApiObject>, by: ApiObject): void {
  const fields = draft as Record<string, unknown>;
  for (const key of Object.keys(fields)) delete fields[key];
  for (const [key, value] of Object.entries(by)) setOwn(fields, key, value);
}
