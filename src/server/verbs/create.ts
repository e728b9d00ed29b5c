import { generateNameConflict, isApiError, versionOnCreate } from "../../api/errors/api-error.ts";
import { generateName } from "../../api/values/names.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import { readObject, refuseMistake } from "../write/incoming.ts";
import type { Saved } from "../write/object-writer.ts";
import type { WriteCall } from "../write/write-call.ts";
import { isVersion, writeOptionsOf } from "../write/write-options.ts";
import { admitNew, finishNew, ownersOfNew, storeNew } from "./new-object.ts";
import type { AdmittedNew } from "./new-object.ts";
import { shown } from "./write-steps.ts";
import type { WriteParts, Writing } from "./writing.ts";

/** Same number as upstream's. */
const NAME_TRIES = 8;

export async function create(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  const { resource } = call;
  const { apiVersion, facts, schema, specs } = resource;
  const expected = { apiVersion, kind: facts.kind, schema, specs };
  writeOptionsOf(call);
  const incoming = await readObject(call, expected, call.origin.pace);
  refuseMistake(incoming);
  const { object, sentManagedFields, shared } = incoming;
  const draft = object as Draft<ApiObject>;
  forgetSystemFields(draft.metadata);
  const writing = { call, verbParts };
  const withOwners = ownersOfNew(writing, sentManagedFields);
  const sentVersion = draft.metadata.resourceVersion;
  const saved = await createNamed(
    await admitNew({ draft, shared, withOwners }, writing),
    sentVersion,
    writing,
  );
  return shown(saved, resource, 201);
}

/** Drops fields that only the server sets, for a client that posts a copy of an existing object. */
function forgetSystemFields(metadata: Draft<ApiObject>["metadata"]): void {
  delete metadata.creationTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.deletionTimestamp;
  delete metadata.selfLink;
  delete metadata.uid;
}

async function createNamed(
  admitted: AdmittedNew,
  sentVersion: string | undefined,
  writing: Writing,
): Promise<Saved> {
  const { metadata } = admitted.draft;
  const { name = "", generateName: base = "" } = metadata;
  // This frame keeps no reference during the write: the garbage collector would copy the object at each collection.
  if (base === "") return createOnce(admitted, sentVersion, writing);
  const random = writing.verbParts.loop.random("names");
  // A request with both name and generateName gets one try and the same error.
  const tries = name === "" ? NAME_TRIES : 1;
  for (let attempt = 1; ; attempt++) {
    if (tries > 1) metadata.name = generateName(base, random);
    try {
      return await createOnce(admitted, sentVersion, writing);
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
      if (attempt === tries) throw generateNameConflict(error);
    }
  }
}

async function createOnce(
  admitted: AdmittedNew,
  sentVersion: string | undefined,
  writing: Writing,
): Promise<Saved> {
  const object = await finishNew(admitted, writing);
  // Upstream's store refuses this version. A dry run never reaches the store.
  if (isVersion(sentVersion) && !writeOptionsOf(writing.call).isDryRun) throw versionOnCreate();
  return storeNew(object, sentVersion, writing);
}
