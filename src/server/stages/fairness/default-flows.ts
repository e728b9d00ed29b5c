/**
 * The default configuration of a server, as in kube-apiserver. The mandatory part cannot be overridden; administrators
 * may change the suggested part.
 */
import type {
  FlowSchemaSpec,
  LimitedPriorityLevelConfiguration,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
  ResourcePolicyRule,
  Subject,
} from "../../../api/generated/types/flowcontrol-v1.ts";
import {
  EXEMPT,
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
} from "../../../resources/flow-control/mandatory-flows.ts";

export interface DefaultFlowObject<S> {
  readonly name: string;
  readonly isMandatory: boolean;
  readonly spec: S;
}

const QUEUE_LENGTH_MAX = 50;

interface Shares {
  readonly shares: number;
  readonly lendable: number;
  /** Without queues, a request without a seat is refused. */
  readonly queues?: readonly [queues: number, handSize: number];
}

function limited({ shares, lendable, queues }: Shares): PriorityLevelConfigurationSpec {
  const limits: Omit<LimitedPriorityLevelConfiguration, "limitResponse"> = {
    nominalConcurrencyShares: shares,
    lendablePercent: lendable,
  };
  if (queues === undefined)
    return { type: "Limited", limited: { ...limits, limitResponse: { type: "Reject" } } };
  const [count, handSize] = queues;
  const queuing: QueuingConfiguration = { queues: count, handSize, queueLengthLimit: QUEUE_LENGTH_MAX };
  return { type: "Limited", limited: { ...limits, limitResponse: { type: "Queue", queuing } } };
}

function level(
  name: string,
  spec: PriorityLevelConfigurationSpec,
): DefaultFlowObject<PriorityLevelConfigurationSpec> {
  return { name, isMandatory: false, spec };
}

export const DEFAULT_LEVELS: readonly DefaultFlowObject<PriorityLevelConfigurationSpec>[] = [
  ...Array.from(MANDATORY_LEVELS, ([name, spec]) => ({ name, isMandatory: true, spec })),
  level("system", limited({ shares: 30, lendable: 33, queues: [64, 6] })),
  level("node-high", limited({ shares: 40, lendable: 25, queues: [64, 6] })),
  level("leader-election", limited({ shares: 10, lendable: 0, queues: [16, 4] })),
  level("workload-high", limited({ shares: 40, lendable: 50, queues: [128, 6] })),
  level("workload-low", limited({ shares: 100, lendable: 90, queues: [128, 6] })),
  level("global-default", limited({ shares: 20, lendable: 50, queues: [128, 6] })),
];

const ALL = ["*"];
const ALL_RESOURCES: ResourcePolicyRule = {
  verbs: ALL,
  apiGroups: ALL,
  resources: ALL,
  namespaces: ALL,
  clusterScope: true,
};
const EVERYTHING: Pick<PolicyRulesWithSubjects, "resourceRules" | "nonResourceRules"> = {
  resourceRules: [ALL_RESOURCES],
  nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
};
/** Verbs that a leader election uses on its lock. */
const LOCK_VERBS = ["get", "create", "update"];

function locks(apiGroup: string, resources: readonly string[]): ResourcePolicyRule {
  return { verbs: LOCK_VERBS, apiGroups: [apiGroup], resources, namespaces: ALL };
}

const LEASES = locks("coordination.k8s.io", ["leases"]);

function groups(...names: readonly string[]): readonly Subject[] {
  return names.map((name) => ({ kind: "Group", group: { name } }));
}

function users(...names: readonly string[]): readonly Subject[] {
  return names.map((name) => ({ kind: "User", user: { name } }));
}

function systemAccounts(...names: readonly string[]): readonly Subject[] {
  const namespace = "kube-system";
  return names.map((name) => ({ kind: "ServiceAccount", serviceAccount: { name, namespace } }));
}

const ALL_USERS = groups("system:unauthenticated", "system:authenticated");
const NODES = groups("system:nodes");
const CONTROLLERS = "system:kube-controller-manager";
const SCHEDULER = "system:kube-scheduler";

interface Schema {
  readonly level: string;
  readonly precedence: number;
  readonly by?: "ByUser" | "ByNamespace";
  readonly rule: PolicyRulesWithSubjects;
}

function schema(
  name: string,
  { level: levelName, precedence, by, rule }: Schema,
): DefaultFlowObject<FlowSchemaSpec> {
  const spec: FlowSchemaSpec = {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence: precedence,
    ...(by !== undefined && { distinguisherMethod: { type: by } }),
    rules: [rule],
  };
  return { name, isMandatory: false, spec };
}

export const DEFAULT_SCHEMAS: readonly DefaultFlowObject<FlowSchemaSpec>[] = [
  ...Array.from(MANDATORY_SCHEMAS, ([name, spec]) => ({ name, isMandatory: true, spec })),
  schema("probes", {
    level: EXEMPT,
    precedence: 2,
    rule: {
      subjects: ALL_USERS,
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    },
  }),
  schema("system-leader-election", {
    level: "leader-election",
    precedence: 100,
    by: "ByUser",
    rule: { subjects: [...users(CONTROLLERS, SCHEDULER), ...systemAccounts("*")], resourceRules: [LEASES] },
  }),
  schema("endpoint-controller", {
    level: "workload-high",
    precedence: 150,
    by: "ByUser",
    rule: {
      subjects: [
        ...users(CONTROLLERS),
        ...systemAccounts("endpoint-controller", "endpointslicemirroring-controller"),
      ],
      resourceRules: [locks("", ["endpoints"])],
    },
  }),
  schema("workload-leader-election", {
    level: "leader-election",
    precedence: 200,
    by: "ByUser",
    rule: {
      subjects: systemAccounts("*"),
      resourceRules: [locks("", ["endpoints", "configmaps"]), LEASES],
    },
  }),
  schema("system-node-high", {
    level: "node-high",
    precedence: 400,
    by: "ByUser",
    rule: {
      subjects: NODES,
      resourceRules: [
        { ...ALL_RESOURCES, apiGroups: [""], resources: ["nodes", "nodes/status"] },
        { verbs: ALL, apiGroups: ["coordination.k8s.io"], resources: ["leases"], namespaces: ALL },
      ],
    },
  }),
  schema("system-nodes", {
    level: "system",
    precedence: 500,
    by: "ByUser",
    rule: { subjects: NODES, ...EVERYTHING },
  }),
  schema("kube-controller-manager", {
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    rule: { subjects: users(CONTROLLERS), ...EVERYTHING },
  }),
  schema("kube-scheduler", {
    level: "workload-high",
    precedence: 800,
    by: "ByNamespace",
    rule: { subjects: users(SCHEDULER), ...EVERYTHING },
  }),
  schema("kube-system-service-accounts", {
    level: "workload-high",
    precedence: 900,
    by: "ByNamespace",
    rule: { subjects: systemAccounts("*"), ...EVERYTHING },
  }),
  schema("service-accounts", {
    level: "workload-low",
    precedence: 9000,
    by: "ByUser",
    rule: { subjects: groups("system:serviceaccounts"), ...EVERYTHING },
  }),
  schema("global-default", {
    level: "global-default",
    precedence: 9900,
    by: "ByUser",
    rule: { subjects: ALL_USERS, ...EVERYTHING },
  }),
];
