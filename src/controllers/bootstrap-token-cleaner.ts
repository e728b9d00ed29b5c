/**
 * Deletes expired bootstrap tokens, with which nodes join.
 *
 * Reads Secrets of type `bootstrap.kubernetes.io/token` in kube-system and deletes the expired ones.
 */
import { isApiError } from "../api/errors/api-error.ts";
import { Secret } from "../api/generated/types/core-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

export const bootstrapTokenCleanerController = defineController({
  name: "token-cleaner-controller",
  for: Secret,
  when: ({ before, after }) => [before, after].some((secret) => secret !== undefined && isToken(secret)),
  reconcile,
});

async function reconcile(secret: Secret, { client, clock }: ReconcileContext): Promise<Outcome> {
  if (!isToken(secret) || secret.metadata.deletionTimestamp !== undefined) return undefined;
  const expiresAt = findExpiry(secret);
  if (expiresAt === undefined) return undefined;
  const leftMs = expiresAt - clock.now();
  if (leftMs > 0) return { recheckAfterMs: leftMs, timer: "periodic" };
  const { uid, resourceVersion } = secret.metadata;
  try {
    await client(Secret).delete(secret, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
  return undefined;
}

export function isToken({ type, metadata }: Secret): boolean {
  return type === "bootstrap.kubernetes.io/token" && metadata.namespace === "kube-system";
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Undefined for a token that does not expire. A token with an unreadable expiration counts as expired. */
export function findExpiry({ data = {} }: Secret): number | undefined {
  const text = Buffer.from(data["expiration"] ?? "", "base64").toString();
  if (text === "") return undefined;
  const time = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? -Infinity : time;
}
