/** The answer to "why is this object as it is": data, before it becomes text. */
import type { Finding } from "../stuck/situation.ts";
import type { TreeNode } from "../text/tree-text.ts";

export interface Obstacle extends Finding {
  /** Object that is blocked, if it is another than the asked one: `Pod web-x`. */
  readonly of: string | undefined;
}

export interface Explanation {
  /** `Pod default/web`. */
  readonly subject: string;
  readonly state: string;
  readonly isSettled: boolean;
  readonly obstacles: readonly Obstacle[];
  /** Why it exists, root first; the later steps of its life below. */
  readonly origin: readonly TreeNode[];
  /** Why there are so many; for workloads and their pods. */
  readonly count: { readonly replicas: number; readonly causes: readonly TreeNode[] } | undefined;
  /** The latest changes of its desired state, newest first. */
  readonly recent: readonly TreeNode[];
  /** Limits of the answer. */
  readonly remarks: readonly string[];
}
