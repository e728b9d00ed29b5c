/** The contract of what a node may do with one resource. */
import type { ApiObject } from "../../../../../resources/rules/kind-rules.ts";
import type { AdmissionRequest } from "../../../plugin.ts";

export interface NodeDeed<T extends ApiObject = ApiObject> {
  /** Of the node that does it. */
  readonly node: string;
  /** As it will be; of a deletion, what is deleted. */
  readonly object: T;
  readonly request: AdmissionRequest;
}

/** Why not; undefined when it may. */
export type NodeRule<T extends ApiObject = ApiObject> = (deed: NodeDeed<T>) => string | undefined;
