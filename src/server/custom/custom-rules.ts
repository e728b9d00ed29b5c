/** Builds the rules of a custom kind from its schema. The server applies them like those of a built-in kind. */
import { type FieldErrors, FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import { isJsonObject, type JsonObject, setOwn } from "../../api/json/json-object.ts";
import { findFieldNames, memberAt } from "../../api/json/json-path.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { parseLabelSelector } from "../../api/selectors/label-query.ts";
import { withDefaults } from "../../api/structural/default-values.ts";
import { checkEmbedded } from "../../api/structural/embedded-check.ts";
import { checkExpressions } from "../../api/structural/expression-check.ts";
import { checkLists } from "../../api/structural/list-check.ts";
import type { Structural } from "../../api/structural/structural.ts";
import { checkValue } from "../../api/structural/value-check.ts";
import { BodyWork } from "../../api/work-budget.ts";
import type { ApiObject, Draft, KindRules, ScaleRules } from "../../resources/rules/kind-rules.ts";
import { ALL_METADATA } from "../../resources/rules/metadata-parts.ts";
import { customCells } from "./custom-cells.ts";
import type { VersionOutline } from "./custom-outline.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";

type WithStatus = { readonly status?: unknown };

export function customRules(schema: Structural, version: VersionOutline): KindRules {
  const check = checkerOf(schema, version);
  return {
    defaults: (draft) => fillIn(schema, draft),
    prepareCreate: (draft: Draft<ApiObject> & { status?: unknown }) => {
      if (version.hasStatus) delete draft.status;
    },
    statusKeeps: ALL_METADATA,
    validateCreate: (object, errors) => check(object, undefined, errors),
    validateUpdate: check,
    validateStatus: check,
    isNewGeneration: (next, previous) => !version.hasStatus && !jsonEqual(statusOf(next), statusOf(previous)),
    warnings: (next, previous) => finalizerWarnings(next, previous),
    fields: (object) => selectableFields(version, object),
    cells: customCells(version),
    ...(version.scale !== undefined && { scale: scaleRules(version.scale) }),
  };
}

function statusOf(object: ApiObject): unknown {
  return (object as ApiObject & WithStatus).status;
}

function fillIn(schema: Structural, draft: Draft<ApiObject>): void {
  const fields = draft as Record<string, unknown>;
  const filled = withDefaults(schema, fields, new BodyWork()) as JsonObject;
  if (filled === fields) return;
  for (const key of Object.keys(filled)) if (filled[key] !== fields[key]) setOwn(fields, key, filled[key]);
}

type Checker = (next: ApiObject, previous: ApiObject | undefined, errors: FieldErrors) => void;

function checkerOf(schema: Structural, { scale }: VersionOutline): Checker {
  const paths = scale === undefined ? undefined : scalePaths(scale);
  return (next, previous, errors) => {
    const checked = { schema, value: next, previous };
    checkValue(checked, "", errors);
    checkLists(checked, ROOT, errors);
    checkEmbedded({ schema, value: next }, ROOT, errors);
    checkExpressions(checked, ROOT, errors);
    if (paths !== undefined) checkScale(paths, next, errors);
  };
}

const ROOT = new FieldPath("");
const INT32_MAX = 2 ** 31 - 1;

interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Empty if the kind has no selector. */
  readonly selector: readonly string[];
}

function scalePaths({
  specReplicasPath,
  statusReplicasPath,
  labelSelectorPath = "",
}: NonNullable<VersionOutline["scale"]>): ScalePaths {
  return {
    replicas: findFieldNames(specReplicasPath) ?? [],
    statusReplicas: findFieldNames(statusReplicasPath) ?? [],
    selector: findFieldNames(labelSelectorPath) ?? [],
  };
}

function checkScale(
  { replicas, statusReplicas, selector }: ScalePaths,
  object: ApiObject,
  errors: FieldErrors,
): void {
  for (const names of [replicas, statusReplicas]) {
    const value = memberAt(object, names);
    const path = fieldPath(`.${names.join(".")}`);
    if (typeof value !== "number") continue;
    if (value < 0) errors.invalid(path, value, "should be a non-negative integer");
    else if (value > INT32_MAX) errors.invalid(path, value, `should be less than or equal to ${INT32_MAX}`);
  }
  const text = selector.length === 0 ? "" : memberAt(object, selector);
  if (typeof text !== "string" || text === "") return;
  try {
    parseLabelSelector(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    errors.invalid(fieldPath(`.${selector.join(".")}`), text, error.message);
  }
}

function scaleRules(scale: NonNullable<VersionOutline["scale"]>): ScaleRules<ApiObject> {
  const { replicas, statusReplicas, selector } = scalePaths(scale);
  return {
    replicasPath: scale.specReplicasPath,
    replicas: (object) => {
      const value = memberAt(object, replicas);
      return typeof value === "number" ? value : undefined;
    },
    statusReplicas: (object) => numberOf(memberAt(object, statusReplicas)),
    selector: (object) => {
      const text = selector.length === 0 ? "" : memberAt(object, selector);
      return typeof text === "string" ? text : "";
    },
    setReplicas: (draft, count) => setMember(draft, replicas, count),
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Creates missing objects on the path. */
function setMember(object: Record<string, unknown>, names: readonly string[], value: unknown): void {
  let at = object;
  for (const name of names.slice(0, -1)) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined;
    const next = isJsonObject(inner) ? { ...inner } : {};
    setOwn(at, name, next);
    at = next;
  }
  setOwn(at, names.at(-1) ?? "", value);
}

function selectableFields(
  { selectable }: VersionOutline,
  object: ApiObject,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    selectable.map((field) => {
      const value = memberAt(object, findFieldNames(`.${field}`) ?? []);
      return [field, value === undefined || value === null ? "" : String(value as string | number | boolean)];
    }),
  );
}
