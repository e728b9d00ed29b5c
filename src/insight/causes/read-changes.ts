/** Reads the changes of objects from `causes.setpoint.dev`, each object at most once. */
import type { Change, ChangeList, ObjectReference } from "../../api/causes/change.ts";
import { CAUSES_VERSION } from "../../api/causes/change.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Client } from "../../client/client.ts";

export type NamedObject = Pick<ObjectReference, "group" | "kind" | "namespace" | "name">;

/** Changes that are read of each object. An explanation reads several objects. */
const CHANGES_MAX = 100;
/** The most that a server answers at once. */
export const ALL_CHANGES = 500;

export interface KnownChanges {
  /** Oldest first. */
  readonly items: readonly Change[];
  /** Why older changes are missing. */
  readonly cut: string | undefined;
  /** Revision up to which users and causes are not recorded; undefined when all of them are. */
  readonly unrecordedThrough: string | undefined;
  /** Some writes went through another server on the same store. */
  readonly hasForeign: boolean;
}

const NONE: KnownChanges = { items: [], cut: undefined, unrecordedThrough: undefined, hasForeign: false };

export class ChangeReader {
  readonly #client: Client;
  readonly #limit: number;
  readonly #known = new Map<string, Promise<KnownChanges>>();
  /** Reason why the server shows no causes. */
  problem: string | undefined;

  constructor(client: Client, limit = CHANGES_MAX) {
    this.#client = client;
    this.#limit = limit;
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
      const list = await this.#list(namespace, { fieldSelector, limit: String(this.#limit) });
      return knownChanges(list);
    } catch (error) {
      this.problem = problemOf(error);
      return NONE;
    }
  }

  async #list(namespace: string, query: Readonly<Record<string, string>>): Promise<ChangeList> {
    return (await this.#client.request({ path: changesPath(namespace), query })) as ChangeList;
  }
}

/** Pure. A write without a user is older than the journal of this server, or went through another one. */
export function knownChanges({
  items,
  cut,
  authorsSince,
}: Pick<ChangeList, "items" | "cut" | "authorsSince">): KnownChanges {
  const unrecorded = items.filter(({ author }) => author?.user === undefined);
  const isOld = unrecorded.some(({ revision }) => Number(revision) <= Number(authorsSince));
  const hasForeign = unrecorded.some(({ revision }) => Number(revision) > Number(authorsSince));
  return { items, cut, unrecordedThrough: isOld ? authorsSince : undefined, hasForeign };
}

/** Limits of an answer with changes whose users are not known. */
export function unrecordedTexts({ unrecordedThrough, hasForeign }: KnownChanges): readonly string[] {
  const texts: string[] = [];
  if (unrecordedThrough !== undefined)
    texts.push(
      `some users and causes are not recorded: this server remembers them since rev ${unrecordedThrough}, in memory`,
    );
  if (hasForeign)
    texts.push(
      "some writes went through another server, which alone knows their users and causes: ask it too",
    );
  return texts;
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
