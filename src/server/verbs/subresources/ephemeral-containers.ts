import type { Pod } from "../../../api/generated/types/core-v1.ts";
import {
  checkEphemeralContainersUpdate,
  prepareEphemeralContainers,
} from "../../../resources/pod/pod-subresources.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { draftOf, keepMetadata } from "./kept.ts";

/** Adds ephemeral containers to a running pod, for debugging. */
export const ephemeralContainers: EndpointRules<Pod> = {
  prepare(draft, previous) {
    keepMetadata(draft, previous);
    draft.status = draftOf(previous.status);
    prepareEphemeralContainers(draft, previous);
  },
  validate: checkEphemeralContainersUpdate,
  writes: { "f:spec": { "f:ephemeralContainers": {} } },
};
