/** What is shown of an object: the whole of it in the version asked for, or its metadata only. */
import { builtInStruct } from "../../api/built-in-schema.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { stringifyJson } from "../../api/json-text.ts";
import { encodeMessage } from "../../api/protobuf/encode.ts";
import type { StructSchema } from "../../api/schema.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { Versions } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import type { StoredObject } from "../stored-object.ts";
import { findMember } from "./bytes/json-splice.ts";
import type { FormCache } from "./form-cache.ts";

export interface ObjectView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: StructSchema;
  /** As JSON text. */
  json(stored: StoredObject): Uint8Array;
  /** As a protobuf message, without envelope. */
  message(stored: StoredObject): Uint8Array;
  /** As a value. Shared: never changed. */
  value(stored: StoredObject): JsonObject;
  /** The same of an object that is not stored, in the version asked for. */
  shown(object: ApiObject): JsonObject;
}

export interface ViewTools {
  readonly versions: Versions;
  readonly cache: FormCache;
}

export function wholeView(resource: StoredResource, { versions, cache }: ViewTools): ObjectView {
  const { apiVersion, schema, facts, storedAs } = resource;
  const value = (stored: StoredObject): JsonObject =>
    versions.served(stored, resource) as unknown as JsonObject;
  const makeJson = (stored: StoredObject): Uint8Array => Buffer.from(stringifyJson(value(stored)));
  const makeMessage = (stored: StoredObject): Uint8Array => encodeMessage(schema, value(stored));
  const jsonName = `${apiVersion} json`;
  const messageName = `${apiVersion} protobuf`;
  return {
    apiVersion,
    kind: facts.kind,
    schema,
    json: (stored) => (apiVersion === storedAs ? stored.json : cache.form(stored, jsonName, makeJson)),
    message: (stored) => cache.form(stored, messageName, makeMessage),
    value,
    shown: (object) => object as unknown as JsonObject,
  };
}

/** Metadata is the same in all versions of a resource, so that it can be cut out of the stored one. */
export function metadataView(metaVersion: string, { cache }: ViewTools): ObjectView {
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  const kind = "PartialObjectMetadata";
  const schema = builtInStruct("meta.v1.PartialObjectMetadata");
  const shown = ({ metadata }: ApiObject): JsonObject => ({ kind, apiVersion, metadata });
  const head = Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":`);
  const makeMessage = (stored: StoredObject): Uint8Array => encodeMessage(schema, shown(stored.object));
  return {
    apiVersion,
    kind,
    schema,
    json: (stored) => {
      const metadata = findMember(stored.json, "metadata");
      if (metadata === undefined) return Buffer.from(stringifyJson(shown(stored.object)));
      return Buffer.concat([head, metadata, CLOSE]);
    },
    message: (stored) => cache.form(stored, "metadata protobuf", makeMessage),
    value: (stored) => shown(stored.object),
    shown,
  };
}

const CLOSE = Buffer.from("}");
