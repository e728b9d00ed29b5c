/** The service account of new pods is missing. */
import { findFailure } from "./failure.ts";
import type { StuckRule } from "./situation.ts";
import { inNamespace } from "./situation.ts";

const MISSING = /service account ([^/\s]+)\/([^:\s]+): serviceaccount "[^"]+" not found/;

export const serviceAccountRule: StuckRule = (situation) => {
  const [, namespace, name] = MISSING.exec(findFailure(situation)?.message ?? "") ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  const command = `kubectl create serviceaccount ${name}${inNamespace(namespace)}`;
  return {
    blockedBy: `ServiceAccount ${namespace}/${name} does not exist, and its pods need it`,
    unblock: [{ command, effect: "create it" }],
  };
};
