/**
 * One edition of a custom kind, served until its definition changes. Schemas are compiled for each version at first
 * use.
 */
import type {
  CustomResourceDefinition,
  JSONSchemaProps,
} from "../../api/generated/types/apiextensions-v1.ts";
import { apiVersionOf } from "../../api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../api/schema/resource-facts.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { toCustomNormalForm } from "../../api/structural/custom-normal-form.ts";
import { withDefaults } from "../../api/structural/default-values.ts";
import { kindStruct } from "../../api/structural/schema-nodes.ts";
import { compileStructural, type Structural } from "../../api/structural/structural.ts";
import { errorText } from "../../base/error-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry } from "../../store/store.ts";
import type { CustomForms, StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { conversionWebhook } from "./conversion-webhook.ts";
import type { ConversionParts } from "./conversion-webhook.ts";
import { ConvertedObjects } from "./converted-objects.ts";
import { customFacts } from "./custom-facts.ts";
import type { CustomOutline, VersionOutline } from "./custom-outline.ts";
import { customRules } from "./custom-rules.ts";

interface Compiled {
  readonly structural: Structural;
  readonly struct: StructSchema;
}

/** The version to convert an object to. */
interface Target {
  readonly apiVersion: string;
  readonly compiled: Compiled;
}

interface ConvertedTarget extends Target {
  /** Set if a webhook converts the versions of the kind. */
  readonly converted?: ConvertedObjects | undefined;
}

export class CustomKind {
  readonly outline: CustomOutline;
  /** Store entry of the definition. All entries of one edition have the same schemas. */
  readonly #entry: Entry;
  readonly #ending = new AbortController();
  readonly #facts = new Map<string, ResourceFacts>();
  readonly #compiled = new Map<string, Compiled | undefined>();
  readonly #resources = new Map<string, StoredResource>();

  readonly #parts: ConversionParts;

  constructor(entry: Entry, outline: CustomOutline, parts: ConversionParts) {
    this.#entry = entry;
    this.outline = outline;
    this.#parts = parts;
  }

  /** Reason why an established kind cannot be served. */
  problem: string | undefined;

  /** Aborted when another edition replaces this one or the kind is deleted. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort();
  }

  /** Facts of the served versions, in the order of the definition. */
  get served(): readonly ResourceFacts[] {
    if (!this.outline.isEstablished) return [];
    return this.outline.versions.filter(({ isServed }) => isServed).map((version) => this.#factsOf(version));
  }

  /** Undefined for a version that is not served. */
  find(version: string): StoredResource | undefined {
    const outline = this.outline.versions.find(({ name }) => name === version);
    if (outline?.isServed !== true || !this.outline.isEstablished) return undefined;
    try {
      return this.#resource(outline);
    } catch (error) {
      // A definition that bypassed validation may be broken. Only its own kind is not served then.
      this.problem = errorText(error);
      return undefined;
    }
  }

  /**
   * The resource with its objects as stored, without conversion; used to delete them. Undefined for a kind that was
   * never established: objects under its prefix belong to another kind.
   */
  findStored(): StoredResource | undefined {
    if (!this.outline.isEstablished) return undefined;
    const outline = this.outline.versions.find(({ name }) => name === this.outline.storageVersion);
    const resource = outline === undefined ? undefined : this.#resource(outline);
    if (resource?.custom === undefined) return undefined;
    return unconverted(resource, resource.custom);
  }

  /** Schema as the definition has it; undefined for an unknown version. */
  findOpenApi(version: string): JSONSchemaProps | undefined {
    return this.#definition.spec.versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  }

  get #definition(): CustomResourceDefinition {
    return StoredObject.of(this.#entry).object as CustomResourceDefinition;
  }

  #factsOf(version: VersionOutline): ResourceFacts {
    const known = this.#facts.get(version.name);
    if (known !== undefined) return known;
    const facts = customFacts(this.outline, version);
    this.#facts.set(version.name, facts);
    return facts;
  }

  #resource(version: VersionOutline): StoredResource {
    const known = this.#resources.get(version.name);
    if (known !== undefined) return known;
    const made = this.#make(version);
    this.#resources.set(version.name, made);
    return made;
  }

  #make(version: VersionOutline): StoredResource {
    const facts = this.#factsOf(version);
    const { group, storageVersion } = this.outline;
    const own = this.#compile(version.name);
    const stored = this.#compile(storageVersion);
    if (own === undefined || stored === undefined || facts.storage === undefined)
      throw new Error(`${facts.name}.${group} has no schema for ${version.name}`);
    const apiVersion = apiVersionOf(facts);
    const storedAs = apiVersionOf(facts.storage);
    const resource = {
      facts,
      apiVersion,
      schema: own.struct,
      rules: customRules(own.structural, version),
      storage: facts.storage,
      storedAs,
      storedSchema: stored.struct,
      ended: this.ended,
      ...(version.deprecation !== undefined && { deprecation: version.deprecation }),
    };
    const shown = { apiVersion, compiled: own };
    return { ...resource, custom: this.#forms(resource, shown, { apiVersion: storedAs, compiled: stored }) };
  }

  #forms(resource: StoredResource, shown: Target, stored: Target): CustomForms {
    const toShow = this.#converted(shown, (object) => this.#filled(object, shown));
    const toStore = this.#converted(stored, (object) => object);
    const forms = {
      edition: this.outline.edition(),
      findSchema: (asked: string) => this.#findVersion(asked)?.struct,
      served: this.#reader({ ...shown, converted: toShow }),
      isServedAsStored: this.#comparison(shown),
      stored: (object: ApiObject) => inTargetVersion(object, { ...stored, converted: toStore }),
    };
    if (toShow === undefined || toStore === undefined) return forms;
    const webhook = {
      readyToShow: (objects: readonly Pick<StoredObject, "object">[]) => readyIn(toShow, objects),
      readyToStore: (object: ApiObject) => toStore.ready([object]),
      unconverted: () => unconverted(resource, forms),
    };
    return { ...forms, webhook };
  }

  /** Conversions by the webhook. Undefined if versions differ only in apiVersion and schema. */
  #converted({ apiVersion }: Target, sent: (object: ApiObject) => ApiObject): ConvertedObjects | undefined {
    const { conversion } = this.#definition.spec;
    if (conversion?.strategy !== "Webhook") return undefined;
    return new ConvertedObjects({ apiVersion, sent, convert: conversionWebhook(conversion, this.#parts) });
  }

  #reader(target: ConvertedTarget): (object: ApiObject) => ApiObject {
    const made = new WeakMap<ApiObject, ApiObject>();
    return (object) => {
      const known = made.get(object);
      if (known !== undefined) return known;
      const isAsked = target.converted !== undefined && object.apiVersion !== target.apiVersion;
      const shown = inTargetVersion(isAsked ? object : this.#filled(object, target), target);
      made.set(object, shown);
      return shown;
    };
  }

  #comparison(target: Target): (stored: StoredObject) => boolean {
    const found = new WeakMap<StoredObject, boolean>();
    return (stored) => {
      const known = found.get(stored);
      if (known !== undefined) return known;
      const object = stored.peek();
      const isSame =
        object.apiVersion === target.apiVersion &&
        inTargetVersion(this.#filled(object, target), target) === object;
      found.set(stored, isSame);
      return isSame;
    };
  }

  /** Adds the defaults of the version that the object is in. */
  #filled(object: ApiObject, { compiled }: Target): ApiObject {
    const source = this.#findVersion(object.apiVersion) ?? compiled;
    return withDefaults(source.structural, object) as ApiObject;
  }

  #findVersion(apiVersion: string): Compiled | undefined {
    const { group } = this.outline;
    return apiVersion.startsWith(`${group}/`) ? this.#compile(apiVersion.slice(group.length + 1)) : undefined;
  }

  #compile(version: string): Compiled | undefined {
    if (this.#compiled.has(version)) return this.#compiled.get(version);
    const schema = this.findOpenApi(version);
    const compiled = schema === undefined ? undefined : this.#compiledFrom(schema, version);
    this.#compiled.set(version, compiled);
    return compiled;
  }

  #compiledFrom(schema: JSONSchemaProps, version: string): Compiled {
    const structural = compileStructural(schema);
    const { group, names } = this.outline;
    return { structural, struct: kindStruct({ group, version, kind: names.kind }, structural) };
  }
}

/** An object may be replaced in the cache while its conversion is in flight; the new one is then converted too. */
function readyIn(
  converted: ConvertedObjects,
  objects: readonly Pick<StoredObject, "object">[],
): Promise<void> | undefined {
  return converted.ready(objects.map(({ object }) => object))?.then(() => readyIn(converted, objects));
}

/** The object in the version of the target, pruned to its schema. Without a webhook only `apiVersion` changes. */
function inTargetVersion(object: ApiObject, { apiVersion, compiled, converted }: ConvertedTarget): ApiObject {
  const isSame = object.apiVersion === apiVersion;
  const renamed = isSame ? object : (converted?.find(object) ?? { ...object, apiVersion });
  return toCustomNormalForm(compiled.structural, renamed).value as ApiObject;
}

/** The resource with its objects as stored, without conversion. */
function unconverted(resource: StoredResource, forms: CustomForms): StoredResource {
  const asItIs = (object: ApiObject): ApiObject => object;
  return { ...resource, custom: { ...forms, served: asItIs, stored: asItIs, webhook: undefined } };
}
