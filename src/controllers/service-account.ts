/**
 * Creates the ServiceAccount `default` in each namespace: pods use it if they name no other.
 *
 * Reads Namespaces and ServiceAccounts; skips namespaces that are being deleted.
 */
import { Namespace, ServiceAccount } from "../api/generated/types/core-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";
import { createUnlessPresent, isActive, namespaceOf } from "./namespaced-default.ts";

const NAME = "default";

export const serviceAccountController = defineController({
  name: "serviceaccount-controller",
  for: Namespace,
  watches: [namespaceOf(ServiceAccount, NAME)],
  reconcile,
});

async function reconcile(namespace: Namespace, { cache, client }: ReconcileContext): Promise<Outcome> {
  const metadata = { namespace: namespace.metadata.name, name: NAME };
  if (!isActive(namespace) || cache(ServiceAccount).find(metadata) !== undefined) return undefined;
  await createUnlessPresent(client(ServiceAccount).create({ metadata }));
  return undefined;
}
