import type { AdmittedResource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import { isDryRun } from "../write/write-options.ts";
import type { Admission, AdmissionPass } from "./admission.ts";
import { operationOptions } from "./operation-options.ts";
import type { Operation } from "./plugin.ts";

interface Writing {
  readonly call: Call<AdmittedResource>;
  readonly verbParts: { readonly admission: Pick<Admission, "pass"> };
}

/**
 * The admission pass of a call; undefined if no plugin handles it. `name` overrides the call's name, for example on
 * create.
 */
export function callPass(
  { call, verbParts }: Writing,
  operation: Operation,
  name = call.info.name,
): AdmissionPass | undefined {
  const { resource, info, user, query, notes } = call;
  const { verb, namespace, subresource } = info;
  return verbParts.admission.pass({
    operation,
    verb,
    resource,
    subresource,
    namespace,
    name,
    user,
    notes,
    isDryRun: query.size > 0 && isDryRun(query.getAll("dryRun")),
    options: operation === "CONNECT" ? undefined : () => operationOptions(operation, query),
  });
}
