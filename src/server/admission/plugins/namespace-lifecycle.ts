/** NamespaceLifecycle: nothing is created where nothing can be kept, and the namespaces of the cluster itself stay. */
import { type ApiError, notFound } from "../../../api/errors/api-error.ts";
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import { shelf } from "../../objects/lister.ts";
import { definePlugin } from "../plugin.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { refusal, refusalFor } from "../refusal.ts";

const NAMESPACES = shelf<Namespace>("namespaces");
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

export const namespaceLifecycle = definePlugin({
  name: "NamespaceLifecycle",
  interests: [
    { resources: "all in namespaces", operations: ["CREATE"] },
    { resources: ["namespaces"], operations: ["DELETE"] },
  ],

  /** One that another server has just made is looked for before it is said to be missing. */
  ready(_object, { namespace, memory }) {
    return memory.find(NAMESPACES, namespace) === undefined ? memory.caughtUp() : undefined;
  },

  mutate(_draft, request) {
    const { namespace, memory, resource } = request;
    // What is only asked, and never kept, may be asked about any namespace.
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

/** Controllers know by the cause that it is of no use to try again. */
function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return refusalFor(request, why, {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  });
}
