import type { FieldSet } from "../../api/apply/fields/field-set.ts";
import { fieldSet } from "../../api/apply/fields/field-set.ts";
/** Who owns which field after a write: the server's side of managed fields. */
import { trackUpdate } from "../../api/apply/managed-fields.ts";
import type { Writer } from "../../api/apply/writer.ts";
import { findKindSchema } from "../../api/built-in-schema.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { toNormalForm } from "../../api/normal-form.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { Versions } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import { timeText } from "./system-metadata.ts";

export interface Authorship {
  readonly manager: string;
  readonly subresource: string;
  readonly now: number;
}

/** Each endpoint resets what it does not write, and so cannot own it. */
const STATUS: FieldSet = fieldSet(["f:status"]);
const ALL_BUT_STATUS: FieldSet = fieldSet(["f:spec"]);

export function writerOf(
  resource: StoredResource,
  versions: Versions,
  { manager, subresource, now }: Authorship,
): Writer {
  const { apiVersion, facts, custom } = resource;
  const hasStatus = facts.subresources.some(({ name }) => name === "status");
  return {
    manager,
    apiVersion,
    kind: facts.kind,
    subresource,
    now: timeText(now),
    versions: {
      findSchema: (version) =>
        custom === undefined ? findKindSchema(version, facts.kind) : custom.findSchema(version),
      // What an applier gave up is looked for in the version it was applied in, and comes back from there.
      convert: (object, version) => {
        const schema = custom?.findSchema(version);
        if (schema !== undefined) return toNormalForm(schema, { ...object, apiVersion: version }).value;
        const from = typeof object["apiVersion"] === "string" ? object["apiVersion"] : apiVersion;
        return versions.between(object, { kind: facts.kind, from, to: version });
      },
    },
    ...(subresource === "status" && { resetFields: ALL_BUT_STATUS }),
    ...(subresource === "" && hasStatus && { resetFields: STATUS }),
  };
}

export interface TrackedWrite {
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
  /** What the writer wants to be there, where that is less than `next`: what admission adds belongs to nobody. */
  readonly asked?: ApiObject | undefined;
  readonly writer: Writer;
  /** As the client sent it: an empty list clears the entries, nothing keeps them. */
  readonly sentManagedFields: unknown;
}

export function track({ live, next, asked, writer, sentManagedFields }: TrackedWrite): ApiObject {
  const tracked = trackUpdate({
    live: live as unknown as JsonObject | undefined,
    next: next as unknown as JsonObject,
    ...(asked !== undefined && { asked: asked as unknown as JsonObject }),
    writer,
    sentManagedFields,
  });
  return tracked as unknown as ApiObject;
}
