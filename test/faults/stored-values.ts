/** Values that no API server would store, with keys for them: one of each kind of damage, under every resource. */
import type { JsonObject } from "../../src/api/json/json-object.ts";
import { writeEnvelope } from "../../src/api/protobuf/envelope.ts";
import { apiVersionOf, groupVersions } from "../../src/api/schema/resource-facts.ts";
import { seededRandom } from "../../src/base/loop/random.ts";

export interface StoredPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Ends with a slash. */
  readonly prefix: string;
  /** Path of the list in namespace `default`, or of the whole cluster. */
  readonly path: string;
}

/** One place per stored resource. */
export function storedPlaces(): readonly StoredPlace[] {
  const places = new Map<string, StoredPlace>();
  for (const { resources } of groupVersions()) {
    for (const { name, group, version, kind, namespaced, storage, verbs } of resources) {
      if (storage === undefined || !verbs.includes("list") || storage.version !== version) continue;
      if (storage.group !== group) continue;
      const apiVersion = apiVersionOf(storage);
      const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const path = `${root}/${namespaced ? "namespaces/default/" : ""}${name}`;
      const prefix = `/registry/${storage.prefix}/${namespaced ? "default/" : ""}`;
      places.set(prefix, { apiVersion, kind, namespaced, prefix, path });
    }
  }
  return [...places.values()];
}

const random = seededRandom(7, "test", "stored values");

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function named({ apiVersion, kind, namespaced }: StoredPlace, name: string): JsonObject {
  return { apiVersion, kind, metadata: { name, ...(namespaced && { namespace: "default" }), uid: "1-2-3" } };
}

type Damage = (place: StoredPlace, name: string) => Uint8Array;

/** Each makes a value that is not readable as the object of its key. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  "nothing at all": () => Buffer.alloc(0),
  "random bytes": () => Buffer.from(random.bytes(300)),
  "half of an object": (place, name) => json(named(place, name)).subarray(0, -20),
  "a list": () => json([]),
  "a number": () => json(1),
  null: () => Buffer.from("null"),
  "a text": () => json("text"),
  "an empty object": () => json({}),
  "no metadata": ({ apiVersion, kind }) => json({ apiVersion, kind }),
  "metadata that is a list": ({ apiVersion, kind }) => json({ apiVersion, kind, metadata: [] }),
  "labels that are a number": (place, name) => {
    const object = named(place, name);
    return json({ ...object, metadata: { ...(object["metadata"] as JsonObject), labels: 5 } });
  },
  "finalizers that are numbers": (place, name) => {
    const object = named(place, name);
    return json({ ...object, metadata: { ...(object["metadata"] as JsonObject), finalizers: [1, {}] } });
  },
  "another kind": (place, name) => json({ ...named(place, name), kind: "Other" }),
  "a version that never was": (place, name) => json({ ...named(place, name), apiVersion: "example.com/v7" }),
  "another name": (place) => json(named(place, "somebody-else")),
  "another namespace": (place, name) => {
    const object = named(place, name);
    return json({ ...object, metadata: { ...(object["metadata"] as JsonObject), namespace: "elsewhere" } });
  },
  "nesting without end": (place, name) => {
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    return Buffer.from(JSON.stringify({ ...named(place, name), data: 1 }).replace(/1}$/, `${deep}}`));
  },
  "brackets without end": () => Buffer.from("[".repeat(100_000)),
  "bytes that are no UTF-8": (place, name) =>
    Buffer.concat([
      json(named(place, name)).subarray(0, -1),
      Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    ]),
  "a generation beyond all numbers": (place, name) =>
    Buffer.from(JSON.stringify(named(place, name)).replace('"uid"', '"generation":1e999,"uid"')),
  "protobuf of random bytes": ({ apiVersion, kind }) =>
    Buffer.from(writeEnvelope({ apiVersion, kind, raw: random.bytes(200).fill(0xff, 0, 40) })),
  "protobuf that is cut": ({ apiVersion, kind }) =>
    Buffer.from(writeEnvelope({ apiVersion, kind, raw: Uint8Array.of(0x0a, 0x7f, 0x01) })),
  "protobuf of another kind": (_, name) =>
    Buffer.from(writeEnvelope({ apiVersion: "v1", kind: "Other", raw: json(name) })),
  "the beginning of protobuf": () => Buffer.from("k8s\0"),
  "a value that is encrypted": () => Buffer.from("k8s:enc:aescbc:v1:key1:0123456789abcdef"),
};

/** Has the right kind and name, but no other required member. */
export function emptyValue(place: StoredPlace, name: string): Uint8Array {
  return json(named(place, name));
}

/** Members of an object beside its metadata. */
export function invalidValue(place: StoredPlace, name: string, members: JsonObject): Uint8Array {
  return json({ ...named(place, name), ...members });
}

function definition(version: JsonObject, more: JsonObject = {}): JsonObject {
  const names = { plural: "widgets", kind: "Widget", listKind: "WidgetList", singular: "widget" };
  const conditions = ["Established", "NamesAccepted"].map((type) => ({ type, status: "True" }));
  const versions = [{ name: "v1", served: true, storage: true, ...version }];
  return {
    spec: { group: "example.com", scope: "Cluster", names, versions, ...more },
    status: { acceptedNames: names, conditions, storedVersions: ["v1"] },
  };
}

const ANY = { openAPIV3Schema: { type: "object" } };

type InvalidValue = readonly [kind: string, members: JsonObject];

/** Members of the right type that validation would refuse. */
export const INVALID_VALUES: readonly [InvalidValue, ...InvalidValue[]] = [
  ["CustomResourceDefinition", definition({})],
  ["CustomResourceDefinition", definition({ schema: { openAPIV3Schema: { type: "nothing" } } })],
  [
    "CustomResourceDefinition",
    definition({ schema: { openAPIV3Schema: { pattern: "(((", type: "string" } } }),
  ],
  [
    "CustomResourceDefinition",
    definition({ schema: ANY, additionalPrinterColumns: [{ name: "", jsonPath: "" }] }),
  ],
  [
    "CustomResourceDefinition",
    definition({ schema: ANY, additionalPrinterColumns: [{ jsonPath: ".[?(@" }] }),
  ],
  ["CustomResourceDefinition", definition({ schema: ANY, subresources: { scale: {} } })],
  ["CustomResourceDefinition", definition({ schema: ANY, selectableFields: [{ jsonPath: "" }] })],
  ["CustomResourceDefinition", definition({ schema: ANY }, { versions: [] })],
  ["CustomResourceDefinition", definition({ schema: ANY }, { conversion: { strategy: "Webhook" } })],
  ["CustomResourceDefinition", definition({ schema: ANY, name: "", storage: false })],
  ["CustomResourceDefinition", definition({ schema: ANY }, { group: "", scope: "" })],
  [
    "Service",
    {
      spec: {
        clusterIP: "nowhere",
        clusterIPs: ["nowhere", ""],
        ports: [{ port: -1, nodePort: 99_999_999 }],
      },
    },
  ],
  ["ServiceCIDR", { spec: { cidrs: ["nowhere", "10.0.0.0/99"] } }],
  ["IPAddress", { spec: { parentRef: { group: "", resource: "services", namespace: "", name: "" } } }],
  ["Node", { spec: { podCIDRs: ["nowhere"] }, status: { addresses: [{ type: "", address: "" }] } }],
  ["ResourceQuota", { spec: { hard: { "count/": "1", pods: "-5" }, scopes: ["", "Nothing"] } }],
  ["LimitRange", { spec: { limits: [{ type: "", default: { cpu: "-1" } }] } }],
  ["PriorityClass", { value: 2_000_000_001, globalDefault: true, preemptionPolicy: "Sometimes" }],
  ["StorageClass", { provisioner: "", reclaimPolicy: "Never", volumeBindingMode: "?" }],
  [
    "ClusterRole",
    { rules: [{ verbs: [] }, { apiGroups: [""], resources: ["*/"], verbs: ["*"] }], aggregationRule: {} },
  ],
  [
    "ClusterRole",
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "", operator: "?" }] }] } },
  ],
  [
    "ClusterRoleBinding",
    { subjects: [{ kind: "", name: "" }], roleRef: { kind: "", name: "", apiGroup: "" } },
  ],
  ["RoleBinding", { roleRef: { kind: "Role", name: "../..", apiGroup: "?" } }],
  ["APIService", { spec: { group: "", version: "", service: { name: "", namespace: "" } } }],
  [
    "FlowSchema",
    { spec: { priorityLevelConfiguration: { name: "" }, rules: [{ subjects: [{ kind: "" }] }] } },
  ],
  [
    "PriorityLevelConfiguration",
    {
      spec: { type: "Limited", limited: { nominalConcurrencyShares: -1, limitResponse: { type: "Queue" } } },
    },
  ],
  ["PriorityLevelConfiguration", { spec: { type: "?" } }],
  ["ValidatingAdmissionPolicyBinding", { spec: { policyName: "senseless", validationActions: ["?"] } }],
  [
    "ValidatingAdmissionPolicy",
    {
      spec: {
        validations: [{ expression: "(((" }],
        matchConstraints: {},
        variables: [{ name: "", expression: "" }],
      },
    },
  ],
  [
    "MutatingWebhookConfiguration",
    {
      webhooks: [{ name: "", clientConfig: {}, rules: [{}], sideEffects: "?", admissionReviewVersions: [] }],
    },
  ],
  [
    "ValidatingWebhookConfiguration",
    {
      webhooks: [
        {
          name: "a",
          clientConfig: { url: "nowhere" },
          rules: [],
          matchConditions: [{ name: "", expression: "((" }],
        },
      ],
    },
  ],
  [
    "Lease",
    { spec: { holderIdentity: "", leaseDurationSeconds: -5, renewTime: "2020-01-01T00:00:00.000000Z" } },
  ],
  ["Secret", { type: "kubernetes.io/service-account-token", data: { token: "bm90aGluZw==" } }],
  ["ConfigMap", { data: { "..": "1" }, binaryData: { "": "" } }],
  [
    "RuntimeClass",
    { handler: "", overhead: { podFixed: { cpu: "-1" } }, scheduling: { nodeSelector: { "": "" } } },
  ],
  [
    "HorizontalPodAutoscaler",
    { spec: { scaleTargetRef: { kind: "", name: "" }, maxReplicas: -1, metrics: [{ type: "?" }] } },
  ],
  [
    "PodDisruptionBudget",
    { spec: { selector: { matchExpressions: [{ key: "", operator: "?" }] }, minAvailable: "x%" } },
  ],
  ["ResourceClaim", { spec: { devices: { requests: [{ name: "" }] } }, status: { allocation: {} } }],
  ["ResourceSlice", { spec: { driver: "", pool: { name: "", generation: -1, resourceSliceCount: 0 } } }],
];
