/** Builds flow control objects exactly as a create and the first status update would store them, without these writes. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { SERVER_AUTHOR } from "../../write/journal.ts";
import type { Birth } from "../object-template.ts";

const API_VERSION = "flowcontrol.apiserver.k8s.io/v1";

export interface BornFlow {
  readonly kind: "FlowSchema" | "PriorityLevelConfiguration";
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: JsonObject;
  /** Conditions of the status; empty for a priority level. */
  readonly conditions: readonly JsonObject[];
}

export function bornFlow(flow: BornFlow, { uid, time }: Birth): ApiObject {
  const { kind, name, annotations, spec, conditions } = flow;
  const own = { "f:metadata": { "f:annotations": owned(annotations) }, "f:spec": ownedParts(spec) };
  const entry = (fieldsV1: JsonObject, subresource?: string): JsonObject => ({
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1,
    manager: SERVER_AUTHOR.manager,
    operation: "Update",
    ...(subresource !== undefined && { subresource }),
    time,
  });
  const seen = conditions.map((condition) => ({ ...condition, lastTransitionTime: time }));
  const managedFields = [entry(own), ...(seen.length > 0 ? [entry(ownedConditions(seen), "status")] : [])];
  const metadata = { annotations, creationTimestamp: time, generation: 1, managedFields, name, uid };
  const status = seen.length === 0 ? {} : { conditions: seen };
  const object = { apiVersion: API_VERSION, kind, metadata, spec, status };
  return inOrder(object) as unknown as ApiObject;
}

/** Structs that always exist have no owner of their own. */
const ALWAYS_THERE = new Set(["priorityLevelConfiguration"]);

function ownedParts(value: JsonObject): JsonObject {
  const parts: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) {
    if (!isJsonObject(part)) parts.push([`f:${key}`, {}]);
    else parts.push([`f:${key}`, ALWAYS_THERE.has(key) ? ownedParts(part) : owned(part)]);
  }
  return Object.fromEntries(parts);
}

function owned(value: JsonObject): JsonObject {
  return { ".": {}, ...ownedParts(value) };
}

function ownedConditions(conditions: readonly JsonObject[]): JsonObject {
  const each = conditions.map((condition): [string, JsonObject] => [
    `k:${JSON.stringify({ type: condition["type"] })}`,
    owned(condition),
  ]);
  return { "f:status": { "f:conditions": { ".": {}, ...Object.fromEntries(each) } } };
}

/** Keys in the order in which they are stored. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, inOrder(part)]));
}
