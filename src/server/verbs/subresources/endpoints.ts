/** Subresources that show the whole object and write one part of it by rules of their own. */
import type { CertificateSigningRequest } from "../../../api/generated/types/certificates-v1.ts";
import type { Namespace, Pod } from "../../../api/generated/types/core-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import {
  prepareApproval,
  validateApproval,
} from "../../../resources/certificates/certificate-signing-request.ts";
import { prepareNamespaceFinalize, validateNamespaceFinalize } from "../../../resources/core/namespace.ts";
import { checkResize, prepareResize } from "../../../resources/pod/pod-resize.ts";
import {
  checkEphemeralContainersUpdate,
  prepareEphemeralContainers,
} from "../../../resources/pod/pod-subresources.ts";
import type { Draft } from "../../../resources/rules/kind-rules.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { patch } from "../patch.ts";
import { get } from "../read/get.ts";
import { update } from "../update.ts";
import type { Verb } from "../verb.ts";

const APPROVAL: EndpointRules<CertificateSigningRequest> = {
  prepare: prepareApproval,
  validate: validateApproval,
};

const FINALIZE: EndpointRules<Namespace> = {
  prepare: prepareNamespaceFinalize,
  validate: (next, _previous, errors) => validateNamespaceFinalize(next, errors),
};

const EPHEMERAL_CONTAINERS: EndpointRules<Pod> = {
  prepare(draft, previous) {
    keepRest(draft, previous);
    prepareEphemeralContainers(draft, previous);
  },
  validate: checkEphemeralContainersUpdate,
  writes: { "f:spec": { "f:ephemeralContainers": {} } },
};

const CONTAINERS = { "*": { "f:resizePolicy": {}, "f:resources": {} } };

const RESIZE: EndpointRules<Pod> = {
  prepare(draft, previous) {
    keepRest(draft, previous);
    prepareResize(draft, previous);
  },
  validate: checkResize,
  writes: { "f:spec": { "f:containers": CONTAINERS, "f:initContainers": CONTAINERS } },
};

/** Restores what these endpoints of a pod never write: labels, owners and status. */
function keepRest(draft: Draft<Pod>, { metadata, status }: Pod): void {
  draft.metadata = cloneJson(metadata) as Draft<Pod>["metadata"];
  draft.status = cloneJson(status) as Draft<Pod>["status"];
}

function partOf(endpoint: EndpointRules): Readonly<Record<"get" | "update" | "patch", Verb>> {
  return {
    get,
    update: (call, verbParts) => update({ ...call, endpoint }, verbParts),
    patch: (call, verbParts) => patch({ ...call, endpoint }, verbParts),
  };
}

/** Approves or denies a certificate request. No other endpoint writes the Approved and Denied conditions. */
export const approval = partOf(APPROVAL);

/** Adds ephemeral containers to a running pod, for debugging. */
export const ephemeralContainers = partOf(EPHEMERAL_CONTAINERS);

/** Changes the cpu and memory of containers of a running pod. */
export const resize = partOf(RESIZE);

/** Removes finalizers from a namespace's spec. The removal of the last one deletes the namespace. */
export const finalize = { update: partOf(FINALIZE).update };
