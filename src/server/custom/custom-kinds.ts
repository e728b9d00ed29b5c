/**
 * Serves exactly the custom kinds whose definitions are in the store's visible state. Lookups read that state
 * directly instead of a copy. So every server of a cluster serves a kind as soon as its definition is visible there.
 */
import type { JSONSchemaProps } from "../../api/generated/types/apiextensions-v1.ts";
import type { GroupVersionFacts, ResourceFacts } from "../../api/schema/resource-facts.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, Store } from "../../store/store.ts";
import type { CustomResources, StoredResource } from "../objects/registry.ts";
import type { ConversionParts } from "./conversion-webhook.ts";
import { CustomKind } from "./custom-kind.ts";
import { findOutline } from "./custom-outline.ts";

/** Key prefix of the definitions. */
export const DEFINITIONS = "/registry/apiextensions.k8s.io/customresourcedefinitions/";

/** Upstream's discovery priority of custom groups. */
export const CUSTOM_ORDER: readonly [group: number, version: number] = [1000, 100];

interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export class CustomKinds implements CustomResources {
  readonly #store: Store;
  readonly #conversion: ConversionParts;
  /** Keyed by the name of the definition; bounded by the number of definitions. */
  readonly #kinds = new Map<string, { entry: Entry; kind: CustomKind }>();
  #entries: readonly Entry[] = [];
  #groupVersions: readonly GroupVersionFacts[] = [];

  constructor(store: Store, conversion: ConversionParts) {
    this.#store = store;
    this.#conversion = conversion;
  }

  find({ group, version, resource }: Place): StoredResource | undefined {
    return this.kind(`${resource}.${group}`)?.find(version);
  }

  findProblem({ group, resource }: Place): string | undefined {
    const name = `${resource}.${group}`;
    const problem = this.kind(name)?.problem;
    return problem === undefined
      ? undefined
      : `the definition ${DEFINITIONS}${name} cannot be served: ${problem}`;
  }

  /** Waits until the view is as new as any other server's. A kind that is still unknown then exists on no server. */
  async catchUp(): Promise<void> {
    await this.#store.fresh();
  }

  /** The kind of a definition, by the definition's name. */
  kind(name: string): CustomKind | undefined {
    const entry = this.#store.view.get(DEFINITIONS + name);
    const known = this.#kinds.get(name);
    if (known?.entry === entry) return known?.kind;
    const outline = entry === undefined ? undefined : findOutline(entry);
    if (entry === undefined || outline === undefined) {
      this.#forget(name);
      return undefined;
    }
    if (known !== undefined && known.kind.outline.edition() === outline.edition()) {
      known.entry = entry;
      return known.kind;
    }
    this.#forget(name);
    const kind = new CustomKind(entry, outline, this.#conversion);
    this.#kinds.set(name, { entry, kind });
    return kind;
  }

  /** Ends the previous edition of a kind in use. Kinds that are not in use are read at their next lookup. */
  renew(name: string): void {
    if (this.#kinds.has(name)) this.kind(name);
  }

  /** Returns the identical list until its content changes. */
  get groupVersions(): readonly GroupVersionFacts[] {
    const entries = [...this.#store.view.range(DEFINITIONS, prefixEnd(DEFINITIONS))];
    if (isSame(entries, this.#entries)) return this.#groupVersions;
    this.#entries = entries;
    const served = entries.flatMap(({ key }) => this.kind(key.slice(DEFINITIONS.length))?.served ?? []);
    const next = grouped(served, this.#groupVersions);
    if (!isSame(next, this.#groupVersions)) this.#groupVersions = next;
    return this.#groupVersions;
  }

  findOpenApi({ name, group, version }: ResourceFacts): JSONSchemaProps | undefined {
    return this.kind(`${name}.${group}`)?.findOpenApi(version);
  }

  editionOf({ name, group }: ResourceFacts): string {
    return this.kind(`${name}.${group}`)?.outline.edition() ?? "";
  }

  #forget(name: string): void {
    this.#kinds.get(name)?.kind.end();
    this.#kinds.delete(name);
  }
}

/** Groups facts by group and version; reuses unchanged lists. */
function grouped(
  served: readonly ResourceFacts[],
  before: readonly GroupVersionFacts[],
): readonly GroupVersionFacts[] {
  const byVersion = new Map<string, ResourceFacts[]>();
  for (const facts of served) {
    const name = `${facts.group}/${facts.version}`;
    const members = byVersion.get(name);
    if (members === undefined) byVersion.set(name, [facts]);
    else members.push(facts);
  }
  const known = new Map(before.map((facts) => [`${facts.group}/${facts.version}`, facts]));
  return [...byVersion.keys()].toSorted().flatMap((name) => {
    const resources = byVersion.get(name) ?? [];
    const old = known.get(name);
    const [first] = resources;
    if (old !== undefined && isSame(old.resources, resources)) return [old];
    return first === undefined
      ? []
      : [{ group: first.group, version: first.version, order: CUSTOM_ORDER, resources }];
  });
}

function isSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at]);
}
