/** Objects in the store: under which key, in which bytes, in which version. */
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

/** Everything is below, as kube-apiserver has it. */
const ROOT = "/registry/";

/** Of all objects of a resource, or of those in one namespace. Ends with a slash, so that no other name begins with it. */
export function prefixOf({ storage }: Pick<StoredResource, "storage">, namespace: string): string {
  return namespace === "" ? `${ROOT}${storage.prefix}/` : `${ROOT}${storage.prefix}/${namespace}/`;
}

export function keyOf(resource: StoredResource, namespace: string, name: string): string {
  return prefixOf(resource, resource.facts.namespaced ? namespace : "") + name;
}

/** Between versions of one resource whose fields differ in more than the version's name. */
export type Conversions = ReadonlyMap<string, Conversion>;

function conversionName(kind: string, from: string, to: string): string {
  return `${kind}: ${from} -> ${to}`;
}

export class Versions {
  readonly #conversions: Conversions;

  constructor(conversions: Conversions) {
    this.#conversions = conversions;
  }

  /** As the version of this resource has it. */
  served(stored: StoredObject, resource: StoredResource): ApiObject {
    if (resource.custom !== undefined) return resource.custom.served(stored.object);
    return this.#convert(stored.object, resource, resource.apiVersion);
  }

  /** As it is kept. */
  stored(object: ApiObject, resource: StoredResource): ApiObject {
    if (resource.custom !== undefined) return resource.custom.stored(object);
    return this.#convert(object, resource, resource.storedAs);
  }

  /** To be awaited before these are shown or looked at; undefined when nothing has to be waited for. */
  readyToShow(stored: readonly StoredObject[], { custom }: StoredResource): Promise<void> | undefined {
    return custom?.webhook?.readyToShow(stored);
  }

  /** The same before one is stored. */
  readyToStore(object: ApiObject, { custom }: StoredResource): Promise<void> | undefined {
    return custom?.webhook?.readyToStore(object);
  }

  entry(entry: Entry, resource: StoredResource): ApiObject {
    return this.served(StoredObject.of(entry), resource);
  }

  /** Between any two versions of a kind. The object may lack what normal form has: an applier gives things up. */
  between(object: JsonObject, { kind, from, to }: VersionChange): JsonObject {
    const conversion = this.#conversions.get(conversionName(kind, from, to));
    const converted = conversion?.(toNormalForm(schemaOf(from, kind), object).value) ?? object;
    return toNormalForm(schemaOf(to, kind), { ...converted, apiVersion: to }).value;
  }

  /** Whether the metadata of this version may differ from what is stored. */
  hasOwnMetadata({ facts, storedAs, apiVersion }: StoredResource): boolean {
    return this.#conversions.has(conversionName(facts.kind, storedAs, apiVersion));
  }

  /** Undefined when rules for one version fit the other as they are. */
  findRuleConversion(kind: string, served: string, ruled: string): RuleConversion | undefined {
    if (!this.#conversions.has(conversionName(kind, served, ruled))) return undefined;
    const change = (object: ApiObject, from: string, to: string): ApiObject =>
      cloneJson(this.between(object as unknown as JsonObject, { kind, from, to })) as unknown as ApiObject;
    return {
      toRules: (object) => change(object, served, ruled),
      fromRules: (object) => change(object, ruled, served),
    };
  }

  #convert(object: ApiObject, { apiVersion, storedAs, facts }: StoredResource, to: string): ApiObject {
    if (apiVersion === storedAs) return object;
    const from = to === storedAs ? apiVersion : storedAs;
    return this.between(object as unknown as JsonObject, {
      kind: facts.kind,
      from,
      to,
    }) as unknown as ApiObject;
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
