/** Names by which pods get a node that runs programs of its machine. */

/** RuntimeClass, and its handler on the node. */
export const PROCESS_RUNTIME = "process";

/** Label and taint of nodes that run process pods; the RuntimeClass selects the label and tolerates the taint. */
export const PROCESS_NODE = "runtime.setpoint.dev/process";

/** Condition of these nodes: whether their pods have namespaces of their own. */
export const PROCESS_ISOLATION = "ProcessNamespaces";

/** Condition of these nodes: whether CPU and memory limits of their containers are enforced. */
export const PROCESS_LIMITS = "ProcessLimits";
