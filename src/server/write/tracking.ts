/** Computes managed fields: which manager owns which field after a write. */
import type { FieldPattern } from "../../api/apply/fields/field-pattern.ts";
import type { FieldSet } from "../../api/apply/fields/field-set.ts";
import { fieldSet } from "../../api/apply/fields/field-set.ts";
import { trackUpdate } from "../../api/apply/managed-fields.ts";
import type { Versions as FieldVersions, Writer } from "../../api/apply/writer.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../api/schema/normal-form.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { timeText } from "../../api/values/time.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { MetadataPart } from "../../resources/rules/metadata-parts.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Versions } from "../objects/versions.ts";

export interface Authorship {
  readonly manager: string;
  readonly subresource: string;
  readonly now: number;
  /** Fields that an endpoint with rules of its own writes. */
  readonly writes?: FieldPattern | undefined;
}

/** Each endpoint resets the fields that it does not write, so it cannot own them. */
const STATUS: FieldSet = fieldSet(["f:status"]);
const SPEC: FieldSet = fieldSet(["f:spec"]);

export function fieldWriterOf(
  resource: StoredResource,
  versions: Versions,
  { manager, subresource, now, writes }: Authorship,
): Writer {
  return {
    manager,
    apiVersion: resource.apiVersion,
    kind: resource.facts.kind,
    subresource,
    now: timeText(now),
    versions: new ResourceVersions(resource, versions),
    resetFields: resetBy(resource, subresource),
    writes,
  };
}

function resetBy({ facts, rules }: StoredResource, subresource: string): FieldSet | undefined {
  if (subresource === "status") return resetByStatus(rules.statusKeeps);
  const hasStatus = facts.subresources.some(({ name }) => name === "status");
  return subresource === "" && hasStatus ? STATUS : undefined;
}

/** One set for all kinds that keep the same parts, because derived results are cached by the identity of the set. */
const resetSets = new Map<readonly MetadataPart[], FieldSet>();

function resetByStatus(parts: readonly MetadataPart[] | undefined): FieldSet {
  if (parts === undefined) return SPEC;
  const known = resetSets.get(parts);
  if (known !== undefined) return known;
  const set = fieldSet(["f:spec"], ...parts.map((part) => ["f:metadata", `f:${part}`]));
  resetSets.set(parts, set);
  return set;
}

/** A class, because an instance is made for every write and methods are shared. */
class ResourceVersions implements FieldVersions {
  readonly #resource: StoredResource;
  readonly #versions: Versions;

  constructor(resource: StoredResource, versions: Versions) {
    this.#resource = resource;
    this.#versions = versions;
  }

  findSchema(version: string): StructSchema | undefined {
    const { apiVersion, schema, custom, facts } = this.#resource;
    if (version === apiVersion) return schema;
    return custom === undefined ? findKindSchema(version, facts.kind) : custom.findSchema(version);
  }

  /** Fields that an applier gave up are removed in the version of its last apply, then converted back. */
  convert(object: JsonObject, version: string): JsonObject {
    const { apiVersion, custom, facts } = this.#resource;
    const schema = custom?.findSchema(version);
    if (schema !== undefined) return toNormalForm(schema, { ...object, apiVersion: version }).value;
    const from = typeof object["apiVersion"] === "string" ? object["apiVersion"] : apiVersion;
    return this.#versions.between(object, { kind: facts.kind, from, to: version });
  }
}

export interface TrackedWrite {
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
  /** The writer's own object, if `next` also contains changes by admission. Fields from admission have no owner. */
  readonly asked?: ApiObject | undefined;
  readonly writer: Writer;
  /** `managedFields` as the client sent it. An empty list clears the entries; undefined keeps them. */
  readonly sentManagedFields: unknown;
}

export function track({ live, next, asked, writer, sentManagedFields }: TrackedWrite): ApiObject {
  const tracked = trackUpdate({
    live: live,
    next: next,
    asked: asked,
    writer,
    sentManagedFields,
  });
  return tracked as ApiObject;
}
