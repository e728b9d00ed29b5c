/** Views of an object: the whole of it in the requested version, or its metadata only. */
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { encodeMessage } from "../../api/protobuf/encode.ts";
import { builtInStruct } from "../../api/schema/built-in-schema.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { Versions } from "../objects/versions.ts";
import { findMember } from "./bytes/json-text.ts";
import type { FormCache } from "./form-cache.ts";

export interface ObjectView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  /** Identifies the conversion. Forms cached for another edition are not used. */
  readonly edition: string;
  readonly schema: StructSchema;
  /** Whether list items contain apiVersion and kind. */
  readonly isNamedInLists: boolean;
  /** Whether the last page of a list has an empty `continue`. */
  readonly saysEnd: boolean;
  /** JSON text of the object. */
  json(stored: StoredObject): Uint8Array;
  /** As `json`, for a single response: the bytes are not kept with the object. */
  briefJson(stored: StoredObject): Uint8Array;
  /** Protobuf message of the object, without envelope. */
  message(stored: StoredObject): Uint8Array;
  /** Value of the object. Shared, so it must not be changed. */
  value(stored: StoredObject): JsonObject;
  /** Value of an object that is not stored, in the requested version. */
  shown(object: ApiObject): JsonObject;
}

export interface ViewTools {
  readonly versions: Versions;
  readonly cache: FormCache;
}

export function wholeView(resource: StoredResource, tools: ViewTools): ObjectView {
  return new WholeView(resource, tools);
}

/** A class, because each request makes one and uses few of its methods. */
class WholeView implements ObjectView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly edition: string;
  readonly schema: StructSchema;
  readonly isNamedInLists: boolean;
  readonly saysEnd: boolean;
  readonly #resource: StoredResource;
  readonly #tools: ViewTools;

  constructor(resource: StoredResource, tools: ViewTools) {
    this.apiVersion = resource.apiVersion;
    this.kind = resource.facts.kind;
    this.listKind = resource.facts.listKind ?? `${this.kind}List`;
    this.edition = resource.custom?.edition ?? "";
    this.schema = resource.schema;
    this.isNamedInLists = resource.custom !== undefined;
    this.saysEnd = resource.custom !== undefined;
    this.#resource = resource;
    this.#tools = tools;
  }

  json(stored: StoredObject): Uint8Array {
    if (this.#isAsStored(stored)) return stored.json;
    return this.#tools.cache.form(stored, `${this.apiVersion} json ${this.edition}`, () =>
      Buffer.from(stringifyJson(this.value(stored))),
    );
  }

  briefJson(stored: StoredObject): Uint8Array {
    return this.#isAsStored(stored) ? stored.briefJson : this.json(stored);
  }

  message(stored: StoredObject): Uint8Array {
    return this.#tools.cache.form(stored, `${this.apiVersion} protobuf`, () =>
      encodeMessage(this.schema, this.value(stored)),
    );
  }

  value(stored: StoredObject): JsonObject {
    return this.#tools.versions.served(stored, this.#resource);
  }

  shown(object: ApiObject): JsonObject {
    return object;
  }

  #isAsStored(stored: StoredObject): boolean {
    const { custom, storedAs } = this.#resource;
    return custom === undefined ? this.apiVersion === storedAs : custom.isServedAsStored(stored);
  }
}

/** Most versions of a resource have the same metadata, which is then cut out of the stored JSON. */
export function metadataView(
  metaVersion: string,
  tools: ViewTools,
  resource: StoredResource | undefined,
): ObjectView {
  const stored = storedMetadataView(metaVersion, tools);
  if (resource === undefined || !tools.versions.hasOwnMetadata(resource)) return stored;
  return servedMetadataView(stored, tools, resource);
}

/** For versions that store fields in annotations because their schema lacks them. */
function servedMetadataView(
  view: ObjectView,
  { versions, cache }: ViewTools,
  resource: StoredResource,
): ObjectView {
  const { apiVersion } = resource;
  const value = (stored: StoredObject): JsonObject => view.shown(versions.served(stored, resource));
  const json = (stored: StoredObject): Uint8Array => Buffer.from(stringifyJson(value(stored)));
  const makeMessage = (stored: StoredObject): Uint8Array => encodeMessage(view.schema, value(stored));
  return {
    ...view,
    edition: apiVersion,
    value,
    json,
    briefJson: json,
    message: (stored) => cache.form(stored, `metadata protobuf ${apiVersion}`, makeMessage),
  };
}

function storedMetadataView(metaVersion: string, { cache }: ViewTools): ObjectView {
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  const kind = "PartialObjectMetadata";
  const schema = builtInStruct("meta.v1.PartialObjectMetadata");
  const one = ({ metadata }: ApiObject): JsonObject => ({ kind, apiVersion, metadata });
  // A list of objects that are never stored arrives as one object.
  const shown = (object: ApiObject): JsonObject =>
    "items" in object
      ? { ...one(object), kind: `${kind}List`, items: (object.items as readonly ApiObject[]).map(one) }
      : one(object);
  const head = Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":`);
  const cut = (json: Uint8Array, stored: StoredObject): Uint8Array => {
    const metadata = findMember(json, "metadata");
    if (metadata === undefined) return Buffer.from(stringifyJson(shown(stored.object)));
    return Buffer.concat([head, metadata, CLOSE]);
  };
  const makeMessage = (stored: StoredObject): Uint8Array => encodeMessage(schema, shown(stored.object));
  return {
    apiVersion,
    kind,
    listKind: `${kind}List`,
    edition: "",
    schema,
    isNamedInLists: true,
    saysEnd: false,
    json: (stored) => cut(stored.json, stored),
    briefJson: (stored) => cut(stored.briefJson, stored),
    message: (stored) => cache.form(stored, "metadata protobuf", makeMessage),
    value: (stored) => shown(stored.object),
    shown,
  };
}

const CLOSE = Buffer.from("}");
