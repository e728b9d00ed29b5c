/** Applies a `[JSONPatch{…}]` expression to an object. */
import type { Run } from "../../../api/cel/run.ts";
import { valueToJson } from "../../../api/cel/value-json.ts";
import { CelList, CelRecord, type CelValue, PlainRecord } from "../../../api/cel/value.ts";
import { isApiError } from "../../../api/errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import { attemptJsonPatch, type PatchAttempt } from "../../../api/patch/json-patch.ts";
import { checkTypeNames, MutationError } from "./apply-configuration.ts";

/** Returns the object itself if a `test` operation fails. Throws a MutationError. */
export function applyPatchExpression(value: CelValue, object: JsonObject, run: Run): JsonObject {
  if (!(value instanceof CelList))
    throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array");
  const operations = Array.from({ length: value.size }, (_, at) => operationOf(value.at(at), run));
  const attempt = attempted(object, operations);
  if (attempt.outcome === "unmet") return object;
  if (attempt.outcome === "failed") throw new MutationError(`JSON Patch: ${attempt.why}`);
  if (isJsonObject(attempt.value)) return attempt.value;
  throw new MutationError("JSON Patch: the result is no object");
}

function attempted(object: JsonObject, operations: readonly JsonObject[]): PatchAttempt {
  try {
    return attemptJsonPatch(object, operations);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw new MutationError(`JSON Patch: ${error.message}`, { cause: error });
  }
}

function operationOf(value: CelValue, run: Run): JsonObject {
  if (!(value instanceof CelRecord))
    throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
  const [op = "", path = "", from = ""] = ["op", "path", "from"].map((name) => value.find(name) ?? undefined);
  const operand = value.find("value");
  if (operand instanceof PlainRecord) checkTypeNames(operand, run);
  return {
    op,
    path,
    ...(from !== "" && { from }),
    ...(operand !== undefined && { value: valueToJson(operand, run) }),
  };
}
