/** Who writes an object, how and when: what both ways of tracking fields need to know. */
import { assert } from "../../base/assert.ts";
import type { JsonObject } from "../json/json-object.ts";
import type { StructSchema } from "../schema/schema.ts";
import type { FieldPattern } from "./fields/field-pattern.ts";
import { type FieldSet, fieldSet } from "./fields/field-set.ts";

export interface Writer {
  /** See `managerName`. */
  readonly manager: string;
  /** Of the request; objects are given in it. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** The time of the write in whole seconds, as `2026-11-15T05:00:00Z`. */
  readonly now: string;
  readonly versions: Versions;
  /** Fields that this endpoint resets and so cannot own: status on the main one, all else on `status`. */
  readonly resetFields?: FieldSet | undefined;
  /** All that this endpoint writes, where that is less than the rest. */
  readonly writes?: FieldPattern | undefined;
}

/** The versions of one kind. Entries are kept in the version they were written in. */
export interface Versions {
  /** `undefined` for a version that is not served any more; entries in it are dropped. */
  findSchema(apiVersion: string): StructSchema | undefined;
  /**
   * Only called with a version that has a schema, and never with the object's own. The object may lack any field:
   * what an applier gives up is taken out before it is known to be needed.
   */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** Fields nobody owns. */
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

/** Nearly every user agent. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The `fieldManager` that was asked for, else the user agent up to its first slash, without what cannot be printed. */
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
