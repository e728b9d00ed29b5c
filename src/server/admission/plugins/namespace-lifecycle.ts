/**
 * NamespaceLifecycle: refuses new objects in missing or terminating namespaces, and protects the system namespaces
 * from deletion.
 */
import { type ApiError, notFound } from "../../../api/errors/api-error.ts";
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import { kindPrefix } from "../../objects/lister.ts";
import { definePlugin } from "../plugin.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { refusal, refusalFor } from "../refusal.ts";

const NAMESPACES = kindPrefix<Namespace>("namespaces");
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

export const namespaceLifecycle = definePlugin({
  name: "NamespaceLifecycle",
  interests: [
    { resources: "all in namespaces", operations: ["CREATE"] },
    { resources: ["namespaces"], operations: ["DELETE"] },
  ],

  /** Another server may have just created the namespace, so memory catches up before a refusal. */
  ready(_object, { namespace, memory }) {
    return memory.find(NAMESPACES, namespace) === undefined ? memory.caughtUp() : undefined;
  },

  mutate(_draft, request) {
    const { namespace, memory, resource } = request;
    // A LocalSubjectAccessReview is never stored, so it may name any namespace.
    if (resource.facts.kind === "LocalSubjectAccessReview") return;
    const found = memory.find(NAMESPACES, namespace);
    if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace);
    if (found.metadata.deletionTimestamp !== undefined) throw terminating(request);
  },

  validate(_object, request) {
    if (request.operation !== "DELETE" || !IMMORTAL.has(request.name)) return;
    throw refusal(request, "this namespace may not be deleted");
  },
});

/** Controllers read the cause and do not retry. */
function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return refusalFor(request, why, {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  });
}
