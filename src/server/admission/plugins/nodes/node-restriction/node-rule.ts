/** Contract of the rules for what a node may do with one resource. */
import type { ApiObject } from "../../../../../resources/rules/kind-rules.ts";
import type { AdmissionRequest } from "../../../plugin.ts";

export interface NodeWrite<T extends ApiObject = ApiObject> {
  /** Name of the requesting node. */
  readonly node: string;
  /** The object after the write; for a DELETE the deleted object. */
  readonly object: T;
  readonly request: AdmissionRequest;
}

/** Reason for a refusal; undefined if the write is allowed. */
export type NodeRule<T extends ApiObject = ApiObject> = (write: NodeWrite<T>) => string | undefined;
