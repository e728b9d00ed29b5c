/** The resources of `metrics.k8s.io`: names, schemas and table columns. */
import type { JSONSchemaProps } from "../../../api/generated/types/apiextensions-v1.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type { ColumnFacts, ResourceFacts } from "../../../api/schema/resource-facts.ts";
import type { ApiObject, KindRules } from "../../../resources/rules/kind-rules.ts";
import { ownResource } from "../../objects/own-kinds.ts";
import type { OwnGroupVersion, OwnResource } from "../../objects/own-kinds.ts";

const PLACE = { group: "metrics.k8s.io", version: "v1beta1" };
export const METRICS_VERSION = apiVersionOf(PLACE);

/** Priority of the metrics-server's own registration. It is last, so that a bare `pods` means the core group's. */
const ORDER: readonly [group: number, version: number] = [100, 100];

export type UsageList = Readonly<Record<string, string>>;

export interface NodeMetrics extends ApiObject {
  readonly timestamp: string;
  readonly window: string;
  readonly usage: UsageList;
}

export interface PodMetrics extends ApiObject {
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: UsageList }[];
}

const QUANTITY: JSONSchemaProps = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};
const USAGE: JSONSchemaProps = {
  description: "Usage by resource name.",
  type: "object",
  additionalProperties: QUANTITY,
};
const MOMENT: Readonly<Record<string, JSONSchemaProps>> = {
  timestamp: { description: "The end of the measurement.", type: "string", format: "date-time" },
  window: { description: "Duration of the measurement, such as 15s.", type: "string" },
};

const NODE_SCHEMA: JSONSchemaProps = {
  description: "Usage of a node.",
  type: "object",
  required: ["timestamp", "window", "usage"],
  properties: { ...MOMENT, usage: USAGE },
};

const POD_SCHEMA: JSONSchemaProps = {
  description: "Usage of the containers of a pod.",
  type: "object",
  required: ["timestamp", "window", "containers"],
  properties: {
    ...MOMENT,
    containers: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "usage"],
        properties: { name: { type: "string" }, usage: USAGE },
      },
    },
  },
};

const COLUMNS: readonly ColumnFacts[] = [
  { name: "Name", type: "string", format: "name", priority: 0 },
  { name: "cpu", type: "string", format: "quantity", priority: 0 },
  { name: "memory", type: "string", format: "quantity", priority: 0 },
  { name: "Window", type: "string", format: "duration", priority: 0 },
];

/** The resources of `metrics.k8s.io`. `total` sums up the usage in an object. */
export function metricsKinds(total: {
  readonly node: (object: NodeMetrics) => UsageList;
  readonly pod: (object: PodMetrics) => UsageList;
}): OwnGroupVersion {
  return {
    ...PLACE,
    order: ORDER,
    resources: [
      made({ name: "nodes", kind: "NodeMetrics", namespaced: false }, NODE_SCHEMA, (object) =>
        cellsOf(object as NodeMetrics, total.node(object as NodeMetrics)),
      ),
      made({ name: "pods", kind: "PodMetrics", namespaced: true }, POD_SCHEMA, (object) =>
        cellsOf(object as PodMetrics, total.pod(object as PodMetrics)),
      ),
    ],
  };
}

function cellsOf(
  { metadata, window }: NodeMetrics | PodMetrics,
  { cpu = "0", memory = "0" }: UsageList,
): readonly string[] {
  return [metadata.name ?? "", cpu, memory, window];
}

function made(
  names: Pick<ResourceFacts, "name" | "kind" | "namespaced">,
  openApi: JSONSchemaProps,
  cells: NonNullable<KindRules["cells"]>,
): OwnResource {
  const definition = `io.k8s.metrics.pkg.apis.metrics.v1beta1.${names.kind}`;
  const rules = { columns: COLUMNS, cells };
  return ownResource({ ...PLACE, ...names, verbs: ["get", "list"], definition, openApi, rules });
}
