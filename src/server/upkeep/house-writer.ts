/** Writes as the server itself, through the same verbs as every client: nothing of the server's own is exempt from a rule. */
import { cloneJson } from "../../api/json-clone.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { Call, Workshop } from "../call.ts";
import { keyOf } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import type { RequestVerb } from "../request-info.ts";
import { RequestNotes } from "../request-notes.ts";
import { SERVER_USER } from "../server-user.ts";
import { create } from "../verbs/create.ts";
import { remove } from "../verbs/delete.ts";
import { update } from "../verbs/update.ts";

export interface Place {
  readonly resource: StoredResource;
  readonly namespace: string;
  readonly name: string;
}

export class HouseWriter {
  readonly #workshop: Workshop;

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
  }

  find({ resource, namespace, name }: Place): ApiObject | undefined {
    const { store, versions } = this.#workshop;
    const entry = store.accepted.get(keyOf(resource, namespace, name));
    return entry === undefined ? undefined : versions.entry(entry, resource);
  }

  async create(place: Place, manifest: JsonObject): Promise<void> {
    await create(callFor({ ...place, verb: "create", body: manifest }), this.#workshop);
  }

  async update(place: Place, object: JsonObject, subresource: "" | "status"): Promise<void> {
    await update(callFor({ ...place, verb: "update", subresource, body: object }), this.#workshop);
  }

  async remove(place: Place): Promise<void> {
    await remove(callFor({ ...place, verb: "delete" }), this.#workshop);
  }
}

interface Request extends Place {
  readonly verb: RequestVerb;
  readonly subresource?: string;
  readonly body?: JsonObject;
}

function callFor({ resource, namespace, name, verb, subresource = "", body }: Request): Call<StoredResource> {
  const { facts } = resource;
  return {
    resource,
    user: SERVER_USER,
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
      rest: "",
    },
    request: {
      method: "",
      target: "",
      headers: new Map([
        ["user-agent", "kube-apiserver"],
        ["content-type", "application/json"],
      ]),
      peer: undefined,
      signal: new AbortController().signal,
      direct: { body: cloneJson(body) },
      readBody: () => Promise.resolve(Buffer.alloc(0)),
    },
  };
}
