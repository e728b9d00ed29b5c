import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { callPass } from "../admission/admission.ts";
import type { Call } from "../request/call.ts";
import type { Incoming } from "../write/incoming.ts";
import { admittedRevision } from "../write/revise.ts";
import type { Endpoint } from "../write/revise.ts";
import { track, fieldWriterOf } from "../write/tracking.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import type { Writing } from "./writing.ts";

export function endpointOf({ info, endpoint }: Call): Endpoint {
  return endpoint ?? (info.subresource === "status" ? "status" : "main");
}

/** Computes the object that results from a client's update. */
export async function updatedObject(
  { object, sentManagedFields, units }: Pick<Incoming, "object" | "sentManagedFields" | "units">,
  previous: ApiObject,
  { call, verbParts }: Writing,
): Promise<ApiObject> {
  const { resource, info, notes } = call;
  const { user, manager } = writeOptionsOf(call);
  const now = verbParts.loop.now();
  const admission = callPass({ call, verbParts }, "UPDATE");
  const { pace } = call.origin;
  pace.weigh(units);
  const context = { now, user, notes, admission, pace };
  const revision = { object, previous, endpoint: endpointOf(call) };
  const writer = fieldWriterOf(resource, verbParts.versions, { manager, subresource: info.subresource, now });
  const withOwners = (next: ApiObject, asked: ApiObject | undefined): ApiObject =>
    track({ live: previous, next, asked, writer, sentManagedFields });
  admission?.showOwners(withOwners);
  const next = await admittedRevision(revision, resource, context);
  await pace.rest();
  const owned = withOwners(next, admission?.asked);
  await pace.rest();
  return owned;
}
