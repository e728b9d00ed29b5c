/** Query and path parameters of operations. */

/** Values of `x-kubernetes-action`. */
export type Action =
  | "list"
  | "post"
  | "deletecollection"
  | "get"
  | "put"
  | "patch"
  | "delete"
  | "connect"
  | "watch"
  | "watchlist";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: "string" | "integer" | "boolean";
}

function inQuery(type: Parameter["type"], ...names: readonly string[]): readonly Parameter[] {
  return names.map((name) => ({ name, in: "query", type }));
}

function byName(...lists: readonly (readonly Parameter[])[]): readonly Parameter[] {
  return lists.flat().toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

const SELECTION = byName(
  inQuery("string", "continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"),
  inQuery("integer", "limit", "timeoutSeconds"),
  inQuery("boolean", "sendInitialEvents"),
);
const LISTING = byName(SELECTION, inQuery("boolean", "allowWatchBookmarks", "watch"));
const WRITING = inQuery("string", "dryRun", "fieldManager", "fieldValidation");
const DELETION = byName(
  inQuery("string", "dryRun", "propagationPolicy"),
  inQuery("integer", "gracePeriodSeconds"),
  inQuery("boolean", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents"),
);

/** Clients check here whether a server knows a parameter before they send it. */
export const PARAMETERS_OF: Readonly<Record<Action, readonly Parameter[]>> = {
  list: LISTING,
  post: WRITING,
  put: WRITING,
  patch: byName(WRITING, inQuery("boolean", "force")),
  delete: DELETION,
  deletecollection: byName(DELETION, SELECTION),
  get: [],
  connect: [],
  watch: LISTING,
  watchlist: LISTING,
};

const NAME: Parameter = { name: "name", in: "path", type: "string" };
const NAMESPACE: Parameter = { name: "namespace", in: "path", type: "string" };
const PRETTY: Parameter = { name: "pretty", in: "query", type: "string" };

const PROXY_PATH: Parameter = { name: "path", in: "path", type: "string" };
const PROXY_QUERY: Parameter = { name: "path", in: "query", type: "string" };

/** Parameters of a proxy, without and with a path. */
export const PROXY_PARAMETERS = { plain: [PROXY_QUERY], withPath: [PROXY_PATH, PROXY_QUERY] } as const;

/** Parameters that all operations at one path share. */
export const PATH_PARAMETERS = {
  cluster: [PRETTY],
  clusterNamed: [NAME, PRETTY],
  inNamespace: [NAMESPACE, PRETTY],
  named: [NAME, NAMESPACE, PRETTY],
} as const;
