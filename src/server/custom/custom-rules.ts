/** Builds the rules of a custom kind from its schema. The server applies them like those of a built-in kind. */
import { type FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { type JsonObject, setOwn } from "../../api/json/json-object.ts";
import { findFieldNames, memberAt } from "../../api/json/json-path.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { withDefaults } from "../../api/structural/default-values.ts";
import { checkEmbedded } from "../../api/structural/embedded-check.ts";
import { checkExpressions } from "../../api/structural/expression-check.ts";
import { checkLists } from "../../api/structural/list-check.ts";
import type { Structural } from "../../api/structural/structural.ts";
import { checkValue } from "../../api/structural/value-check.ts";
import { BodyWork } from "../../api/work-budget.ts";
import type { ApiObject, Draft, KindRules } from "../../resources/rules/kind-rules.ts";
import { ALL_METADATA } from "../../resources/rules/metadata-parts.ts";
import { customCells } from "./custom-cells.ts";
import type { VersionOutline } from "./custom-outline.ts";
import { CustomScale } from "./custom-scale.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";

type WithStatus = { readonly status?: unknown };

export function customRules(schema: Structural, version: VersionOutline): KindRules {
  const check = checkerOf(schema);
  const scale = version.scale === undefined ? undefined : new CustomScale(version.scale);
  const checkMain: Checker = (next, previous, errors) => {
    check(next, previous, errors);
    scale?.check(next, errors);
  };
  return {
    defaults: (draft) => fillIn(schema, draft),
    prepareCreate: (draft: Draft<ApiObject> & { status?: unknown }) => {
      if (version.hasStatus) delete draft.status;
    },
    statusKeeps: ALL_METADATA,
    validateCreate: (object, errors) => checkMain(object, undefined, errors),
    validateUpdate: checkMain,
    validateStatus: (next, previous, errors) => {
      check(next, previous, errors);
      scale?.checkStatus(next, errors);
    },
    isNewGeneration: (next, previous) => !version.hasStatus && !jsonEqual(statusOf(next), statusOf(previous)),
    warnings: (next, previous) => finalizerWarnings(next, previous),
    fields: (object) => selectableFields(version, object),
    cells: customCells(version),
    ...(scale !== undefined && { scale }),
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

function checkerOf(schema: Structural): Checker {
  return (next, previous, errors) => {
    const checked = { schema, value: next, previous };
    checkValue(checked, "", errors);
    checkLists(checked, ROOT, errors);
    checkEmbedded({ schema, value: next }, ROOT, errors);
    checkExpressions(checked, ROOT, errors);
  };
}

const ROOT = new FieldPath("");
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
