/** Contents of a kubeconfig: clusters, users, and contexts that combine them. */
import { dirname } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import { parseYaml } from "../api/yaml/yaml.ts";
import type { Endpoint, EndpointUser } from "./endpoint.ts";
import { readCluster, readUser } from "./kubeconfig-entries.ts";
import { KubeconfigError, KubeconfigFields } from "./kubeconfig-fields.ts";

/** A parsed kubeconfig. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
}

/** Names of a cluster and a user, and a default namespace. */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string | undefined;
  readonly namespace: string | undefined;
}

/** Reads the entry when called, and throws if it is invalid. So unused invalid entries do no harm. */
export type KubeconfigCluster = () => Omit<Endpoint, "user">;
export type KubeconfigUser = () => EndpointUser;

/** Enough for some hundred clusters with their certificates. */
const BYTES_MAX = 8 * 1024 * 1024;

const ALIASES_MAX = 1000;

export interface KubeconfigOrigin {
  /** Path of the file, for error messages and relative paths. */
  readonly file: string;
}

/**
 * Parses the YAML of a kubeconfig. Relative paths in it start at its folder. Throws a KubeconfigError that names file
 * and field.
 */
export function parseKubeconfig(text: string, { file }: KubeconfigOrigin): Kubeconfig {
  const value = parsed(text, file);
  const root = new KubeconfigFields(value, { file, path: "", dir: dirname(file) });
  return {
    currentContext: root.findText("current-context"),
    contexts: entriesOf(root, "contexts", { member: "context", read: readContext }),
    clusters: entriesOf(root, "clusters", { member: "cluster", read: (fields) => () => readCluster(fields) }),
    users: entriesOf(root, "users", { member: "user", read: (fields) => () => readUser(fields) }),
  };
}

/** Like kubectl: the first file that defines a name wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const firstOf = <T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> =>
    new Map(maps.toReversed().flatMap((map) => [...map]));
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: firstOf(configs.map(({ contexts }) => contexts)),
    clusters: firstOf(configs.map(({ clusters }) => clusters)),
    users: firstOf(configs.map(({ users }) => users)),
  };
}

/** Server and default namespace of a context. */
export interface ResolvedContext {
  readonly endpoint: Endpoint;
  readonly namespace: string | undefined;
}

/** Resolves a context to its server and credentials. Default: the current context. */
export function resolveContext(config: Kubeconfig, name = config.currentContext): ResolvedContext {
  if (name === undefined) {
    throw new KubeconfigError(
      config.contexts.size === 0
        ? "the kubeconfig has no contexts"
        : `no context is selected: set current-context or name one of ${listed(config.contexts)}`,
    );
  }
  const context = found(config.contexts, name, "context");
  const cluster = found(config.clusters, context.cluster, `cluster of context ${JSON.stringify(name)}`)();
  const user = context.user && found(config.users, context.user, `user of context ${JSON.stringify(name)}`)();
  return { endpoint: { ...cluster, ...(user && { user }) }, namespace: context.namespace };
}

function parsed(text: string, file: string): JsonObject {
  let value: unknown;
  try {
    ({ value } = parseYaml(Buffer.from(text), { maxAliases: ALIASES_MAX, maxBytes: BYTES_MAX }));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
    throw new KubeconfigError(`${file} is not a kubeconfig: ${error.message}`);
  }
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  throw new KubeconfigError(`${file} is not a kubeconfig: expected clusters, users and contexts`);
}

/** Like kubectl, uses the first of several entries with one name. */
function entriesOf<T>(
  root: KubeconfigFields,
  list: "contexts" | "clusters" | "users",
  { member, read }: { readonly member: string; readonly read: (fields: KubeconfigFields) => T },
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const entry of root.listOf(list)) {
    const name = entry.text("name");
    if (!entries.has(name)) entries.set(name, read(entry.within(member)));
  }
  return entries;
}

function readContext(fields: KubeconfigFields): KubeconfigContext {
  return {
    cluster: fields.text("cluster"),
    user: fields.findText("user"),
    namespace: fields.findText("namespace"),
  };
}

function found<T>(entries: ReadonlyMap<string, T>, name: string, role: string): T {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  throw new KubeconfigError(`there is no ${role} named ${JSON.stringify(name)}, only ${listed(entries)}`);
}

/** Up to ten names, as a hint in an error. */
function listed(entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].slice(0, 10);
  return names.length === 0 ? "none" : names.map((name) => JSON.stringify(name)).join(", ");
}
