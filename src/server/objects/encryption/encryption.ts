/** Which resources are stored in which way. The first rule that names a resource counts. */
import { groupVersions } from "../../../api/schema/resource-facts.ts";
import type { Transformer } from "./transformer.ts";

/** As configurations name resources; `*` stands for all of a group, or for all groups. */
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
  /** By the part of a key that names its resource. As many as there are resources. */
  readonly #known = new Map<string, Transformer | undefined>();
  #hasChanged = false;

  constructor(rules: readonly EncryptionRule[]) {
    this.#rules = rules;
  }

  /** Whether it was another one before: what is known of stored values may be from then. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** From now on what another says holds. */
  becomes(other: Encryption): void {
    this.#rules = other.#rules;
    this.#hasChanged = true;
    this.#known.clear();
  }

  /** Undefined where objects are stored as they are. */
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

/** `secrets`, `services/specs`, `example.com/widgets`. */
function prefixOf(key: string): string | undefined {
  if (!key.startsWith(ROOT)) return undefined;
  const first = key.indexOf("/", ROOT.length);
  if (first < 0) return undefined;
  const short = key.slice(ROOT.length, first);
  if (builtInNames().has(short)) return short;
  const second = key.indexOf("/", first + 1);
  return second < 0 ? undefined : key.slice(ROOT.length, second);
}

/** Groups of custom resources have a dot, and the paths of no others do that are not built in. */
function customName(prefix: string): ResourceName | undefined {
  const slash = prefix.indexOf("/");
  const group = prefix.slice(0, slash);
  return group.includes(".") ? { group, resource: prefix.slice(slash + 1) } : undefined;
}

let names: ReadonlyMap<string, ResourceName> | undefined;

/** By their places in the store, which all versions of a resource share. */
function builtInNames(): ReadonlyMap<string, ResourceName> {
  return (names ??= new Map(
    groupVersions()
      .flatMap(({ resources }) => resources)
      .flatMap(({ name, storage }) =>
        storage === undefined ? [] : [[storage.prefix, { group: storage.group, resource: name }] as const],
      ),
  ));
}
