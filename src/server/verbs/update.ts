import { isApiError } from "../../api/errors/api-error.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import { createPermission } from "../access/authz/authorization.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import { expectedKind, readObject, refuseMistake } from "../write/incoming.ts";
import type { Incoming } from "../write/incoming.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { WriteCall } from "../write/write-call.ts";
import { versionAsked, writeOptionsOf } from "../write/write-options.ts";
import { makeNew, ownersOfNew, storeNew } from "./new-object.ts";
import { updatedObject } from "./updated-object.ts";
import {
  checkPlace,
  checkPreconditions,
  mayWaitFor,
  noteWarnings,
  requireVersion,
  shown,
} from "./write-steps.ts";
import type { WriteParts, Writing } from "./writing.ts";

export async function update(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  const { resource, info } = call;
  const { isDryRun } = writeOptionsOf(call);
  const incoming = await readObject(call, expectedKind(resource, info.subresource), call.origin.pace);
  const { object } = incoming;
  checkPlace(object, call);
  const asked = versionAsked(object);
  const place = { resource, namespace: info.namespace, name: info.name };
  try {
    const onConflict = asked === "" ? "retry" : "fail";
    const options = { isDryRun, onConflict, mayWait: mayWaitFor({ call, verbParts }) } as const;
    const saved = await new ObjectWriter(verbParts, call.origin).update(place, options, async (previous) => {
      const { uid } = object.metadata;
      checkPreconditions({ uid, resourceVersion: undefined }, previous, resource);
      // Required only for an object that exists: an update that creates has no version to name.
      requireVersion(object, resource);
      checkPreconditions({ uid, resourceVersion: asked }, previous, resource);
      refuseMistake(incoming);
      const next = await updatedObject(incoming, previous, { call, verbParts });
      noteWarnings(object, call, previous);
      return { outcome: "put", object: next };
    });
    return shown(saved, resource, 200);
  } catch (error) {
    const mayCreate = resource.storage.createsOnUpdate && info.subresource === "";
    if (!mayCreate || !isApiError(error, "NotFound")) throw error;
    const missing = { metadata: { name: info.name } } as ApiObject;
    checkPreconditions({ uid: object.metadata.uid, resourceVersion: undefined }, missing, resource);
    return createInstead(incoming, { call, verbParts });
  }
}

async function createInstead({ object, sentManagedFields }: Incoming, writing: Writing): Promise<Answer> {
  const { call, verbParts } = writing;
  const draft = object as Draft<ApiObject>;
  const sentVersion = draft.metadata.resourceVersion;
  const withOwners = ownersOfNew(writing, sentManagedFields);
  const permission = createPermission(call, verbParts.authorizer);
  const made = await makeNew({ draft, withOwners, permission }, writing);
  return shown(await storeNew(made, sentVersion, writing), call.resource, 201);
}
