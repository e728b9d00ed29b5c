/** Where a pod runs on its node, and by which handler. */
import type { FoundSandbox, RuntimeHandler } from "../runtime-handler.ts";
import type { PodRejection } from "./pod-facts.ts";

/** Result of the pod's admission on its node. */
export interface PodPlace {
  readonly node: string;
  readonly hostAddresses: readonly string[];
  /** Undefined until the pod has a sandbox. */
  readonly addresses: readonly string[] | undefined;
  readonly rejection: PodRejection | undefined;
  /** Undefined while no handler for the pod is known. */
  readonly handler: RuntimeHandler | undefined;
  /** Sandbox of a pod that has started before. */
  readonly found: FoundSandbox | undefined;
}
