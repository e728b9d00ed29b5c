/** Writes as the server itself, through the verbs that clients use. No rule exempts the server's own writes. */
import { alreadyExists } from "../../api/errors/api-error.ts";
import { cloneJson } from "../../api/json/json-clone.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { isStoreError } from "../../store/store-error.ts";
import { MAX_CHANGES } from "../../store/store.ts";
import type { Change } from "../../store/store.ts";
import { encodeObject } from "../objects/object-encoder.ts";
import type { StoredResource } from "../objects/registry.ts";
import { keyOf } from "../objects/versions.ts";
import type { RequestVerb } from "../request/request-info.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { SERVER_USER } from "../request/server-user.ts";
import { create } from "../verbs/create.ts";
import { remove } from "../verbs/delete.ts";
import { update } from "../verbs/update.ts";
import type { WriteParts } from "../verbs/writing.ts";
import { SERVER_AUTHOR } from "../write/journal.ts";
import type { Place } from "../write/object-writer.ts";
import { SERVER_ORIGIN } from "../write/write-call.ts";
import type { WriteCall } from "../write/write-call.ts";
import { newRequiredObject } from "./new-required-object.ts";
import type { RequiredObject } from "./required-objects.ts";

/** Field manager of the server's writes. */
const USER_AGENT = "kube-apiserver";

export class ServerWriter {
  readonly #verbParts: WriteParts;

  constructor(verbParts: WriteParts) {
    this.#verbParts = verbParts;
  }

  find({ resource, namespace, name }: Place): ApiObject | undefined {
    const { store, versions } = this.#verbParts;
    const entry = store.accepted.get(keyOf(resource, namespace, name));
    return entry === undefined ? undefined : versions.entry(entry, resource);
  }

  async create(place: Place, manifest: JsonObject): Promise<void> {
    await create(callFor({ ...place, verb: "create", body: manifest }), this.#verbParts);
  }

  exists({ resource, namespace, name }: Place): boolean {
    return this.#verbParts.store.accepted.get(keyOf(resource, namespace, name)) !== undefined;
  }

  /**
   * Creates all objects with their status in as few transactions as possible, without admission. Rejects with `AlreadyExists` if
   * another server has created one.
   */
  async createAll(objects: readonly RequiredObject[]): Promise<void> {
    const { store, loop, journal, versions } = this.#verbParts;
    const changes = objects.map((required): Change => {
      const { resource, namespace, name } = required;
      const object = newRequiredObject(required, this.#verbParts);
      const encoded = encodeObject(versions.stored(object, resource));
      return { type: "put", key: keyOf(resource, namespace, name), value: encoded.bytes, slot: encoded };
    });
    for (let at = 0; at < changes.length; at += MAX_CHANGES) {
      const part = changes.slice(at, at + MAX_CHANGES);
      const keys = part.map(({ key }) => key);
      const compare = keys.map((key) => ({ key, modRevision: 0 }));
      const { revision } = await store
        .write({ compare, changes: part, purpose: "upkeep" })
        .catch((error: unknown) => refuse(error, keys));
      journal.record({ ...SERVER_AUTHOR, revision, keys, at: loop.now() });
    }
  }

  async update(place: Place, object: JsonObject, subresource: "" | "status"): Promise<void> {
    await update(callFor({ ...place, verb: "update", subresource, body: object }), this.#verbParts);
  }

  async remove(place: Place): Promise<void> {
    await remove(callFor({ ...place, verb: "delete" }), this.#verbParts);
  }
}

function refuse(error: unknown, [first = ""]: readonly string[]): never {
  throw isStoreError(error, "ConditionFailed")
    ? alreadyExists({ group: "", resource: "objects" }, first)
    : error;
}

interface Request extends Place {
  readonly verb: RequestVerb;
  readonly subresource?: string;
  readonly body?: JsonObject;
}

/** Fields that only stages before the verb read. */
const UNPARSED = {
  method: "",
  rawPath: "",
  rawQuery: "",
  path: "",
  rest: "",
  accessNamespace: "",
  accessName: "",
  fieldSelector: "",
  labelSelector: "",
};

function callFor({
  resource,
  namespace,
  name,
  verb,
  subresource = "",
  body,
}: Request): WriteCall<StoredResource> {
  const { facts } = resource;
  return {
    resource,
    user: SERVER_USER,
    origin: SERVER_ORIGIN,
    notes: new RequestNotes(),
    query: new URLSearchParams(),
    info: {
      type: "resource",
      verb,
      group: facts.group,
      version: facts.version,
      resource: facts.name,
      namespace,
      name: verb === "create" ? "" : name,
      subresource,
      ...UNPARSED,
    },
    request: {
      headers: new Map([
        ["user-agent", USER_AGENT],
        ["content-type", "application/json"],
      ]),
      peer: undefined,
      signal: new AbortController().signal,
      direct: { body: cloneJson(body) },
      readBody: () => Promise.resolve(Buffer.alloc(0)),
    },
  };
}
