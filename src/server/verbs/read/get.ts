import { expired, notFound } from "../../../api/errors/api-error.ts";
import { isStoreError } from "../../../store/store-error.ts";
import type { Store, View } from "../../../store/store.ts";
import { groupResource } from "../../objects/registry.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { resourceVersionOf } from "./list-options.ts";
import type { ReadParts } from "./list.ts";
import { reachRevision } from "./revision-wait.ts";

type GetParts = Pick<ReadParts, "store" | "loop">;

/** Reads the newest state without a resourceVersion. With one, reads a state at least as new, or with `Exact` that revision. */
export function get(call: Call<StoredResource>, verbParts: GetParts): Answer | Promise<Answer> {
  if (call.query.size > 0) return getAsAsked(call, verbParts);
  const fresh = verbParts.store.fresh();
  return fresh instanceof Promise ? fresh.then((view) => found(view, call)) : found(fresh, call);
}

function found(view: View, { resource, info }: Call<StoredResource>): Answer {
  const entry = view.get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound(groupResource(resource), info.name);
  return { type: "stored", code: 200, stored: StoredObject.of(entry), resource };
}

async function getAsAsked(call: Call<StoredResource>, { store, loop }: GetParts): Promise<Answer> {
  const { resource, info, query } = call;
  const key = keyOf(resource, info.namespace, info.name);
  const asked = resourceVersionOf(query);
  const view = asked === undefined ? await store.fresh() : await reachRevision(store, loop, asked);
  const isExact = asked !== undefined && asked > 0 && query.get("resourceVersionMatch") === "Exact";
  return found(isExact ? await pastView(store, key, asked) : view, call);
}

/** Reads the object at a past revision, as far back as the history reaches. This is an extension of upstream's API. */
async function pastView(store: Store, key: string, revision: number): Promise<View> {
  try {
    return await store.at(revision, key);
  } catch (error) {
    if (!isStoreError(error, "Compacted")) throw error;
    throw expired("The resourceVersion for the provided get is too old.");
  }
}
