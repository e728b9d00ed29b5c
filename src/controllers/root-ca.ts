/**
 * Publishes the server's CA certificate to the pods of each namespace.
 *
 * Reads Namespaces and ConfigMaps. Keeps the ConfigMap `kube-root-ca.crt` in each namespace that is not being deleted.
 */
import { ConfigMap, Namespace } from "../api/generated/types/core-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Controller, Outcome, ReconcileContext } from "../runtime/controller/controller.ts";
import { createUnlessPresent, isActive, namespaceOf } from "./namespaced-default.ts";

const NAME = "kube-root-ca.crt";
const ANNOTATIONS = {
  "kubernetes.io/description":
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
};

/** `ca` is the PEM of the authority that signed the server's certificate. */
export function rootCaController(ca: string): Controller {
  return defineController({
    name: "root-ca-certificate-publisher-controller",
    for: Namespace,
    watches: [namespaceOf(ConfigMap, NAME)],
    reconcile: (namespace: Namespace, context) => reconcile(namespace, context, ca),
  });
}

async function reconcile(
  namespace: Namespace,
  { cache, client }: ReconcileContext,
  ca: string,
): Promise<Outcome> {
  if (!isActive(namespace)) return undefined;
  const key = { namespace: namespace.metadata.name, name: NAME };
  const data = { "ca.crt": ca };
  const published = cache(ConfigMap).find(key);
  if (published === undefined) {
    const metadata = { ...key, annotations: ANNOTATIONS };
    await createUnlessPresent(client(ConfigMap).create({ metadata, data }));
  } else if (!isCurrent(published, ca)) {
    const { metadata, binaryData: _, ...others } = published;
    const annotations = { ...metadata.annotations, ...ANNOTATIONS };
    await client(ConfigMap).update({ ...others, metadata: { ...metadata, annotations }, data });
  }
  return undefined;
}

/** Extra data keys make the ConfigMap outdated and are removed; extra annotations stay. */
function isCurrent({ data = {}, metadata: { annotations = {} } }: ConfigMap, ca: string): boolean {
  const isDescribed = Object.entries(ANNOTATIONS).every(([name, text]) => annotations[name] === text);
  return isDescribed && data["ca.crt"] === ca && Object.keys(data).length === 1;
}
