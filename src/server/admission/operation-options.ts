/** Makes the `options` of a write, as webhooks and policies see them. */
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Operation } from "./plugin.ts";

const API_VERSION = "meta.k8s.io/v1";

/** Their kind follows the operation, not the HTTP verb: a patch that creates has CreateOptions; a patch that updates has UpdateOptions. */
export function operationOptions(operation: Operation, query: URLSearchParams): JsonObject {
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
