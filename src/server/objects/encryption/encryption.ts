/** Maps resources to transformers. The first rule that names a resource applies. */
import { groupVersions } from "../../../api/schema/resource-facts.ts";
import type { Transformer } from "./transformer.ts";

/** A resource name in a configuration; `*` matches all resources of a group, or all groups. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

export interface EncryptionRule {
  readonly resources: readonly ResourceName[];
  readonly transformer: Transformer;
}

export class Encryption {
  #rules: readonly EncryptionRule[];
  /** Keyed by the key part that names the resource, so the number of entries is bounded by the resources. */
  readonly #known = new Map<string, Transformer | undefined>();
  #hasChanged = false;

  constructor(rules: readonly EncryptionRule[]) {
    this.#rules = rules;
  }

  /** True once `becomes` was called: cached results about stored values may be out of date. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Replaces the rules by those of another configuration. */
  becomes(other: Encryption): void {
    this.#rules = other.#rules;
    this.#hasChanged = true;
    this.#known.clear();
  }

  /** Undefined for a resource that is stored unencrypted. */
  transformerOf(key: string): Transformer | undefined {
    const prefix = prefixOf(key);
    if (prefix === undefined) return undefined;
    const known = this.#known.get(prefix);
    if (known !== undefined || this.#known.has(prefix)) return known;
    const found = this.#find(prefix);
    this.#known.set(prefix, found);
    return found;
  }

  #find(prefix: string): Transformer | undefined {
    const name = builtInNames().get(prefix) ?? customName(prefix);
    if (name === undefined) return undefined;
    return this.#rules.find(({ resources }) => resources.some((one) => covers(one, name)))?.transformer;
  }
}

export function covers(pattern: ResourceName, { group, resource }: ResourceName): boolean {
  const isGroup = pattern.group === "*" || pattern.group === group;
  return isGroup && (pattern.resource === "*" || pattern.resource === resource);
}

const ROOT = "/registry/";

/** For example `secrets`, `services/specs` or `example.com/widgets`. */
function prefixOf(key: string): string | undefined {
  if (!key.startsWith(ROOT)) return undefined;
  const first = key.indexOf("/", ROOT.length);
  if (first < 0) return undefined;
  const short = key.slice(ROOT.length, first);
  if (builtInNames().has(short)) return short;
  const second = key.indexOf("/", first + 1);
  return second < 0 ? undefined : key.slice(ROOT.length, second);
}

/** Only groups of custom resources contain a dot, apart from built-in paths. */
function customName(prefix: string): ResourceName | undefined {
  const slash = prefix.indexOf("/");
  const group = prefix.slice(0, slash);
  return group.includes(".") ? { group, resource: prefix.slice(slash + 1) } : undefined;
}

let names: ReadonlyMap<string, ResourceName> | undefined;

/** Keyed by the storage prefix, which all versions of a resource share. */
function builtInNames(): ReadonlyMap<string, ResourceName> {
  return (names ??= new Map(
    groupVersions()
      .flatMap(({ resources }) => resources)
      .flatMap(({ name, storage }) =>
        storage === undefined ? [] : [[storage.prefix, { group: storage.group, resource: name }] as const],
      ),
  ));
}
