/** Reads the changes of objects from `causes.setpoint.dev`, each object at most once. */
import type { Change, ChangeList, ObjectReference } from "../../api/causes/change.ts";
import { CAUSES_VERSION } from "../../api/causes/change.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Client } from "../../client/client.ts";

export type NamedObject = Pick<ObjectReference, "group" | "kind" | "namespace" | "name">;

/** Changes that are read of each object. */
const CHANGES_MAX = 100;

export interface KnownChanges {
  /** Oldest first. */
  readonly items: readonly Change[];
  /** Why older changes are missing. */
  readonly cut: string | undefined;
  /** Revision up to which users and causes are not recorded; undefined when all of them are. */
  readonly unrecordedThrough: string | undefined;
}

const NONE: KnownChanges = { items: [], cut: undefined, unrecordedThrough: undefined };

export class ChangeReader {
  readonly #client: Client;
  readonly #known = new Map<string, Promise<KnownChanges>>();
  /** Reason why the server shows no causes. */
  problem: string | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  of(object: NamedObject): Promise<KnownChanges> {
    const id = `${object.kind}.${object.group}/${object.namespace}/${object.name}`;
    const known = this.#known.get(id) ?? this.#read(object);
    this.#known.set(id, known);
    return known;
  }

  async #read({ group, kind, namespace, name }: NamedObject): Promise<KnownChanges> {
    const fieldSelector = `object.group=${group},object.kind=${kind},object.name=${name}`;
    try {
      const list = await this.#list(namespace, { fieldSelector, limit: String(CHANGES_MAX) });
      const isAnyUnrecorded = list.items.some(({ author }) => author?.user === undefined);
      const unrecordedThrough = isAnyUnrecorded ? list.authorsSince : undefined;
      return { items: list.items, cut: list.cut, unrecordedThrough };
    } catch (error) {
      this.problem = problemOf(error);
      return NONE;
    }
  }

  async #list(namespace: string, query: Readonly<Record<string, string>>): Promise<ChangeList> {
    return (await this.#client.request({ path: changesPath(namespace), query })) as ChangeList;
  }
}

/** Limit of an answer with changes whose users are not known. */
export function unrecordedText(through: string): string {
  return `some users and causes are not recorded: this server remembers them since rev ${through}, in memory`;
}

export function changesPath(namespace: string): string {
  const below = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/apis/${CAUSES_VERSION}${below}/changes`;
}

/** Rethrows what is no answer of the server. */
function problemOf(error: unknown): string {
  if (isApiError(error, "NotFound")) return "this server does not record causes: it is no Setpoint server";
  if (isApiError(error, "Forbidden")) return `causes are hidden: ${error.message}`;
  throw error;
}
