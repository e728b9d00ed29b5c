/** Routes of the kubelet's HTTP API, and the rights that each needs (docs/reference/compatibility.md). */

export interface ContainerPath {
  readonly namespace: string;
  readonly pod: string;
  /** Undefined when the path names none: any pod with that name. */
  readonly uid: string | undefined;
  readonly container: string;
}

export type KubeletPage =
  | "healthz"
  | "configz"
  | "pods"
  | "running-pods"
  | "stats-summary"
  | "metrics"
  | "metrics-cadvisor"
  | "metrics-probes"
  | "metrics-resource";

export type KubeletRoute =
  | { readonly type: "page"; readonly page: KubeletPage }
  | { readonly type: "logs"; readonly place: ContainerPath }
  | { readonly type: "exec"; readonly place: ContainerPath }
  | { readonly type: "attach"; readonly place: ContainerPath }
  | { readonly type: "port-forward"; readonly place: Omit<ContainerPath, "container"> };

const PAGES: ReadonlyMap<string, KubeletPage> = new Map<string, KubeletPage>([
  ["healthz", "healthz"],
  ["healthz/ping", "healthz"],
  ["healthz/syncloop", "healthz"],
  ["configz", "configz"],
  ["pods", "pods"],
  ["runningpods", "running-pods"],
  ["stats/summary", "stats-summary"],
  ["metrics", "metrics"],
  ["metrics/cadvisor", "metrics-cadvisor"],
  ["metrics/probes", "metrics-probes"],
  ["metrics/resource", "metrics-resource"],
]);

/** Undefined for a path that the API does not have. */
export function findRoute(path: string): KubeletRoute | undefined {
  const segments = decodedSegments(path);
  if (segments === undefined) return undefined;
  const page = PAGES.get(segments.join("/").replace(/\/$/, ""));
  if (page !== undefined) return { type: "page", page };
  const [name, namespace = "", pod = "", ...rest] = segments;
  if (namespace === "" || pod === "") return undefined;
  if (name === "portForward" && rest.length <= 1)
    return { type: "port-forward", place: { namespace, pod, uid: rest[0] } };
  return findContainerRoute(name, { namespace, pod }, rest);
}

function findContainerRoute(
  name: string | undefined,
  pod: Pick<ContainerPath, "namespace" | "pod">,
  rest: readonly string[],
): KubeletRoute | undefined {
  const [first = "", container = first] = rest;
  if (container === "" || rest.length > 2) return undefined;
  const place = { ...pod, uid: rest.length === 2 ? first : undefined, container };
  if (name === "containerLogs" && rest.length === 1) return { type: "logs", place };
  return name === "exec" || name === "attach" ? { type: name, place } : undefined;
}

/** Undefined for an invalid escape. A segment keeps an escaped slash, so that it stays one segment. */
function decodedSegments(path: string): readonly string[] | undefined {
  try {
    return path.replace(/^\//, "").split("/").map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** A verb on `nodes/SUBRESOURCE`; one of the subresources suffices. */
export interface NeededRights {
  readonly verb: string;
  readonly subresources: readonly string[];
}

const SUBRESOURCES: Readonly<Record<KubeletPage, readonly string[]>> = {
  healthz: ["healthz", "proxy"],
  configz: ["configz", "proxy"],
  pods: ["pods", "proxy"],
  "running-pods": ["pods", "proxy"],
  "stats-summary": ["stats"],
  metrics: ["metrics"],
  "metrics-cadvisor": ["metrics"],
  "metrics-probes": ["metrics"],
  "metrics-resource": ["metrics"],
};

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["HEAD", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/**
 * Subresources as upstream's kubelet derives them. Streams need `create` for every method: upstream lets `get` on
 * `nodes/proxy` run commands over a WebSocket.
 */
export function neededRights(method: string, route: KubeletRoute | undefined): NeededRights {
  const isStream = route !== undefined && route.type !== "page" && route.type !== "logs";
  const verb = isStream ? "create" : (VERBS.get(method) ?? method.toLowerCase());
  return { verb, subresources: route?.type === "page" ? SUBRESOURCES[route.page] : ["proxy"] };
}
