/** Caches the objects of a custom kind that its webhook converted to one version. */
import { piecesOf } from "../../base/collections/pieces.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Convert } from "./conversion-webhook.ts";

export interface ConversionTarget {
  readonly apiVersion: string;
  readonly convert: Convert;
  /** The object as it is sent to the webhook, with the defaults of its own version. */
  readonly sent: (object: ApiObject) => ApiObject;
}

/** Upper bound of objects in one call; more objects take several calls in sequence. */
const OBJECTS_MAX = 500;

export class ConvertedObjects {
  readonly #target: ConversionTarget;
  readonly #made = new WeakMap<ApiObject, ApiObject>();
  /** Conversions in flight. Many watchers need the same object at the same time, but the webhook is called once. */
  readonly #underWay = new WeakMap<ApiObject, Promise<void>>();

  constructor(target: ConversionTarget) {
    this.#target = target;
  }

  /** The converted object. Throws unless `ready` was awaited for it. */
  find(object: ApiObject): ApiObject {
    const { apiVersion } = this.#target;
    if (object.apiVersion === apiVersion) return object;
    const found = this.#made.get(object);
    if (found === undefined)
      throw new Error(`${object.kind} was read in ${apiVersion} before its conversion was awaited`);
    return found;
  }

  ready(objects: readonly ApiObject[]): Promise<void> | undefined {
    const { apiVersion } = this.#target;
    const missing = objects.filter((object) => object.apiVersion !== apiVersion && !this.#made.has(object));
    if (missing.length === 0) return undefined;
    const fresh = missing.filter((object) => !this.#underWay.has(object));
    for (const each of byVersion(fresh)) this.#begin(each);
    const all = new Set(missing.flatMap((object) => this.#underWay.get(object) ?? []));
    return Promise.all(all).then(() => undefined);
  }

  /** A failed conversion is not cached: the next reader calls the webhook again. */
  #begin(objects: readonly ApiObject[]): void {
    const asked = this.#convert(objects).finally(() => {
      for (const object of objects) this.#underWay.delete(object);
    });
    for (const object of objects) this.#underWay.set(object, asked);
  }

  async #convert(objects: readonly ApiObject[]): Promise<void> {
    const { convert, sent, apiVersion } = this.#target;
    for (const piece of piecesOf(objects, OBJECTS_MAX)) {
      const converted = await convert(piece.map(sent), apiVersion);
      for (const [at, object] of piece.entries()) {
        const made = converted[at];
        if (made !== undefined) this.#made.set(object, made);
      }
    }
  }
}

/** One call converts objects of one version. */
function byVersion(objects: readonly ApiObject[]): Iterable<readonly ApiObject[]> {
  const found = new Map<string, ApiObject[]>();
  for (const object of objects) {
    const known = found.get(object.apiVersion);
    if (known === undefined) found.set(object.apiVersion, [object]);
    else known.push(object);
  }
  return found.values();
}
