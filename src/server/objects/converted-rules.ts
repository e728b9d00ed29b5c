/**
 * The rules of a kind for a version that has other fields: objects are brought to the version the rules are written for,
 * and what the rules changed is brought back. Problems are therefore named by the fields of that version, as
 * kube-apiserver names them.
 */
import { setOwn } from "../../api/json/json-object.ts";
import type { ApiObject, Draft, KindRules, ScaleRules } from "../../resources/rules/kind-rules.ts";

export interface RuleConversion {
  /** To the version of the rules. The result is nobody else's. */
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
  | "deletionFinalizer"
  | "hasNoDependents"
  | "keepsDependents"
  | "deletionWarning"
  | "statusKeeps"
>;

/** How many of a rule's arguments are objects, the first ones. A previous object may be undefined. */
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

/** These change the first object. */
const CHANGING: ReadonlySet<string> = new Set<RuleName>([
  "defaults",
  "markDeleted",
  "prepareCreate",
  "prepareStatus",
  "prepareUpdate",
]);

type Rule = (...args: unknown[]) => unknown;

/** A rule that the kind has not is not there either: its absence means something. */
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

/** Whoever holds the draft sees the change. */
function replace(draft: Draft<ApiObject>, by: ApiObject): void {
  const fields = draft as unknown as Record<string, unknown>;
  for (const key of Object.keys(fields)) delete fields[key];
  for (const [key, value] of Object.entries(by)) setOwn(fields, key, value);
}
