/**
 * Finds the served resources. Built-in ones come from the facts with the rules of their kinds. Custom resources have
 * the same type at run time, so later stages do not distinguish them.
 */
import type { JSONSchemaProps } from "../../api/generated/types/apiextensions-v1.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { apiVersionOf, groupVersions, isServedByDefault } from "../../api/schema/resource-facts.ts";
import type { GroupVersionFacts, ResourceFacts, StorageFacts } from "../../api/schema/resource-facts.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ApiObject, KindDefinition, KindRules } from "../../resources/rules/kind-rules.ts";
import { convertedRules } from "./converted-rules.ts";
import type { RuleConversion } from "./converted-rules.ts";
import { SpecCache } from "./spec-cache.ts";
import type { StoredObject } from "./stored-object.ts";

export interface Resource {
  readonly facts: ResourceFacts;
  /** For example `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** Schema of this version. */
  readonly schema: StructSchema;
  readonly rules: KindRules;
  /** Warning for clients that use this version. */
  readonly deprecation?: string;
  /** Aborted when the kind is no longer served in this form; watches end then. */
  readonly ended?: AbortSignal;
}

/** A resource whose objects the store keeps. */
export interface StoredResource extends Resource {
  readonly storage: StorageFacts;
  /** apiVersion of the stored objects. */
  readonly storedAs: string;
  readonly storedSchema: StructSchema;
  /** Conversion between the versions of a custom kind; built-in kinds use `Conversions`. */
  readonly custom?: CustomForms;
  /** Set for kinds whose objects repeat their specs. */
  readonly specs?: SpecCache | undefined;
}

/** A resource that passes admission, including those that are never stored, such as reviews. */
export type AdmittedResource = Resource & Partial<Pick<StoredResource, "storage" | "custom">>;

export interface CustomForms {
  /** Changes with the definition of the kind; results cached for an older edition may be invalid. */
  readonly edition: string;
  /** Schema of any version of the kind, served or not. */
  findSchema(apiVersion: string): StructSchema | undefined;
  /**
   * The served form of a stored object: in this version, pruned, with defaults. Returns the same value for the same
   * object.
   */
  served(stored: ApiObject): ApiObject;
  /** True if the served form equals the stored object. Does not keep the object decoded. */
  isServedAsStored(stored: StoredObject): boolean;
  /** The form in which an object of this version is stored. */
  stored(object: ApiObject): ApiObject;
  /** Conversion webhook of the kind, if it has one. */
  readonly webhook?: CustomWebhook | undefined;
}

export interface CustomWebhook {
  /**
   * Await before calling `served` for these; undefined if all are converted already. Rejects when the webhook fails.
   */
  readyToShow(stored: readonly Pick<StoredObject, "object">[]): Promise<void> | undefined;
  /** Await before calling `stored` for this object. */
  readyToStore(object: ApiObject): Promise<void> | undefined;
  /** The resource without conversion, in any version: for reads of metadata only. */
  unconverted(): StoredResource;
}

/** Kinds that users define at run time. */
export interface CustomResources {
  /** The same array until a kind changes. */
  readonly groupVersions: readonly GroupVersionFacts[];
  /** Those that the server itself defines. */
  readonly local?: readonly GroupVersionFacts[];
  find(place: ResourcePlace): Resource | undefined;
  /** Reason why a defined kind is not served. */
  findProblem(place: ResourcePlace): string | undefined;
  /** Resolves when this server knows every kind that another server has served. */
  catchUp(): Promise<void>;
  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined;
  /** Changes with the definition of the kind. */
  editionOf(facts: ResourceFacts): string;
}

interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Decides which group versions are served: by `--runtime-config`, by default the stable ones. */
export type ServedVersions = (groupVersion: GroupVersionFacts) => boolean;

/** Conversions of rules between versions of a kind that differ in more than their name. */
export interface RuleConversions {
  findRuleConversion(kind: string, served: string, ruled: string): RuleConversion | undefined;
}

export interface RegistryOptions {
  readonly conversions?: RuleConversions;
  readonly custom?: CustomResources;
}

export class Registry {
  readonly #builtIn: readonly GroupVersionFacts[];
  readonly #custom: CustomResources | undefined;
  #all: { readonly custom: readonly GroupVersionFacts[]; readonly list: readonly GroupVersionFacts[] };
  readonly #byPath = new Map<string, ResourceFacts>();
  readonly #resources = new Map<ResourceFacts, Resource>();
  readonly #definitions = new Map<string, KindDefinition>();
  readonly #conversions: RuleConversions | undefined;

  constructor(
    definitions: readonly KindDefinition[],
    isServed: ServedVersions = isServedByDefault,
    { conversions, custom }: RegistryOptions = {},
  ) {
    this.#conversions = conversions;
    this.#custom = custom;
    this.#builtIn = groupVersions().filter((groupVersion) => isServed(groupVersion));
    this.#all = { custom: NO_VERSIONS, list: this.#builtIn };
    for (const { resources } of this.#builtIn) {
      for (const facts of resources) this.#byPath.set(pathOf(facts), facts);
    }
    for (const definition of definitions) this.#definitions.set(kindOf(definition), definition);
  }

  /** The built-in group versions; constant. */
  get builtInVersions(): readonly GroupVersionFacts[] {
    return this.#builtIn;
  }

  /** The group versions that are served regardless of users' definitions. */
  get localVersions(): readonly GroupVersionFacts[] {
    return [...this.#builtIn, ...(this.#custom?.local ?? NO_VERSIONS)];
  }

  /** All served group versions: the same array until one changes. */
  get groupVersions(): readonly GroupVersionFacts[] {
    const custom = this.#custom?.groupVersions ?? NO_VERSIONS;
    if (custom !== this.#all.custom) {
      const names = new Set(this.#builtIn.map(apiVersionOf));
      const others = custom.filter((groupVersion) => !names.has(apiVersionOf(groupVersion)));
      this.#all = { custom, list: [...this.#builtIn, ...others] };
    }
    return this.#all.list;
  }

  find(place: ResourcePlace): Resource | undefined {
    const facts = this.#byPath.get(`${place.group}/${place.version}/${place.resource}`);
    return facts === undefined ? this.#custom?.find(place) : this.#resource(facts);
  }

  /** Reason why a defined resource is not found. */
  findProblem(place: ResourcePlace): string | undefined {
    return this.#custom?.findProblem(place);
  }

  /** Await before answering "not found". Undefined if the resource exists, or no other server can have added it. */
  catchUp(place: ResourcePlace): Promise<void> | undefined {
    return place.group === "" || this.find(place) !== undefined ? undefined : this.#custom?.catchUp();
  }

  /** Edition of a custom kind; empty for built-in kinds. */
  editionOf(facts: ResourceFacts): string {
    return facts.definition === undefined ? "" : (this.#custom?.editionOf(facts) ?? "");
  }

  /** Published schema of a custom kind. */
  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined {
    return this.#custom?.findOpenApi(facts);
  }

  /** Created on first use: most kinds are never requested. */
  #resource(facts: ResourceFacts): Resource {
    const known = this.#resources.get(facts);
    if (known !== undefined) return known;
    const made = this.#make(facts);
    this.#resources.set(facts, made);
    return made;
  }

  #make(facts: ResourceFacts): Resource {
    const apiVersion = apiVersionOf(facts);
    const resource = {
      facts,
      apiVersion,
      schema: schemaOf(apiVersion, facts.kind),
      rules: this.#rulesOf(facts),
    };
    if (facts.storage === undefined) return resource;
    const storedAs = apiVersionOf(facts.storage);
    const stored: StoredResource = {
      ...resource,
      storage: facts.storage,
      storedAs,
      storedSchema: schemaOf(storedAs, facts.kind),
      specs: resource.rules.repeatsSpec === true ? new SpecCache() : undefined,
    };
    return stored;
  }

  /** All versions of a kind share the rules that one of them defines. */
  #rulesOf({ group, version, kind }: ResourceFacts): KindRules {
    const apiVersion = apiVersionOf({ group, version });
    const definition = this.#definitions.get(`${group} ${kind}`);
    if (definition === undefined) return {};
    const rules = definition.rules as KindRules;
    const conversion = this.#conversions?.findRuleConversion(kind, apiVersion, definition.apiVersion);
    return conversion === undefined ? rules : convertedRules(rules, conversion);
  }
}

const NO_VERSIONS: readonly GroupVersionFacts[] = [];

function kindOf({ apiVersion, kind }: KindDefinition): string {
  const slash = apiVersion.indexOf("/");
  return `${slash < 0 ? "" : apiVersion.slice(0, slash)} ${kind}`;
}

export function isStored(resource: Resource): resource is StoredResource {
  return "storage" in resource;
}

/** True for a resource that a user defined. */
export function isCustom({ facts }: Resource): boolean {
  return facts.definition !== undefined;
}

/** Returns a resource that the server itself needs; throws if it is not served. */
export function requireStored(registry: Registry, group: string, name: string): StoredResource {
  const resource = registry.find({ group, version: "v1", resource: name });
  if (resource === undefined || !isStored(resource))
    throw new Error(`${name} of group "${group}" are not served`);
  return resource;
}

function schemaOf(apiVersion: string, kind: string): StructSchema {
  const schema = findKindSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`the published API has no structure for ${apiVersion} ${kind}`);
  return schema;
}

function pathOf({
  group,
  version,
  name,
}: {
  readonly group: string;
  readonly version: string;
  readonly name: string;
}): string {
  return `${group}/${version}/${name}`;
}

/** Deprecated built-in APIs, keyed by `apiVersion Kind`. */
const DEPRECATIONS: ReadonlyMap<string, string> = new Map([
  ["v1 ComponentStatus", "v1.19+"],
  ["v1 Endpoints", "v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
]);

/** Warning with the text of kube-apiserver. Undefined for an API that is not deprecated. */
export function findDeprecation({
  apiVersion,
  facts,
  deprecation,
}: Pick<Resource, "apiVersion" | "facts" | "deprecation">): string | undefined {
  if (deprecation !== undefined) return deprecation;
  const name = `${apiVersion} ${facts.kind}`;
  const since = DEPRECATIONS.get(name);
  return since === undefined ? undefined : `${name} is deprecated in ${since}`;
}

export function groupResource({ facts }: Pick<StoredResource, "facts">): { group: string; resource: string } {
  return { group: facts.group, resource: facts.name };
}
