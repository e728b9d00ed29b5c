/**
 * Deletes an object with an unreadable value. The client sets `ignoreStoreReadErrorWithClusterBreakingPotential` and needs permission
 * for a separate verb. The object's finalizers and dependents are unknown, so the server ignores them.
 */
import { forbidden, invalid } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import { NOTHING_ASKED } from "../access/authz/authorizer.ts";
import { groupResource } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { UnreadableValue } from "../objects/unreadable.ts";
import { keyOf } from "../objects/versions.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { WriteCall } from "../write/write-call.ts";
import type { WriteParts } from "./writing.ts";

const OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential";
const VERB = "unsafe-delete-ignore-read-errors";

export function ignoresReadErrors(options: DeleteOptions): boolean {
  return options[OPTION] === true;
}

/** Refuses all other options: they have no meaning for an unreadable object. */
export function checkIgnoring(options: DeleteOptions, errors: FieldErrors): void {
  if (!ignoresReadErrors(options)) return;
  const refuse = (name: string): void => errors.invalid(OPTION, true, `cannot be set together with .${name}`);
  if ((options.dryRun ?? []).length > 0) refuse("dryRun");
  if (options.propagationPolicy !== undefined) refuse("propagationPolicy");
  if (options.orphanDependents !== undefined) refuse("orphanDependents");
  if (options.gracePeriodSeconds !== undefined) refuse("gracePeriodSeconds");
  if (options.preconditions !== undefined) refuse("preconditions");
}

export async function removeUnreadable(
  call: WriteCall<StoredResource>,
  verbParts: WriteParts,
): Promise<Answer> {
  const { resource, info } = call;
  const { namespace, name } = info;
  await requirePermission(call, verbParts);
  const view = await verbParts.store.fresh();
  const entry = view.get(keyOf(resource, namespace, name));
  if (entry === undefined || !isUnreadable(() => StoredObject.of(entry))) {
    const errors = new FieldErrors();
    const why = "is exclusively used to delete corrupt object(s), try again by removing this option";
    errors.invalid(OPTION, true, why);
    const { group, resource: kind } = groupResource(resource);
    throw invalid({ group, kind }, name, errors.found);
  }
  await new ObjectWriter(verbParts, call.origin).removeEntry(entry, resource);
  const { group, name: kind } = resource.facts;
  const details = { name, ...(group !== "" && { group }), kind };
  return {
    type: "status",
    status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details },
  };
}

async function requirePermission(
  { user, info }: Call<StoredResource>,
  { authorizer }: WriteParts,
): Promise<void> {
  const { group, version, resource, namespace, name } = info;
  const asked = { ...NOTHING_ASKED, user, verb: VERB, group, version, resource, namespace, name };
  const { outcome, reason } = await authorizer.decide(asked);
  if (outcome === "allowed") return;
  throw forbidden(
    { group, resource },
    name,
    `not permitted to do ${JSON.stringify(VERB)}, reason: ${reason}`,
  );
}

function isUnreadable(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if (error instanceof UnreadableValue) return true;
    throw error;
  }
}
