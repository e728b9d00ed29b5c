/** Maps objects to their key, bytes and version in the store. */
import { cloneJson } from "../../api/json/json-clone.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../api/schema/normal-form.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ApiObject, Conversion } from "../../resources/rules/kind-rules.ts";
import type { Entry } from "../../store/store.ts";
import type { RuleConversion } from "./converted-rules.ts";
import type { StoredResource } from "./registry.ts";
import { StoredObject } from "./stored-object.ts";

/** Root of all keys, as in kube-apiserver. */
const ROOT = "/registry/";

/** Key prefix of a resource, or of its objects in one namespace. The final slash keeps longer names apart. */
export function prefixOf({ storage }: Pick<StoredResource, "storage">, namespace: string): string {
  return namespace === "" ? `${ROOT}${storage.prefix}/` : `${ROOT}${storage.prefix}/${namespace}/`;
}

export function keyOf(resource: StoredResource, namespace: string, name: string): string {
  return prefixOf(resource, resource.facts.namespaced ? namespace : "") + name;
}

/** Conversions between versions of a resource that differ in more than their name. */
export type Conversions = ReadonlyMap<string, Conversion>;

function conversionName(kind: string, from: string, to: string): string {
  return `${kind}: ${from} -> ${to}`;
}

export class Versions {
  readonly #conversions: Conversions;

  constructor(conversions: Conversions) {
    this.#conversions = conversions;
  }

  /** Converts to the resource's served version. */
  served(stored: StoredObject, resource: StoredResource): ApiObject {
    if (resource.custom !== undefined) return resource.custom.served(stored.object);
    return this.#convert(stored.object, resource, resource.apiVersion);
  }

  /** The object as a read would show it once it was written: reads of custom kinds fill in defaults. */
  asRead(object: ApiObject, { custom }: StoredResource): ApiObject {
    return custom === undefined ? object : custom.served(object);
  }

  /** Converts to the storage version. */
  stored(object: ApiObject, resource: StoredResource): ApiObject {
    if (resource.custom !== undefined) return resource.custom.stored(object);
    return this.#convert(object, resource, resource.storedAs);
  }

  /** Await before serving or inspecting these; undefined if no conversion is pending. */
  readyToShow(stored: readonly StoredObject[], { custom }: StoredResource): Promise<void> | undefined {
    return custom?.webhook?.readyToShow(stored);
  }

  /** Await before storing the object. */
  readyToStore(object: ApiObject, { custom }: StoredResource): Promise<void> | undefined {
    return custom?.webhook?.readyToStore(object);
  }

  entry(entry: Entry, resource: StoredResource): ApiObject {
    return this.served(StoredObject.of(entry), resource);
  }

  /**
   * Converts between any two versions of a kind. The object may lack fields of the normal form, because an apply may
   * remove them.
   */
  between(object: JsonObject, { kind, from, to }: VersionChange): JsonObject {
    const conversion = this.#conversions.get(conversionName(kind, from, to));
    const converted = conversion?.(toNormalForm(schemaOf(from, kind), object).value) ?? object;
    return toNormalForm(schemaOf(to, kind), { ...converted, apiVersion: to }).value;
  }

  /** True if the metadata of this version may differ from the stored metadata. */
  hasOwnMetadata({ facts, storedAs, apiVersion }: StoredResource): boolean {
    return this.#conversions.has(conversionName(facts.kind, storedAs, apiVersion));
  }

  /** Undefined if the rules of one version fit the other unchanged. */
  findRuleConversion(kind: string, served: string, ruled: string): RuleConversion | undefined {
    if (!this.#conversions.has(conversionName(kind, served, ruled))) return undefined;
    const change = (object: ApiObject, from: string, to: string): ApiObject =>
      cloneJson(this.between(object, { kind, from, to })) as ApiObject;
    return {
      toRules: (object) => change(object, served, ruled),
      fromRules: (object) => change(object, ruled, served),
    };
  }

  #convert(object: ApiObject, { apiVersion, storedAs, facts }: StoredResource, to: string): ApiObject {
    if (apiVersion === storedAs) return object;
    const from = to === storedAs ? apiVersion : storedAs;
    return this.between(object, {
      kind: facts.kind,
      from,
      to,
    }) as ApiObject;
  }
}

function schemaOf(apiVersion: string, kind: string): StructSchema {
  const schema = findKindSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`there is no ${kind} in ${apiVersion}`);
  return schema;
}

interface VersionChange {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
}
