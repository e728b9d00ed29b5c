/**
 * Reads stored values of any origin: this server's, and those of a kube-apiserver on the same etcd, which writes
 * protobuf and may have written older versions. The result is JSON in the storage version, or an UnreadableValue.
 */
import { cloneJson } from "../../../api/json/json-clone.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import { decodeObject, hasEnvelope, readEnvelope } from "../../../api/protobuf/envelope.ts";
import { builtInStruct, findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { DecodeError } from "../../../api/schema/decode-error.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import { findLegacyVersion } from "../../../resources/legacy/legacy-versions.ts";
import type { ApiObject, Draft, KindDefinition, KindRules } from "../../../resources/rules/kind-rules.ts";
import { encodeObject } from "../object-encoder.ts";
import { UnreadableValue } from "../unreadable.ts";
import type { Versions } from "../versions.ts";
import { type BuiltInPlace, type CustomPlace, findKeyPlace, type KeyPlace } from "./key-place.ts";
import { readForeignJson } from "./stored-json.ts";

export interface ReadValue {
  /** JSON in the storage version; the stored bytes themselves if they are that. */
  readonly bytes: Buffer;
  /** True if a write today would store the value differently. */
  readonly isStale: boolean;
  readonly object?: ApiObject | undefined;
}

export interface ValueReaderParts {
  readonly versions: Pick<Versions, "between">;
  readonly kinds: readonly KindDefinition[];
}

/** Reason why a value is unreadable, as text for people. */
class ReadProblem extends Error {
  override readonly name = "ReadProblem";
}

export class ValueReader {
  readonly #versions: ValueReaderParts["versions"];
  readonly #definitions: ReadonlyMap<string, KindDefinition>;
  /** Shared frozen specs in normal form, each with the schema that was checked. */
  readonly #checkedSpecs = new WeakMap<object, StructSchema>();

  constructor({ versions, kinds }: ValueReaderParts) {
    this.#versions = versions;
    this.#definitions = new Map(kinds.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]));
  }

  /** Throws an UnreadableValue. A key that belongs to no API object may hold any bytes. */
  read(key: string, bytes: Buffer): ReadValue {
    const found = findKeyPlace(key);
    if (found === undefined) return { bytes, isStale: false };
    try {
      const { place } = found;
      return place.type === "custom"
        ? readCustom(bytes, place, found.rest)
        : this.#readBuiltIn(bytes, place, found.rest);
    } catch (error) {
      throw new UnreadableValue(key, "decode", { why: reasonOf(error), cause: error });
    }
  }

  #readBuiltIn(bytes: Buffer, place: BuiltInPlace, rest: string): ReadValue {
    if (hasEnvelope(bytes)) {
      const envelope = readEnvelope(bytes);
      const { apiVersion, kind } = envelope;
      const decoded = decodeObject(schemaFor(apiVersion, kind, place), envelope);
      return this.#converted(this.#inStoredVersion(decoded, place), place, rest);
    }
    const value = objectOf(readForeignJson(bytes));
    if (value["apiVersion"] === place.storedAs && value["kind"] === place.kind) {
      const normal = this.#normal(value, place);
      checkIdentity(normal, place, rest);
      const object = normal as ApiObject;
      // The entry's revision counts: a resourceVersion in the value would be served beside it.
      if (normal === value && object.metadata.resourceVersion === undefined)
        return { bytes, isStale: false, object };
      const encoded = encodeObject(object);
      if (encoded.bytes.equals(bytes)) return { bytes, isStale: false, object };
    }
    return this.#converted(this.#inStoredVersion(value, place), place, rest);
  }

  #normal(value: JsonObject, { storedAs, kind }: BuiltInPlace): JsonObject {
    const schema = requireSchema(storedAs, kind);
    const { spec } = value;
    const isShared = isJsonObject(spec) && Object.isFrozen(spec);
    const known = isShared && this.#checkedSpecs.get(spec) === schema ? { spec } : undefined;
    const normal = toNormalForm(schema, value, known).value;
    if (isShared && normal["spec"] === spec) this.#checkedSpecs.set(spec, schema);
    return normal;
  }

  /** Converts to the storage version and drops fields that its schema lacks. */
  #inStoredVersion(value: JsonObject, place: BuiltInPlace): JsonObject {
    const { apiVersion, kind } = typeOf(value);
    const { storedAs } = place;
    if (kind !== place.kind)
      throw new ReadProblem(`expected a ${place.kind}, found ${kindText(apiVersion, kind)}`);
    if (apiVersion === storedAs) return toNormalForm(requireSchema(storedAs, kind), value).value;
    if (isVersionOf(apiVersion, place))
      return this.#versions.between(value, { kind, from: apiVersion, to: storedAs });
    const legacy = findLegacyVersion(apiVersion, kind);
    if (legacy === undefined) throw new ReadProblem(`no kind ${kindText(apiVersion, kind)} is known`);
    const { sameAs, schema, convert } = legacy;
    if (sameAs !== undefined)
      return this.#versions.between({ ...value, apiVersion: sameAs }, { kind, from: sameAs, to: storedAs });
    const stored = requireSchema(storedAs, kind);
    const known = schema === undefined ? value : toNormalForm(schema(stored), value).value;
    return toNormalForm(stored, { ...(convert?.(known) ?? known), apiVersion: storedAs }).value;
  }

  /** Adds defaults that the version has gained since the write. */
  #converted(value: JsonObject, place: BuiltInPlace, rest: string): ReadValue {
    const { storedAs, kind } = place;
    checkIdentity(value, place, rest);
    const draft = cloneJson(value) as Draft<ApiObject>;
    const rules: KindRules | undefined = this.#definitions.get(`${storedAs} ${kind}`)?.rules;
    rules?.defaults?.(draft);
    const object = toNormalForm(requireSchema(storedAs, kind), draft).value as ApiObject;
    return { bytes: encodeObject(object).bytes, isStale: true, object };
  }
}

/** Only a custom resource's metadata has a known schema; the definition shapes the rest when it is served. */
function readCustom(bytes: Buffer, place: CustomPlace, rest: string): ReadValue {
  if (hasEnvelope(bytes)) throw new ReadProblem("custom resources have no protobuf form");
  const value = objectOf(readForeignJson(bytes));
  const { apiVersion, kind } = typeOf(value);
  if (apiVersion.slice(0, apiVersion.indexOf("/")) !== place.group)
    throw new ReadProblem(`expected an object of group ${place.group}, found ${kindText(apiVersion, kind)}`);
  const metadata = toNormalForm(builtInStruct("meta.v1.ObjectMeta"), value["metadata"]).value;
  checkIdentity({ ...value, metadata }, place, rest);
  const object = { ...value, metadata } as ApiObject;
  const isAsStored = metadata === value["metadata"] && object.metadata.resourceVersion === undefined;
  if (isAsStored) return { bytes, isStale: false, object };
  return { bytes: encodeObject(object).bytes, isStale: true, object };
}

function objectOf(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new ReadProblem("the value is no API object");
  return value;
}

function typeOf({ apiVersion, kind }: JsonObject): { readonly apiVersion: string; readonly kind: string } {
  if (typeof apiVersion === "string" && typeof kind === "string" && apiVersion !== "" && kind !== "")
    return { apiVersion, kind };
  throw new ReadProblem("the value has no apiVersion or no kind");
}

/** Rejects a value under another object's key: it would be served and written as that object. */
function checkIdentity({ metadata }: JsonObject, place: KeyPlace["place"], rest: string): void {
  if (!isJsonObject(metadata)) throw new ReadProblem("the value has no metadata");
  const { name, namespace } = metadata;
  const slash = rest.indexOf("/");
  const isNamespaced = place.type === "built-in" ? place.namespaced : slash >= 0;
  const expected = isNamespaced
    ? [rest.slice(0, Math.max(slash, 0)), rest.slice(slash + 1)]
    : [undefined, rest];
  if (namespace !== expected[0] || name !== expected[1])
    throw new ReadProblem("metadata.namespace and metadata.name do not match the key");
}

/** Schema of a protobuf value. */
function schemaFor(apiVersion: string, kind: string, place: BuiltInPlace): StructSchema {
  const published = isVersionOf(apiVersion, place) ? findKindSchema(apiVersion, kind) : undefined;
  if (published !== undefined) return published;
  const legacy = kind === place.kind ? findLegacyVersion(apiVersion, kind) : undefined;
  if (legacy === undefined) throw new ReadProblem(`no kind ${kindText(apiVersion, kind)} is known`);
  const stored = requireSchema(legacy.sameAs ?? place.storedAs, kind);
  return legacy.schema?.(stored) ?? stored;
}

function isVersionOf(apiVersion: string, { kind, group }: BuiltInPlace): boolean {
  const isOwnGroup = apiVersion.slice(0, Math.max(apiVersion.indexOf("/"), 0)) === group;
  const isEvent = kind === "Event" && apiVersion === "events.k8s.io/v1";
  return (isOwnGroup || isEvent) && findKindSchema(apiVersion, kind) !== undefined;
}

function requireSchema(apiVersion: string, kind: string): StructSchema {
  const schema = findKindSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`the published API has no ${kind} in ${apiVersion}`);
  return schema;
}

function kindText(apiVersion: string, kind: string): string {
  return `${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`;
}

/** The parser's own message would reveal content, which may be a Secret's. */
function reasonOf(error: unknown): string {
  if (error instanceof ReadProblem || error instanceof DecodeError) return error.message;
  if (error instanceof SyntaxError) return "the value is neither JSON nor protobuf";
  if (error instanceof RangeError) return "the value is nested too deeply or has too many tokens";
  return "the value does not match the schema of its kind";
}
