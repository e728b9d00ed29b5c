/** The identity, endpoint and time of a write, as needed by apply and by the tracking of updates. */
import { assert } from "../../base/assert.ts";
import type { JsonObject } from "../json/json-object.ts";
import type { StructSchema } from "../schema/schema.ts";
import type { FieldPattern } from "./fields/field-pattern.ts";
import { type FieldSet, fieldSet } from "./fields/field-set.ts";

export interface Writer {
  /** Name from `managerName`. */
  readonly manager: string;
  /** API version of the request and of the objects. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Time of the write in whole seconds: `2026-11-15T05:00:00Z`. */
  readonly now: string;
  readonly versions: Versions;
  /** Fields that this endpoint resets and so cannot own: status on the main endpoint, all others on `status`. */
  readonly resetFields?: FieldSet | undefined;
  /** Fields that this endpoint writes; absent when it writes all but `resetFields`. */
  readonly writes?: FieldPattern | undefined;
}

/** The versions of one kind. Entries keep the version they were written in. */
export interface Versions {
  /** Schema of a version; `undefined` when it is no longer served, so that its entries are dropped. */
  findSchema(apiVersion: string): StructSchema | undefined;
  /**
   * Converts the object. Only called with a version that has a schema and is not the object's own. The object may lack any
   * field, because pruning removes fields before it knows that a conversion needs them.
   */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** Fields that no manager owns. */
export const NEVER_OWNED: FieldSet = fieldSet(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ["f:metadata", "f:clusterName"],
  ["f:metadata", "f:creationTimestamp"],
  ["f:metadata", "f:generation"],
  ["f:metadata", "f:managedFields"],
  ["f:metadata", "f:name"],
  ["f:metadata", "f:namespace"],
  ["f:metadata", "f:resourceVersion"],
  ["f:metadata", "f:selfLink"],
  ["f:metadata", "f:uid"],
);

/** Upstream's bound on the name of a manager. */
const MANAGER_BYTES_MAX = 128;

/** Text of nearly every user agent, which needs no filtering. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The `fieldManager` of the request, else the user agent up to its first slash, without unprintable characters. */
export function managerName(fieldManager: string, userAgent: string): string {
  if (fieldManager !== "") return fieldManager;
  const slash = userAgent.indexOf("/");
  const agent = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (agent.length <= MANAGER_BYTES_MAX && PRINTABLE_ASCII.test(agent)) return agent;
  let name = "";
  for (const character of agent) {
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(character)) continue;
    if (Buffer.byteLength(name + character) > MANAGER_BYTES_MAX) break;
    name += character;
  }
  return name;
}

export function schemaOf({ versions, apiVersion }: Writer): StructSchema {
  const schema = versions.findSchema(apiVersion);
  assert(schema !== undefined, `a write in ${apiVersion} has a schema for it`);
  return schema;
}
