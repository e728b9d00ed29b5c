/** Makes a required object by the rules of a create and of the status update after it, so that many can be stored at once. */
import type { Loop } from "../../base/loop/loop.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import { withResourceVersion } from "../objects/stored-object.ts";
import type { Versions } from "../objects/versions.ts";
import { SERVER_USER } from "../request/server-user.ts";
import { normal } from "../write/incoming.ts";
import { SERVER_AUTHOR } from "../write/journal.ts";
import { isTakenAsSent, newObject, revisedObject } from "../write/revise.ts";
import { track, fieldWriterOf } from "../write/tracking.ts";
import { completeManifest, correctionOf } from "./required-objects.ts";
import type { RequiredObject } from "./required-objects.ts";

interface MakingParts {
  readonly loop: Loop;
  readonly versions: Versions;
}

const { manager } = SERVER_AUTHOR;
/** The rules of an update require a resourceVersion. The stored object has none. */
const ANY_VERSION = "1";

export function newRequiredObject(required: RequiredObject, parts: MakingParts): ApiObject {
  const { resource } = required;
  const { loop, versions } = parts;
  const now = loop.now();
  const draft = normal(resource.schema, completeManifest(required)).value as Draft<ApiObject>;
  const known = isTakenAsSent(resource) ? { ...draft } : undefined;
  const uid = loop.random("uids").uuid();
  const next = newObject(draft, resource, { now, user: SERVER_USER, uid, known });
  const writer = fieldWriterOf(resource, versions, { manager, subresource: "", now });
  return withStatus(track({ live: undefined, next, writer, sentManagedFields: undefined }), required, parts);
}

/** The new object after its first status update. */
function withStatus(
  created: ApiObject,
  required: RequiredObject,
  { loop, versions }: MakingParts,
): ApiObject {
  const { resource } = required;
  const wanted = correctionOf(required, created, "status");
  if (wanted === undefined) return created;
  const previous = withResourceVersion(created, ANY_VERSION);
  const now = loop.now();
  const object = normal(resource.schema, wanted).value as ApiObject;
  const revision = { object, previous, endpoint: "status" } as const;
  const next = revisedObject(revision, resource, { now, user: SERVER_USER });
  const writer = fieldWriterOf(resource, versions, { manager, subresource: "status", now });
  return track({ live: previous, next, writer, sentManagedFields: undefined });
}
