/** Parses the body of a kubelet's `/stats/summary`, in the parts that the metrics API shows. */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { parseJson } from "../../api/json/json-scan.ts";
import type { ContainerUsage, Usage } from "../verbs/metrics-api/usage-source.ts";

export interface StatsSummary {
  readonly node: Usage | undefined;
  /** By `NAMESPACE/NAME`. */
  readonly pods: ReadonlyMap<string, readonly ContainerUsage[]>;
}

/** Throws for a body that is not a summary. A pod without figures of each container is left out, as metrics-server does. */
export function parseStatsSummary(bytes: Uint8Array): StatsSummary {
  const body = parseJson(bytes).value;
  if (!isJsonObject(body)) throw new TypeError("expected an object with the usage of a node");
  const pods = new Map<string, readonly ContainerUsage[]>();
  for (const pod of listIn(body, "pods")) {
    const { name, namespace } = objectIn(pod, "podRef");
    const containers = listIn(pod, "containers").map(containerUsage);
    if (containers.length === 0 || containers.includes(undefined)) continue;
    pods.set(
      `${textOf(namespace)}/${textOf(name)}`,
      containers.flatMap((each) => each ?? []),
    );
  }
  return { node: usageIn(objectIn(body, "node")), pods };
}

function containerUsage(container: JsonObject): ContainerUsage | undefined {
  const usage = usageIn(container);
  return usage === undefined ? undefined : { name: textOf(container["name"]), ...usage };
}

function usageIn(stats: JsonObject): Usage | undefined {
  const nanoCores = objectIn(stats, "cpu")["usageNanoCores"];
  const memoryBytes = objectIn(stats, "memory")["workingSetBytes"];
  if (typeof nanoCores !== "number" || typeof memoryBytes !== "number") return undefined;
  return { cpuMillis: nanoCores / 1e6, memoryBytes };
}

function objectIn(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  return isJsonObject(value) ? value : {};
}

function listIn(parent: JsonObject, field: string): readonly JsonObject[] {
  const value = parent[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
