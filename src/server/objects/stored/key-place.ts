/** Finds the resource of a store key, by the key layout of kube-apiserver. */
import { apiVersionOf, groupVersions } from "../../../api/schema/resource-facts.ts";

const ROOT = "/registry/";

/** A built-in resource; its versions share one prefix. */
export interface BuiltInPlace {
  readonly type: "built-in";
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  /** apiVersion of the stored objects. */
  readonly storedAs: string;
  readonly namespaced: boolean;
}

/** A custom resource: only its CustomResourceDefinition knows its kind. */
export interface CustomPlace {
  readonly type: "custom";
  readonly group: string;
  readonly resource: string;
}

export interface KeyPlace {
  readonly place: BuiltInPlace | CustomPlace;
  /** Part of the key after the resource: `default/web`, or `node-1`. */
  readonly rest: string;
}

/** Undefined for a key that belongs to no API object. */
export function findKeyPlace(key: string): KeyPlace | undefined {
  if (!key.startsWith(ROOT)) return undefined;
  const first = key.indexOf("/", ROOT.length);
  if (first < 0) return undefined;
  const name = key.slice(ROOT.length, first);
  const builtIn = builtInPlaces().get(name);
  if (builtIn !== undefined) return { place: builtIn, rest: key.slice(first + 1) };
  const second = key.indexOf("/", first + 1);
  if (second < 0) return undefined;
  const long = builtInPlaces().get(key.slice(ROOT.length, second));
  const rest = key.slice(second + 1);
  if (long !== undefined) return { place: long, rest };
  // Groups of custom resources contain a dot; the first part of other keys does not, apart from built-in prefixes.
  if (!name.includes(".")) return undefined;
  return { place: { type: "custom", group: name, resource: key.slice(first + 1, second) }, rest };
}

let places: ReadonlyMap<string, BuiltInPlace> | undefined;

/** Keyed by the key part that names the resource: `pods`, `services/specs`. */
function builtInPlaces(): ReadonlyMap<string, BuiltInPlace> {
  return (places ??= new Map(
    groupVersions()
      .flatMap(({ resources }) => resources)
      .flatMap(({ name, kind, namespaced, storage }): [string, BuiltInPlace][] => {
        if (storage === undefined) return [];
        const { prefix, group } = storage;
        const storedAs = apiVersionOf(storage);
        return [[prefix, { type: "built-in", group, resource: name, kind, storedAs, namespaced }]];
      }),
  ));
}
