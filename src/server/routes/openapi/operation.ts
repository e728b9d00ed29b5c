/** Describes the operations on the resources of a group version, independent of the OpenAPI version. */
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type {
  GroupVersionFacts,
  ResourceFacts,
  SubresourceFacts,
  Verb,
} from "../../../api/schema/resource-facts.ts";
import { listDefinition } from "./custom-definition.ts";
import { publishedName } from "./definition-name.ts";
import { camel, camelGroup, tagOf } from "./operation-name.ts";
import { PARAMETERS_OF, PATH_PARAMETERS, PROXY_PARAMETERS } from "./parameters.ts";
import type { Action, Parameter } from "./parameters.ts";
import { SPECIAL } from "./special-definition.ts";

export type Method = "get" | "put" | "post" | "delete" | "patch" | "head" | "options";

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface ApiOperation {
  readonly method: Method;
  readonly action: Action;
  readonly id: string;
  /** Generated clients create one class for all operations with one tag. */
  readonly tag: string;
  readonly kind: Kind;
  /** Excludes protobuf and strategic merge patch, which require Go types. */
  readonly isCustom: boolean;
  readonly parameters: readonly Parameter[];
  /** Published name of the request body; undefined without a body. */
  readonly body: string | undefined;
  readonly isBodyRequired: boolean;
  /** Published names of the responses by status code; undefined for text. */
  readonly answers: readonly (readonly [code: number, definition: string | undefined])[];
}

export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly ApiOperation[];
}

const ACTIONS: Readonly<Record<Action, { readonly method: Method; readonly word: string }>> = {
  list: { method: "get", word: "list" },
  post: { method: "post", word: "create" },
  deletecollection: { method: "delete", word: "delete" },
  get: { method: "get", word: "read" },
  put: { method: "put", word: "replace" },
  patch: { method: "patch", word: "patch" },
  delete: { method: "delete", word: "delete" },
  connect: { method: "get", word: "connect" },
  watch: { method: "get", word: "watch" },
  watchlist: { method: "get", word: "watch" },
};

const COLLECTION_ACTIONS: Readonly<Partial<Record<Verb, Action>>> = {
  list: "list",
  create: "post",
  deletecollection: "deletecollection",
};
const OBJECT_ACTIONS: Readonly<Partial<Record<Verb, Action>>> = {
  get: "get",
  update: "put",
  patch: "patch",
  delete: "delete",
};
const SUBRESOURCE_ACTIONS: Readonly<Partial<Record<Verb, Action>>> = { ...OBJECT_ACTIONS, create: "post" };

export function pathsOf(groupVersion: GroupVersionFacts): readonly PathItem[] {
  return groupVersion.resources
    .flatMap((facts) => [...resourcePaths(facts), ...watchPaths(facts)])
    .filter(({ operations }) => operations.length > 0);
}

function resourcePaths(facts: ResourceFacts): readonly PathItem[] {
  const { collection, everywhere, all, one } = placesOf(facts, rootOf(facts));
  const paths: PathItem[] = [
    { path: collection, parameters: all, operations: operationsOf(facts, COLLECTION_ACTIONS) },
    { path: `${collection}/{name}`, parameters: one, operations: operationsOf(facts, OBJECT_ACTIONS) },
    ...facts.subresources.flatMap((subresource): readonly PathItem[] => {
      const path = `${collection}/{name}/${subresource.name}`;
      const operations = subresourceOperations(facts, subresource);
      const item = { path, parameters: one, operations };
      return subresource.name === "proxy" ? proxyPaths(item) : [item];
    }),
  ];
  if (!facts.namespaced || !facts.verbs.includes("list")) return paths;
  return [...paths, pathEverywhere(facts, everywhere, "list")];
}

/** Paths of the deprecated watch form. Documents of custom kinds omit them. */
function watchPaths(facts: ResourceFacts): readonly PathItem[] {
  if (facts.definition !== undefined || !facts.verbs.includes("watch")) return [];
  const { collection, everywhere, all, one } = placesOf(facts, `${rootOf(facts)}/watch`);
  const scope = scopeOf(facts);
  const paths: PathItem[] = [
    { path: collection, parameters: all, operations: [operation(facts, { action: "watchlist", scope })] },
    {
      path: `${collection}/{name}`,
      parameters: one,
      operations: [operation(facts, { action: "watch", scope })],
    },
  ];
  return facts.namespaced ? [...paths, pathEverywhere(facts, everywhere, "watchlist")] : paths;
}

interface Places {
  readonly collection: string;
  /** Path of the objects in all namespaces. */
  readonly everywhere: string;
  /** Parameters at the collection, and at one object. */
  readonly all: readonly Parameter[];
  readonly one: readonly Parameter[];
}

function placesOf({ namespaced, name }: ResourceFacts, root: string): Places {
  const everywhere = `${root}/${name}`;
  return namespaced
    ? {
        collection: `${root}/namespaces/{namespace}/${name}`,
        everywhere,
        all: PATH_PARAMETERS.inNamespace,
        one: PATH_PARAMETERS.named,
      }
    : { collection: everywhere, everywhere, all: PATH_PARAMETERS.cluster, one: PATH_PARAMETERS.clusterNamed };
}

function pathEverywhere(facts: ResourceFacts, path: string, action: Action): PathItem {
  const everywhere = operation(facts, { action, scope: "", suffix: "ForAllNamespaces" });
  return { path, parameters: PATH_PARAMETERS.cluster, operations: [everywhere] };
}

function rootOf({ group, version }: ResourceFacts): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

function scopeOf({ namespaced }: ResourceFacts): string {
  return namespaced ? "Namespaced" : "";
}

function operationsOf(
  facts: ResourceFacts,
  actions: Readonly<Partial<Record<Verb, Action>>>,
): readonly ApiOperation[] {
  const scope = scopeOf(facts);
  return facts.verbs.flatMap((verb) => {
    const action = actions[verb];
    return action === undefined ? [] : [operation(facts, { action, scope })];
  });
}

function subresourceOperations(facts: ResourceFacts, subresource: SubresourceFacts): readonly ApiOperation[] {
  const scope = scopeOf(facts);
  const suffix = camel(subresource.name);
  // A subresource whose kind is only options is a connection.
  const isConnection = subresource.kind.endsWith("Options");
  return subresource.verbs.flatMap((verb) => {
    const action = SUBRESOURCE_ACTIONS[verb];
    if (action === undefined) return [];
    const made = operation(facts, { action, scope, suffix, kind: subresource });
    return [isConnection ? connection(made, facts) : made];
  });
}

function connection(operation: ApiOperation, facts: ResourceFacts): ApiOperation {
  const { word } = ACTIONS[operation.action];
  const method = camel(operation.method);
  return {
    ...operation,
    action: "connect",
    id: `connect${camelGroup(facts)}${method}${operation.id.slice(word.length + camelGroup(facts).length)}`,
    parameters: [],
    body: undefined,
    answers: [[200, undefined]],
  };
}

/** A proxy forwards every method and any path below it. */
function proxyPaths({ path, parameters, operations }: PathItem): readonly PathItem[] {
  const read = operations.find(({ method }) => method === "get");
  const others = (["head", "options"] as const).flatMap((method) =>
    read === undefined ? [] : [{ ...read, method, id: read.id.replace("Get", camel(method)) }],
  );
  const all = [...operations, ...others];
  const { plain, withPath } = PROXY_PARAMETERS;
  return [
    { path, parameters: [...parameters, ...plain], operations: all },
    {
      path: `${path}/{path}`,
      parameters: [...parameters, ...withPath],
      operations: all.map((each) => ({ ...each, id: `${each.id}WithPath` })),
    },
  ];
}

interface OperationOptions {
  readonly action: Action;
  readonly scope: string;
  readonly suffix?: string;
  /** Kind of a subresource if it differs from the resource's. */
  readonly kind?: Kind;
}

function operation(facts: ResourceFacts, options: OperationOptions): ApiOperation {
  const { action, scope, suffix = "" } = options;
  const { group, version, kind } = options.kind ?? facts;
  const { method, word } = ACTIONS[action];
  const collection = action === "deletecollection" ? "Collection" : "";
  const list = action === "watchlist" ? "List" : "";
  const own = nameOf({ group, version, kind }) ?? customName(facts, kind);
  return {
    method,
    action,
    id: `${word}${camelGroup(facts)}${collection}${scope}${camel(facts.kind)}${list}${suffix}`,
    tag: tagOf(facts),
    kind: { group, version, kind },
    isCustom: facts.definition !== undefined,
    parameters: PARAMETERS_OF[action],
    body: bodyOf(action, own),
    isBodyRequired: !action.startsWith("delete"),
    answers: answersOf(action, {
      own,
      list: listName(facts, { group, version, kind }),
      deleted: facts.storage?.showsDeleted === true ? own : publishedName("meta.v1.Status"),
    }),
  };
}

function bodyOf(action: Action, own: string | undefined): string | undefined {
  switch (action) {
    case "post":
    case "put":
      return own;
    case "patch":
      return SPECIAL.patch;
    case "delete":
    case "deletecollection":
      return publishedName("meta.v1.DeleteOptions");
    case "get":
    case "list":
    case "connect":
    case "watch":
    case "watchlist":
      return undefined;
  }
}

function answersOf(
  action: Action,
  { own, list, deleted }: Readonly<Record<"own" | "list" | "deleted", string | undefined>>,
): ApiOperation["answers"] {
  switch (action) {
    case "list":
      return [[200, list]];
    case "post":
      return [
        [200, own],
        [201, own],
        [202, own],
      ];
    case "put":
    case "patch":
      return [
        [200, own],
        [201, own],
      ];
    case "delete":
      return [
        [200, deleted],
        [202, deleted],
      ];
    case "deletecollection":
      return [[200, publishedName("meta.v1.Status")]];
    case "watch":
    case "watchlist":
      return [[200, publishedName("meta.v1.WatchEvent")]];
    case "get":
    case "connect":
      return [[200, own]];
  }
}

/** Undefined when the API has no struct for the kind. */
function nameOf({ kind, ...groupVersion }: Kind): string | undefined {
  const schema = findKindSchema(apiVersionOf(groupVersion), kind);
  return schema === undefined ? undefined : publishedName(schema.definition);
}

/** A kind outside the built-in group versions must be the resource's own. */
function customName({ definition, kind }: ResourceFacts, asked: string): string | undefined {
  return kind === asked ? definition : undefined;
}

function listName(facts: ResourceFacts, { kind, ...groupVersion }: Kind): string | undefined {
  if (facts.definition !== undefined && kind === facts.kind) return listDefinition(facts);
  return nameOf({ ...groupVersion, kind: `${kind}List` });
}
