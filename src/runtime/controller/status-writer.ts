/** Writes a status only when it differs from the object's. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ResourceClient } from "../../client/client.ts";
import { kindId } from "./kinds.ts";

/** Upper bound of attempts against concurrent writers; then the pass fails and is retried. */
const TRIES_MAX = 4;
/** More fields than the status of any kind has. */
const LEARNED_MAX = 1000;

export class StatusWriter {
  /**
   * Kinds, by `kindId`, whose status has no `observedGeneration`. The server drops it, which must not look like a difference
   * forever.
   */
  readonly #withoutGeneration = new Set<string>();
  /**
   * Fields, by kind and path, that the server omits when they are zero or empty. They must not look like a difference
   * either.
   */
  readonly #leftOut = new Set<string>();

  /**
   * Guarded by the resourceVersion. When the object has changed but its status has not, it retries on the newest
   * object. When another writer changed the status, it throws the Conflict: the caller decided on stale data.
   */
  async write<T extends ApiObject>(client: ResourceClient<T>, object: T, status: unknown): Promise<T> {
    const wanted = this.#stored(kindId(object), this.#withGeneration(object, status));
    let newest = object;
    for (let tries = 1; ; tries++) {
      if (jsonEqual(statusOf(newest) ?? {}, wanted ?? {})) return newest;
      try {
        const written = await client.updateStatus(newest, wanted);
        this.#learn(written, wanted);
        return written;
      } catch (error) {
        if (!isApiError(error, "Conflict") || tries === TRIES_MAX) throw error;
        newest = await readUnlessStatusChanged(client, object, error);
      }
    }
  }

  #withGeneration(object: ApiObject, status: unknown): unknown {
    const { generation } = object.metadata;
    if (generation === undefined || !isJsonObject(status)) return status;
    if (status["observedGeneration"] !== undefined) return status;
    if (this.#withoutGeneration.has(kindId(object))) return status;
    return { ...status, observedGeneration: generation };
  }

  /** The value as the server is known to store it, without undefined members. */
  #stored(path: string, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#stored(`${path}[]`, item));
    if (!isJsonObject(value)) return value;
    const kept: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const below = `${path}.${name}`;
      const isLeftOut = member === undefined || (isEmpty(member) && this.#leftOut.has(below));
      if (!isLeftOut) kept[name] = this.#stored(below, member);
    }
    return kept;
  }

  #learn(written: ApiObject, wanted: unknown): void {
    const status = statusOf(written);
    if (!isJsonObject(wanted) || jsonEqual(status, wanted)) return;
    const answered = isJsonObject(status) ? status : {};
    if (answered["observedGeneration"] === undefined && wanted["observedGeneration"] !== undefined)
      this.#withoutGeneration.add(kindId(written));
    this.#learnMembers(kindId(written), wanted, answered);
  }

  #learnMembers(path: string, wanted: JsonObject, answered: JsonObject): void {
    for (const [name, member] of Object.entries(wanted)) {
      const below = `${path}.${name}`;
      const stored = answered[name];
      if (stored === undefined && isEmpty(member) && this.#leftOut.size < LEARNED_MAX)
        this.#leftOut.add(below);
      if (isJsonObject(member) && isJsonObject(stored)) this.#learnMembers(below, member, stored);
      if (Array.isArray(member) && Array.isArray(stored)) this.#learnItems(`${below}[]`, member, stored);
    }
  }

  #learnItems(path: string, wanted: readonly unknown[], answered: readonly unknown[]): void {
    if (wanted.length !== answered.length) return;
    for (const [at, item] of wanted.entries()) {
      const stored = answered[at];
      if (isJsonObject(item) && isJsonObject(stored)) this.#learnMembers(path, item, stored);
    }
  }
}

async function readUnlessStatusChanged<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  conflict: Error,
): Promise<T> {
  const newest = await client.get(object);
  const isSame = newest.metadata.uid === object.metadata.uid;
  if (isSame && jsonEqual(statusOf(newest) ?? {}, statusOf(object) ?? {})) return newest;
  throw conflict;
}

function statusOf(object: ApiObject): unknown {
  return (object as { readonly status?: unknown }).status;
}

/** True for values that Go's `omitempty` leaves out. */
function isEmpty(value: unknown): boolean {
  if (value === 0 || value === "" || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
