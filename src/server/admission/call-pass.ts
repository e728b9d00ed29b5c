/** Makes the admission pass of a request, and the `options` of the write for webhooks and policies. */
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import { isDryRun } from "../write/write-options.ts";
import type { Admission, AdmissionPass } from "./admission.ts";
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

const API_VERSION = "meta.k8s.io/v1";

/** Their kind follows the operation, not the HTTP verb: a patch that creates has CreateOptions; a patch that updates has UpdateOptions. */
function operationOptions(operation: Operation, query: URLSearchParams): JsonObject {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  return {
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    apiVersion: API_VERSION,
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager !== "" && { fieldManager }),
    ...(fieldValidation !== "" && { fieldValidation }),
  };
}

export function deletionOptions(options: DeleteOptions): JsonObject {
  const { dryRun = [], gracePeriodSeconds, orphanDependents, preconditions, propagationPolicy } = options;
  return {
    kind: "DeleteOptions",
    apiVersion: API_VERSION,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions !== undefined && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}
