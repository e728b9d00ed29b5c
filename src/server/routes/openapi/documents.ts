/** OpenAPI documents of the served API, each created at its first request. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { builtInStruct, findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { RemoteVersion } from "../../aggregation/remote-discovery.ts";
import { mergedSpecs, type RemoteSpec } from "../../aggregation/remote-spec.ts";
import type { Registry } from "../../objects/registry.ts";
import { Document, documentHash } from "../../representation/bytes/document.ts";
import { API_VERSION, GIT_VERSION } from "../discovery/version.ts";
import { CUSTOM_REFERENCES, customDefinitions } from "./custom-definition.ts";
import type { Dialect } from "./definition-name.ts";
import { addDefinitions, kindFinder } from "./definitions.ts";
import type { Definitions } from "./definitions.ts";
import { Descriptions } from "./descriptions.ts";
import {
  discoveryDocument,
  discoveryPaths,
  resourceListPath,
  type DiscoveryPath,
} from "./discovery-paths.ts";
import { encodeV3Document, encodeV3Entries } from "./gnostic-v3.ts";
import { encodeDocument, encodeEntries } from "./gnostic.ts";
import { pathsOf } from "./operation.ts";
import { pathDocument } from "./path-document.ts";
import { sharedParameters } from "./shared-parameters.ts";
import { SPECIAL, specialShape } from "./special-definition.ts";

/** As upstream, this is the version of the API and not of the build. */
const INFO = { title: "Kubernetes", version: API_VERSION };
const BEARER_TOKEN = {
  description: "Bearer Token authentication",
  in: "header",
  name: "authorization",
  type: "apiKey",
};
const V2_HEAD = { swagger: "2.0", info: INFO };
const V3_HEAD = { openapi: "3.0.0", info: INFO };
const JSON_TYPE = "application/json";
export const GNOSTIC_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
export const GNOSTIC_V3_TYPE = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

/** Kinds of no resource that belong to every group version. */
const EVERYWHERE = ["DeleteOptions", "Status", "WatchEvent", "APIResourceList"];

/** Upper bound of cached documents for custom group versions. Others are created for each request. */
const CUSTOM_KEPT_MAX = 64;

/** Members written in one step. The largest take a fraction of a millisecond each. */
const LOT = 4;
/** Placeholder for a definition that is already written. */
const WRITTEN: JsonObject = {};

/** An OpenAPI v3 document. */
interface V3Value extends JsonObject {
  readonly paths: JsonObject;
  readonly components: { readonly schemas: JsonObject };
}

/** Encoded pieces of a v2 document, one for each group version. */
interface V2Pieces {
  readonly paths: readonly Uint8Array[];
  readonly definitions: readonly Uint8Array[];
  /** Names of all definitions in the pieces. */
  readonly known: ReadonlySet<string>;
}

type Form = "json" | "protobuf";

/** The v2 documents for one state of the served API. */
interface V2Documents {
  readonly served: readonly GroupVersionFacts[];
  /** Specs of extension servers. */
  readonly specs: readonly RemoteSpec[];
  readonly made: Map<Form, Promise<Document>>;
}

export class OpenApiDocuments {
  readonly #registry: Registry;
  readonly #loop: Loop;
  /** Documents of built-in group versions, which never change. */
  readonly #v3 = new Map<GroupVersionFacts, Promise<Document>>();
  /** The oldest document first. */
  readonly #customV3 = new Map<GroupVersionFacts, Promise<Document>>();
  /** Protobuf forms, which few clients request, derived from the JSON documents. */
  readonly #v3Protobuf = new WeakMap<Document, Promise<Document>>();
  readonly #builtInV2 = new Map<Form, Promise<V2Pieces>>();
  /** Keyed by document name. */
  readonly #discovery: ReadonlyMap<string, DiscoveryPath>;
  readonly #discoveryV3 = new Map<DiscoveryPath, Document>();
  #v2: V2Documents | undefined;

  constructor(registry: Registry, loop: Loop) {
    this.#registry = registry;
    this.#loop = loop;
    this.#discovery = new Map(discoveryPaths(registry.builtInVersions).map((each) => [each.name, each]));
  }

  /** Index with the path and hash of each v3 document. The hash of a built-in version requires its document. */
  async v3Index(remote: readonly RemoteVersion[] = []): Promise<Document> {
    const paths: Record<string, JsonObject> = {};
    for (const [path, discovery] of this.#discovery) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#discoveryOf(discovery).hash}` };
    }
    for (const facts of this.#registry.groupVersions) {
      const path = pathOf(facts);
      // The editions of custom kinds are computed for their first hash.
      const hash = isCustom(facts) ? this.#customHash(facts) : (await this.#v3Of(facts)).hash;
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
      if (isCustom(facts)) await this.#turn();
    }
    for (const { group, version, schemas } of remote) {
      const path = `apis/${group}/${version}`;
      const address = schemas.get(path);
      // An extension server that took over a version also provides its schema.
      if (address === undefined) delete paths[path];
      else paths[path] = { serverRelativeURL: address };
    }
    return new Document(JSON_TYPE, Buffer.from(JSON.stringify({ paths })));
  }

  /** `path` is `api/v1` or `apis/apps/v1`. */
  findV3(path: string): Promise<Document> | undefined {
    const discovery = this.#discovery.get(path);
    if (discovery !== undefined) return Promise.resolve(this.#discoveryOf(discovery));
    const facts = this.#registry.groupVersions.find((served) => pathOf(served) === path);
    return facts === undefined ? undefined : this.#v3Of(facts);
  }

  /** The protobuf form of a v3 document. It keeps the hash, under which the index lists it. */
  asProtobuf(document: Document): Promise<Document> {
    const known = this.#v3Protobuf.get(document);
    if (known !== undefined) return known;
    const made = this.#makeV3Protobuf(document);
    this.#v3Protobuf.set(document, made);
    return made;
  }

  async #makeV3Protobuf({ bytes, hash }: Document): Promise<Document> {
    const { paths, components, ...head } = JSON.parse(Buffer.from(bytes).toString()) as V3Value;
    const written = {
      head,
      paths: await this.#written(Object.entries(paths), (lot) => encodeV3Entries("paths", lot)),
      schemas: await this.#written(Object.entries(components.schemas), (lot) =>
        encodeV3Entries("schemas", lot),
      ),
    };
    return new Document(GNOSTIC_V3_TYPE, encodeV3Document(written), hash);
  }

  /** Returns the same document until the served API changes. */
  v2(form: Form, remote: readonly RemoteVersion[] = []): Promise<Document> {
    const served = this.#registry.groupVersions;
    const specs = remote.flatMap(({ group, version, spec }) => {
      const isOwn = served.some((facts) => facts.group === group && facts.version === version);
      return spec === undefined || isOwn ? [] : [spec];
    });
    if (this.#v2?.served !== served || !isSameList(this.#v2.specs, specs)) {
      this.#v2 = { served, specs, made: new Map() };
    }
    const known = this.#v2.made.get(form);
    if (known !== undefined) return known;
    const made = this.#makeV2(form, served.filter(isCustom), specs);
    this.#v2.made.set(form, made);
    return made;
  }

  #discoveryOf(discovery: DiscoveryPath): Document {
    const known = this.#discoveryV3.get(discovery);
    if (known !== undefined) return known;
    const definitions = newDefinitions("v3", this.#registry);
    if (discovery.answer !== undefined) addDefinitions([discovery.answer], definitions);
    const value = documentOf({ [discovery.path]: discoveryDocument(discovery, "v3") }, definitions);
    const made = new Document(JSON_TYPE, Buffer.from(JSON.stringify(value)));
    this.#discoveryV3.set(discovery, made);
    return made;
  }

  #v3Of(facts: GroupVersionFacts): Promise<Document> {
    const kept = isCustom(facts) ? this.#customV3 : this.#v3;
    const known = kept.get(facts);
    if (known !== undefined) return known;
    const made = this.#makeV3(facts);
    kept.set(facts, made);
    const [oldest] = this.#customV3.keys();
    if (this.#customV3.size > CUSTOM_KEPT_MAX && oldest !== undefined) this.#customV3.delete(oldest);
    return made;
  }

  /** Starts over if a kind changes meanwhile, because the document could mix two editions. */
  async #makeV3(facts: GroupVersionFacts): Promise<Document> {
    if (!isCustom(facts)) return new Document(JSON_TYPE, await this.#v3Bytes(facts));
    for (;;) {
      const hash = this.#customHash(facts);
      const bytes = await this.#v3Bytes(facts);
      if (hash === this.#customHash(facts)) return new Document(JSON_TYPE, bytes, hash);
    }
  }

  async #v3Bytes(facts: GroupVersionFacts): Promise<Uint8Array> {
    const definitions = newDefinitions("v3", this.#registry);
    await this.#addAll(facts, definitions);
    const schemas = await this.#written(inOrder(definitions), membersText);
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(V3_HEAD).slice(0, -1)},"paths":{`),
      ...separated(await this.#written(pathEntries(facts, "v3"), membersText)),
      Buffer.from('},"components":{"schemas":{'),
      ...separated(schemas),
      Buffer.from("}}}"),
    ]);
  }

  /** Hash of the input of a document. The index can then list thousands of documents without creating them. */
  #customHash({ resources }: GroupVersionFacts): string {
    const editions = resources.map((facts) => this.#registry.editionOf(facts));
    return documentHash(JSON.stringify([GIT_VERSION, editions]));
  }

  async #makeV2(
    form: Form,
    custom: readonly GroupVersionFacts[],
    specs: readonly RemoteSpec[],
  ): Promise<Document> {
    const builtIn = await this.#builtInPieces(form);
    const others = await this.#pieces(form, custom, builtIn.known);
    const remote = mergedSpecs(specs, others.known);
    const paths = [...builtIn.paths, ...others.paths, pieceOf(form, "paths", remote.paths)];
    const definitions = [
      ...builtIn.definitions,
      ...others.definitions,
      pieceOf(form, "definitions", remote.definitions),
    ];
    if (form === "protobuf")
      return new Document(
        GNOSTIC_TYPE,
        encodeDocument({ head: { ...V2_HEAD, ...v2Tail(), security: ["BearerToken"] }, paths, definitions }),
      );
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(V2_HEAD).slice(0, -1)},"paths":{`),
      ...separated(paths),
      Buffer.from('},"definitions":{'),
      ...separated(definitions),
      Buffer.from(`},${JSON.stringify({ ...v2Tail(), security: [{ BearerToken: [] }] }).slice(1)}`),
    ]);
    return new Document(JSON_TYPE, bytes);
  }

  #builtInPieces(form: Form): Promise<V2Pieces> {
    const known = this.#builtInV2.get(form);
    if (known !== undefined) return known;
    const made = this.#makeBuiltInPieces(form);
    this.#builtInV2.set(form, made);
    return made;
  }

  async #makeBuiltInPieces(form: Form): Promise<V2Pieces> {
    const resources = await this.#pieces(form, this.#registry.builtInVersions, new Set());
    const found = newDefinitions("v2", this.#registry);
    const discovery = [...this.#discovery.values()];
    addDefinitions(
      discovery.flatMap(({ answer }) => answer ?? []),
      found,
    );
    const fresh = [...found.known].filter(([name]) => !resources.known.has(name));
    const paths = Object.fromEntries(discovery.map((each) => [each.path, discoveryDocument(each, "v2")]));
    return {
      paths: [pieceOf(form, "paths", paths), ...resources.paths],
      definitions: [...resources.definitions, pieceOf(form, "definitions", Object.fromEntries(fresh))],
      known: new Set([...resources.known, ...found.known.keys()]),
    };
  }

  /** Encodes the paths of each group version and the definitions that are new with it. */
  async #pieces(
    form: Form,
    served: readonly GroupVersionFacts[],
    before: ReadonlySet<string>,
  ): Promise<V2Pieces> {
    const found = newDefinitions("v2", this.#registry);
    const { known } = found;
    for (const name of before) known.set(name, WRITTEN);
    const paths: Uint8Array[] = [];
    const definitions: Uint8Array[] = [];
    for (const facts of served) {
      await this.#addAll(facts, found);
      const fresh = [...known].filter(([, definition]) => definition !== WRITTEN);
      paths.push(...(await this.#written(pathEntries(facts, "v2"), (lot) => pieceOf(form, "paths", lot))));
      definitions.push(...(await this.#written(fresh, (lot) => pieceOf(form, "definitions", lot))));
      for (const [name] of fresh) known.set(name, WRITTEN);
    }
    return { paths, definitions, known: new Set(known.keys()) };
  }

  /** Adds all definitions that the operations of a group version refer to. */
  async #addAll(facts: GroupVersionFacts, definitions: Definitions): Promise<void> {
    const { known, dialect } = definitions;
    for (const root of rootsOf(facts)) {
      addDefinitions([root], definitions);
      await this.#turn();
    }
    for (const resource of facts.resources) {
      const schema = this.#registry.findOpenApi(resource);
      if (resource.definition === undefined || schema === undefined) continue;
      addDefinitions(CUSTOM_REFERENCES.map(builtInStruct), definitions);
      for (const [name, definition] of customDefinitions(resource, schema, dialect))
        known.set(name, definition);
      await this.#turn();
    }
    if (!known.has(SPECIAL.patch)) known.set(SPECIAL.patch, specialShape(SPECIAL.patch, definitions));
  }

  /** Writes a few members per step. */
  async #written(
    entries: readonly MemberEntry[],
    write: (lot: JsonObject) => Uint8Array,
  ): Promise<readonly Uint8Array[]> {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < entries.length; at += LOT) {
      const lot = entries.slice(at, at + LOT).map(([name, value]) => [name, valueOf(value)]);
      pieces.push(write(Object.fromEntries(lot) as JsonObject));
      await this.#turn();
    }
    return pieces;
  }

  /** Yields to other requests: creating all documents takes some hundred milliseconds. */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("request", resolve));
  }
}

/** The value of a member, or a function that creates it when it is written. */
type MemberEntry = readonly [name: string, value: unknown];

function valueOf(value: unknown): unknown {
  return typeof value === "function" ? (value as () => unknown)() : value;
}

function isSameList<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((each, at) => each === right[at]);
}

function isCustom({ resources }: GroupVersionFacts): boolean {
  return resources.some(({ definition }) => definition !== undefined);
}

function pieceOf(form: Form, part: "paths" | "definitions", members: JsonObject): Uint8Array {
  return form === "json" ? membersText(members) : encodeEntries(part, members);
}

function pathOf({ group, version }: GroupVersionFacts): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function newDefinitions(dialect: Dialect, { builtInVersions }: Registry): Definitions {
  return {
    dialect,
    kindsOf: kindFinder(builtInVersions),
    descriptions: new Descriptions(),
    known: new Map(),
  };
}

function documentOf(paths: JsonObject, definitions: Definitions): JsonObject {
  return { ...V3_HEAD, paths, components: { schemas: Object.fromEntries(inOrder(definitions)) } };
}

function inOrder({ known }: Definitions): readonly (readonly [string, JsonObject])[] {
  return [...known].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function pathEntries(facts: GroupVersionFacts, dialect: Dialect): readonly MemberEntry[] {
  const list = resourceListPath(facts);
  const items = pathsOf(facts).map((item): MemberEntry => [item.path, () => pathDocument(item, dialect)]);
  // Documents of custom kinds omit the resource list.
  return isCustom(facts) ? items : [[list.path, discoveryDocument(list, dialect)], ...items];
}

function rootsOf({ group, version, resources }: GroupVersionFacts): readonly StructSchema[] {
  const own = apiVersionOf({ group, version });
  const kinds = resources.flatMap(({ kind, subresources }) => [
    [own, kind],
    [own, `${kind}List`],
    ...subresources.map((subresource) => [apiVersionOf(subresource), subresource.kind]),
  ]);
  const everywhere = EVERYWHERE.map((kind) => ["v1", kind]);
  return [...kinds, ...everywhere].flatMap(([apiVersion = "", kind = ""]) => {
    const schema = findKindSchema(apiVersion, kind);
    return schema === undefined ? [] : [schema];
  });
}

/** JSON of an object's members without the braces. */
function membersText(value: unknown): Uint8Array {
  return Buffer.from(stringifyJson(value).slice(1, -1));
}

function separated(texts: readonly Uint8Array[]): readonly Uint8Array[] {
  const comma = Buffer.from(",");
  return texts
    .filter((text) => text.byteLength > 0)
    .flatMap((text, at) => (at === 0 ? [text] : [comma, text]));
}

/** Members after the definitions of a v2 document. Not made at the start: most commands of the program need none. */
function v2Tail(): JsonObject {
  return { parameters: sharedParameters(), securityDefinitions: { BearerToken: BEARER_TOKEN } };
}
