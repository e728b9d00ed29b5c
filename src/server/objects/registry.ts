/**
 * All resources that are served, built-in ones from the facts with the rules of their kinds. A custom resource becomes the
 * same thing at run time: nothing behind this knows which is which.
 */
import type { JSONSchemaProps } from "../../api/generated/types/apiextensions-v1.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { apiVersionOf, groupVersions, isServedByDefault } from "../../api/schema/resource-facts.ts";
import type { GroupVersionFacts, ResourceFacts, StorageFacts } from "../../api/schema/resource-facts.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ApiObject, KindDefinition, KindRules } from "../../resources/rules/kind-rules.ts";
import { SharedSpecs } from "./caches/shared-specs.ts";
import { convertedRules } from "./converted-rules.ts";
import type { RuleConversion } from "./converted-rules.ts";
import type { StoredObject } from "./stored-object.ts";

export interface Resource {
  readonly facts: ResourceFacts;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** Of this version. */
  readonly schema: StructSchema;
  readonly rules: KindRules;
  /** What whoever uses this version is told. */
  readonly deprecation?: string;
  /** Aborted when the kind is served in this way no longer; watches end then. */
  readonly ended?: AbortSignal;
}

/** A resource that is kept in the store. */
export interface StoredResource extends Resource {
  readonly storage: StorageFacts;
  /** The version it is kept in. */
  readonly storedAs: string;
  readonly storedSchema: StructSchema;
  /** How the versions of a custom kind become each other; built-in ones have conversions. */
  readonly custom?: CustomForms;
  /** Of kinds whose objects repeat their specs. */
  readonly specs?: SharedSpecs | undefined;
}

/** What passes admission: also what is never stored, such as reviews. */
export type AdmittedResource = Resource & Partial<Pick<StoredResource, "storage" | "custom">>;

export interface CustomForms {
  /** Another one when the definition of the kind has changed: what was made of objects before may be different now. */
  readonly edition: string;
  /** Of a version that the kind has, served or not. */
  findSchema(apiVersion: string): StructSchema | undefined;
  /** What is shown of a stored object: in this version, pruned and with defaults; the same for the same object. */
  served(stored: ApiObject): ApiObject;
  /** Whether that is the stored object itself, found out without keeping it decoded. */
  isServedAsStored(stored: StoredObject): boolean;
  /** What is stored of an object of this version. */
  stored(object: ApiObject): ApiObject;
  /** Who else has to be asked before objects can be shown or stored: kinds whose versions only their author can convert. */
  readonly webhook?: CustomWebhook | undefined;
}

export interface CustomWebhook {
  /** To be awaited before `served` is asked about these; undefined when all are known. Rejects when nobody can convert them. */
  readyToShow(stored: readonly Pick<StoredObject, "object">[]): Promise<void> | undefined;
  /** To be awaited before `stored` is asked about this one. */
  readyToStore(object: ApiObject): Promise<void> | undefined;
  /** The resource as it lies there, whatever its version: for those who only look at metadata. */
  unconverted(): StoredResource;
}

/** Kinds that users define, which come and go at run time. */
export interface CustomResources {
  /** The same list as long as nothing changes in it. */
  readonly groupVersions: readonly GroupVersionFacts[];
  /** Those among them that this server brings along itself. */
  readonly local?: readonly GroupVersionFacts[];
  find(place: ResourcePlace): Resource | undefined;
  /** Why a kind that is defined is not served. */
  findProblem(place: ResourcePlace): string | undefined;
  /** Resolves when every kind that another server has shown is known here. */
  catchUp(): Promise<void>;
  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined;
  /** Another one when the definition of the kind has changed. */
  editionOf(facts: ResourceFacts): string;
}

interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Which group versions are served: as `--runtime-config` says, else the stable ones. */
export type ServedVersions = (groupVersion: GroupVersionFacts) => boolean;

/** Between the versions of one kind, where they differ in more than their name. */
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

  /** Those of the published API, which are always the same. */
  get builtInVersions(): readonly GroupVersionFacts[] {
    return this.#builtIn;
  }

  /** Those that are served whatever users define. */
  get localVersions(): readonly GroupVersionFacts[] {
    return [...this.#builtIn, ...(this.#custom?.local ?? NO_VERSIONS)];
  }

  /** Everything that is served now: the same list as long as nothing changes in it. */
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

  /** Why a resource that is defined is not found. */
  findProblem(place: ResourcePlace): string | undefined {
    return this.#custom?.findProblem(place);
  }

  /** To be awaited before a resource is said not to be there; `undefined` when it is, or nobody else can have added it. */
  catchUp(place: ResourcePlace): Promise<void> | undefined {
    return place.group === "" || this.find(place) !== undefined ? undefined : this.#custom?.catchUp();
  }

  /** Of a custom kind; empty for those of the published API. */
  editionOf(facts: ResourceFacts): string {
    return facts.definition === undefined ? "" : (this.#custom?.editionOf(facts) ?? "");
  }

  /** The published schema of a custom kind. */
  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined {
    return this.#custom?.findOpenApi(facts);
  }

  /** Made when first asked for: most kinds are never touched. */
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
      specs: resource.rules.repeatsSpec === true ? new SharedSpecs() : undefined,
    };
    return stored;
  }

  /** The versions of a kind share the rules of the one that has any. */
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

/** Made by users. */
export function isCustom({ facts }: Resource): boolean {
  return facts.definition !== undefined;
}

/** A resource that the server itself cannot do without. */
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
