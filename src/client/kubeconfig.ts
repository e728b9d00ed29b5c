/** What a kubeconfig says: clusters, users, and contexts that bring them together. */
import { dirname } from "node:path";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import { parseYaml } from "../api/yaml/yaml.ts";
import type { Endpoint, EndpointUser } from "./endpoint.ts";
import { readCluster, readUser } from "./kubeconfig-entries.ts";
import { KubeconfigError, KubeconfigFields } from "./kubeconfig-fields.ts";

export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string | undefined;
  readonly namespace: string | undefined;
}

/** Entries nobody uses may be wrong: each is read when it is asked for, and throws then. */
export type KubeconfigCluster = () => Omit<Endpoint, "user">;
export type KubeconfigUser = () => EndpointUser;

/** A kubeconfig with some hundred clusters and their certificates. */
const BYTES_MAX = 8 * 1024 * 1024;

const ALIASES_MAX = 1000;

export interface KubeconfigOrigin {
  /** Named in errors. */
  readonly file: string;
}

/** Files that it names lie relative to its own folder. Throws a KubeconfigError that names file and field. */
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

/** As kubectl: the first file that names something wins. */
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

export interface ResolvedContext {
  readonly endpoint: Endpoint;
  readonly namespace: string | undefined;
}

/** Where the context leads to; the current one unless another is named. */
export function resolveContext(config: Kubeconfig, name = config.currentContext): ResolvedContext {
  if (name === undefined) {
    throw new KubeconfigError(
      config.contexts.size === 0
        ? "no context is chosen: the kubeconfig has none, and so leads to no cluster"
        : `no context is chosen: set current-context or name one of ${listed(config.contexts)}`,
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
    throw new KubeconfigError(`${file} is no kubeconfig: ${error.message}`);
  }
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  throw new KubeconfigError(`${file} is no kubeconfig: expected clusters, users and contexts`);
}

/** A name given twice means the first, as for kubectl. */
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

function found<T>(entries: ReadonlyMap<string, T>, name: string, what: string): T {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  throw new KubeconfigError(`there is no ${what} named ${JSON.stringify(name)}, only ${listed(entries)}`);
}

/** Names people may have meant. */
function listed(entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].slice(0, 10);
  return names.length === 0 ? "none" : names.map((name) => JSON.stringify(name)).join(", ");
}
