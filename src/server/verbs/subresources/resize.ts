import type { Pod } from "../../../api/generated/types/core-v1.ts";
import { checkResize, prepareResize } from "../../../resources/pod/pod-resize.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { draftOf, keepMetadata } from "./kept.ts";

const CONTAINERS = { "*": { "f:resizePolicy": {}, "f:resources": {} } };

/** Changes the cpu and memory of containers of a running pod. */
export const resize: EndpointRules<Pod> = {
  prepare(draft, previous) {
    keepMetadata(draft, previous);
    draft.status = draftOf(previous.status);
    prepareResize(draft, previous);
  },
  validate: checkResize,
  writes: { "f:spec": { "f:containers": CONTAINERS, "f:initContainers": CONTAINERS } },
};
