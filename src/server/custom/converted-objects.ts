/** Objects of a custom kind in one other version, as far as their author was asked for them. */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Convert } from "./conversion-webhook.ts";

export interface ConversionTarget {
  readonly apiVersion: string;
  readonly convert: Convert;
  /** What is sent of an object: with the defaults of the version it is in. */
  readonly sent: (object: ApiObject) => ApiObject;
}

export class ConvertedObjects {
  readonly #target: ConversionTarget;
  readonly #made = new WeakMap<ApiObject, ApiObject>();
  /** Many watchers want the same object at the same time. */
  readonly #underWay = new WeakMap<ApiObject, Promise<void>>();

  constructor(target: ConversionTarget) {
    this.#target = target;
  }

  /** Only what was waited for with `ready` is there. */
  find(object: ApiObject): ApiObject {
    const { apiVersion } = this.#target;
    if (object.apiVersion === apiVersion) return object;
    const found = this.#made.get(object);
    if (found === undefined)
      throw new Error(`nobody asked for ${object.kind} in ${apiVersion} before showing it`);
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

  /** A question that fails is asked again by the next who needs it. */
  #begin(objects: readonly ApiObject[]): void {
    const asked = this.#convert(objects).finally(() => {
      for (const object of objects) this.#underWay.delete(object);
    });
    for (const object of objects) this.#underWay.set(object, asked);
  }

  async #convert(objects: readonly ApiObject[]): Promise<void> {
    const { convert, sent, apiVersion } = this.#target;
    const converted = await convert(objects.map(sent), apiVersion);
    for (const [at, object] of objects.entries()) {
      const made = converted[at];
      if (made !== undefined) this.#made.set(object, made);
    }
  }
}

/** One question is about objects of one version. */
function byVersion(objects: readonly ApiObject[]): Iterable<readonly ApiObject[]> {
  const found = new Map<string, ApiObject[]>();
  for (const object of objects) {
    const known = found.get(object.apiVersion);
    if (known === undefined) found.set(object.apiVersion, [object]);
    else known.push(object);
  }
  return found.values();
}
