/** Converts results of expressions to JSON. cel-json-value.ts converts the other way. */
import { setOwn } from "../json/json-object.ts";
import { formatDuration } from "../values/time.ts";
import { CelEvaluationError } from "./cel-error.ts";
import { instantText } from "./instant.ts";
import type { Run } from "./run.ts";
import {
  Bytes,
  CelList,
  CelMap,
  CelRecord,
  type CelValue,
  Duration,
  Optional,
  tagOf,
  Timestamp,
  Uint,
} from "./value.ts";

/**
 * The value as JSON. Each value costs effort, because a short expression may describe a large value. Throws a
 * CelEvaluationError for values that JSON cannot express.
 */
export function valueToJson(value: CelValue, run: Run): unknown {
  run.charge(1);
  if (typeof value === "string") {
    run.chargeText(value.length);
    return value;
  }
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== "object") return value;
  if (value instanceof CelList) return listToJson(value, run);
  if (value instanceof CelMap) return mapToJson(value, run);
  if (value instanceof CelRecord) return recordToJson(value, run);
  return atomToJson(value, run);
}

function listToJson(list: CelList, run: Run): readonly unknown[] {
  return Array.from({ length: list.size }, (_, at) => valueToJson(list.at(at), run));
}

function mapToJson(map: CelMap, run: Run): object {
  const made: Record<string, unknown> = {};
  for (const key of map.keys()) {
    if (typeof key !== "string")
      throw new CelEvaluationError(`a key of JSON must be a string, not ${tagOf(key)}`);
    setOwn(made, key, valueToJson(map.find(key) ?? null, run));
  }
  return made;
}

function recordToJson(record: CelRecord, run: Run): object {
  const made: Record<string, unknown> = {};
  for (const field of record.fields()) {
    const value = record.find(field);
    if (value !== undefined) setOwn(made, field, valueToJson(value, run));
  }
  return made;
}

function atomToJson(value: CelValue, run: Run): unknown {
  if (value instanceof Optional) return value.value === undefined ? null : valueToJson(value.value, run);
  if (value instanceof Uint) return valueToJson(value.value, run);
  if (value instanceof Timestamp) return instantText(value.ns);
  if (value instanceof Duration) return formatDuration(value.ns);
  if (value instanceof Bytes) {
    run.chargeText(value.data.length);
    return Buffer.from(value.data).toString("base64");
  }
  throw new CelEvaluationError(`no such conversion from ${tagOf(value)} to JSON`);
}
