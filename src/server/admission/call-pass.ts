import type { Call, Workshop } from "../call.ts";
import type { StoredResource } from "../registry.ts";
import { isDryRun } from "../write/write-options.ts";
import type { AdmissionPass } from "./admission.ts";
import type { Operation } from "./plugin.ts";

interface Writing {
  readonly call: Call<StoredResource>;
  readonly workshop: Workshop;
}

/** The way of a call through admission; undefined when it concerns no plugin. `name` is the object's, where the call has none. */
export function callPass(
  { call, workshop }: Writing,
  operation: Operation,
  name = call.info.name,
): AdmissionPass | undefined {
  const { resource, info, user, query, notes } = call;
  const { namespace, subresource } = info;
  const place = { resource, subresource, namespace, name };
  return workshop.admission.pass({
    ...place,
    operation,
    user,
    notes,
    isDryRun: isDryRun(query.getAll("dryRun")),
  });
}
