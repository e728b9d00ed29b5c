/** Reads an autoscaler's metrics from the APIs that serve them. A metric that cannot be read yields a failed reading; callers decide. */
import { isApiError } from "../../api/errors/api-error.ts";
import type {
  MetricIdentifier,
  MetricSpec,
  ObjectMetricSource,
} from "../../api/generated/types/autoscaling-v2.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";
import { parseDuration } from "../../api/values/time.ts";
import type { Client } from "../../client/client.ts";
import { milliOf } from "./pod-groups.ts";
import type { PodMetric, MetricReading } from "./pod-metric.ts";

const RESOURCE_API = "/apis/metrics.k8s.io/v1beta1";
const CUSTOM_GROUP = "custom.metrics.k8s.io";
const EXTERNAL_API = "/apis/external.metrics.k8s.io/v1beta1";
/** Default window of a measurement that states none. */
const WINDOW_MS = 60_000;

export interface MetricPlace {
  readonly client: Client;
  readonly namespace: string;
  /** Label selector of the target's pods. */
  readonly selector: string;
}

/** Returns one reading per metric, in the order of `metrics`. */
export async function readMetrics(
  metrics: readonly MetricSpec[],
  place: MetricPlace,
): Promise<readonly MetricReading[]> {
  // One response contains all resources of all pods.
  let usage: Promise<readonly JsonObject[]> | undefined;
  const readUsage = (): Promise<readonly JsonObject[]> => (usage ??= readItems(usageRequest(place), place));
  return Promise.all(metrics.map((metric) => readingOf(metric, place, readUsage)));
}

async function readingOf(
  metric: MetricSpec,
  place: MetricPlace,
  readUsage: () => Promise<readonly JsonObject[]>,
): Promise<MetricReading> {
  const { type, resource, containerResource, pods, object, external } = metric;
  if (type === "Resource" && resource !== undefined)
    return attempt("resource", async () => usageReading(await readUsage(), { ...resource, container: "" }));
  if (type === "ContainerResource" && containerResource !== undefined)
    return attempt("resource", async () => usageReading(await readUsage(), containerResource));
  if (type === "Pods" && pods !== undefined) return attempt("custom", () => podsReading(pods.metric, place));
  if (type === "Object" && object !== undefined) return objectReading(object, place);
  if (type === "External" && external !== undefined)
    return attempt("external", () => externalReading(external.metric, place));
  return failed(`unknown metric source type "${type}"`);
}

type Api = "resource" | "custom" | "external";

/** Turns API errors and malformed responses into failed readings with upstream's messages. */
async function attempt(api: Api, read: () => Promise<MetricReading>): Promise<MetricReading> {
  try {
    return await read();
  } catch (error) {
    if (!isApiError(error) && !(error instanceof SyntaxError)) throw error;
    return failed(`unable to fetch metrics from ${api} metrics API: ${error.message}`);
  }
}

function failed(message: string): MetricReading {
  return { type: "failed", message };
}

interface MetricRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Resource name in error messages, as client-go words it. */
  readonly resource: string;
}

function usageRequest({ namespace, selector }: MetricPlace): MetricRequest {
  return {
    path: `${RESOURCE_API}/namespaces/${namespace}/pods`,
    query: { labelSelector: selector },
    resource: "pods.metrics.k8s.io",
  };
}

async function readItems(
  { path, query, resource }: MetricRequest,
  { client }: MetricPlace,
): Promise<readonly JsonObject[]> {
  try {
    const list = await client.request({ path, query });
    const items = isJsonObject(list) ? list["items"] : undefined;
    return Array.isArray(items) ? items.filter(isJsonObject) : [];
  } catch (error) {
    // A 404 for an unknown path does not name the resource; the message here does, as client-go's does.
    if (!isApiError(error, "NotFound") || error.message !== UNKNOWN) throw error;
    throw new SyntaxError(`${UNKNOWN} (get ${resource})`, { cause: error });
  }
}

const UNKNOWN = "the server could not find the requested resource";

/** Leaves out pods with a container that has no value for the resource. */
function usageReading(
  items: readonly JsonObject[],
  { name: resource, container }: { readonly name: string; readonly container: string },
): MetricReading {
  if (items.length === 0) return failed("no metrics returned from resource metrics API");
  const metrics = new Map<string, PodMetric>();
  for (const item of items) {
    const { name, namespace } = memberOf(item, "metadata");
    const containers = listOf(item, "containers");
    const counted =
      container === "" ? containers : containers.filter((each) => textOf(each, "name") === container);
    if (container !== "" && counted.length === 0) {
      return failed(
        `container ${container} not present in metrics for pod ${String(namespace)}/${String(name)}`,
      );
    }
    const amounts = counted.map((each) => memberOf(each, "usage")[resource]);
    if (amounts.length === 0 || amounts.includes(undefined)) continue;
    let milli = 0;
    for (const amount of amounts) milli += milliOf(String(amount));
    metrics.set(String(name), { milli, ...momentOf(item) });
  }
  return { type: "pods", metrics };
}

async function podsReading(metric: MetricIdentifier, place: MetricPlace): Promise<MetricReading> {
  const { namespace, selector } = place;
  const items = await readCustom(`namespaces/${namespace}/pods/*/${encodeURIComponent(metric.name)}`, place, {
    ...metricQuery(metric),
    labelSelector: selector,
  });
  if (items.length === 0) return failed("no metrics returned from custom metrics API");
  const entries = items.map((item): [string, PodMetric] => [
    textOf(memberOf(item, "describedObject"), "name"),
    { milli: milliOf(textOf(item, "value")), ...momentOf(item) },
  ]);
  return { type: "pods", metrics: new Map(entries) };
}

async function objectReading(source: ObjectMetricSource, place: MetricPlace): Promise<MetricReading> {
  const { metric, describedObject } = source;
  const reading = await attempt("custom", async () => {
    const path = await objectPath(source, place);
    const [item] = await readCustom(path, place, metricQuery(metric));
    if (item === undefined) return failed("no metrics returned from custom metrics API");
    return { type: "value", milli: milliOf(textOf(item, "value")) };
  });
  return reading.type === "failed"
    ? failed(`${place.namespace} ${describedObject.name}/${reading.message}`)
    : reading;
}

async function objectPath(
  { metric, describedObject }: ObjectMetricSource,
  { client, namespace }: MetricPlace,
): Promise<string> {
  const { apiVersion = "v1", kind } = describedObject;
  const [name, metricName] = [describedObject.name, metric.name].map(encodeURIComponent);
  const type = await client.findType(apiVersion, kind);
  if (type === undefined) throw new SyntaxError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  if (apiVersion === "v1" && kind === "Namespace") return `namespaces/${name}/metrics/${metricName}`;
  const slash = apiVersion.indexOf("/");
  const resource = slash < 0 ? type.plural : `${type.plural}.${apiVersion.slice(0, slash)}`;
  const path = `${resource}/${name}/${metricName}`;
  return type.namespaced ? `namespaces/${namespace}/${path}` : path;
}

async function externalReading(metric: MetricIdentifier, place: MetricPlace): Promise<MetricReading> {
  const { namespace } = place;
  const { metricLabelSelector: labelSelector } = metricQuery(metric);
  const items = await readItems(
    {
      path: `${EXTERNAL_API}/namespaces/${namespace}/${encodeURIComponent(metric.name)}`,
      query: labelSelector === undefined ? {} : { labelSelector },
      resource: `${metric.name}.external.metrics.k8s.io`,
    },
    place,
  );
  if (items.length === 0) return failed("no metrics returned from external metrics API");
  let milli = 0;
  for (const item of items) milli += milliOf(textOf(item, "value"));
  return { type: "value", milli };
}

/** Uses the group's preferred version. */
async function readCustom(
  path: string,
  place: MetricPlace,
  query: Readonly<Record<string, string>>,
): Promise<readonly JsonObject[]> {
  const version = await findCustomVersion(place.client);
  if (version === undefined) throw new SyntaxError(`no custom metrics API (${CUSTOM_GROUP}) registered`);
  return readItems({ path: `/apis/${version}/${path}`, query, resource: `${path}.${CUSTOM_GROUP}` }, place);
}

async function findCustomVersion(client: Client): Promise<string | undefined> {
  try {
    const group = await client.request({ path: `/apis/${CUSTOM_GROUP}` });
    const version = isJsonObject(group) ? textOf(memberOf(group, "preferredVersion"), "groupVersion") : "";
    return version === "" ? undefined : version;
  } catch (error) {
    if (isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}

function metricQuery({ selector }: MetricIdentifier): { readonly metricLabelSelector?: string } {
  return selector === undefined
    ? {}
    : { metricLabelSelector: labelSelectorText(compileLabelSelector(selector)) };
}

function momentOf(item: JsonObject): { readonly at: number; readonly windowMs: number } {
  const { timestamp, window, windowSeconds } = item;
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : 0;
  if (typeof windowSeconds === "number") return { at, windowMs: windowSeconds * 1000 };
  const windowMs = typeof window === "string" ? Number(parseDuration(window) / 1_000_000n) : WINDOW_MS;
  return { at, windowMs };
}

function memberOf(value: JsonObject, name: string): JsonObject {
  const member = value[name];
  return isJsonObject(member) ? member : {};
}

function listOf(value: JsonObject, name: string): readonly JsonObject[] {
  const list = value[name];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textOf(value: JsonObject, name: string): string {
  const text = value[name];
  return typeof text === "string" ? text : "";
}
