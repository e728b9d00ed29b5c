/** The OpenAPI documents of one state of the registry, each made when first asked for and then kept. */
import { findKindSchema } from "../../api/built-in-schema.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { apiVersionOf } from "../../api/resource-facts.ts";
import type { GroupVersionFacts } from "../../api/resource-facts.ts";
import type { StructSchema } from "../../api/schema.ts";
import type { Loop } from "../../base/loop.ts";
import { GIT_VERSION } from "../discovery/version.ts";
import { Document } from "../representation/bytes/document.ts";
import type { Dialect } from "./definition-name.ts";
import { addDefinitions, kindFinder } from "./definitions.ts";
import type { Definitions } from "./definitions.ts";
import { encodeDocument, encodeEntries } from "./gnostic.ts";
import { pathsOf } from "./operation.ts";
import type { PathItem } from "./operation.ts";
import { pathDocument } from "./path-document.ts";
import { SPECIAL, specialShape } from "./special-definition.ts";

const INFO = { title: "Kubernetes", version: GIT_VERSION };
const V2_HEAD = { swagger: "2.0", info: INFO };
const JSON_TYPE = "application/json";
export const GNOSTIC_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** Kinds that belong to no resource, but to every group version. */
const EVERYWHERE = ["DeleteOptions", "Status", "WatchEvent", "APIResourceList"];

export class OpenApiDocuments {
  readonly #served: readonly GroupVersionFacts[];
  readonly #loop: Loop;
  readonly #v3 = new Map<GroupVersionFacts, Document>();
  #v2Json: Promise<Document> | undefined;
  #v2Protobuf: Promise<Document> | undefined;

  constructor(served: readonly GroupVersionFacts[], loop: Loop) {
    this.#served = served;
    this.#loop = loop;
  }

  /** Where the document of each group version is found. Its hash stands there, so that all of them must be made. */
  async v3Index(): Promise<Document> {
    const paths: Record<string, JsonObject> = {};
    for (const facts of this.#served) {
      const path = pathOf(facts);
      const isNew = !this.#v3.has(facts);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#v3Of(facts).hash}` };
      if (isNew) await this.#turn();
    }
    return new Document(JSON_TYPE, Buffer.from(JSON.stringify({ paths })));
  }

  /** `path` is `api/v1` or `apis/apps/v1`. */
  findV3(path: string): Document | undefined {
    const facts = this.#served.find((served) => pathOf(served) === path);
    return facts === undefined ? undefined : this.#v3Of(facts);
  }

  v2Json(): Promise<Document> {
    return (this.#v2Json ??= this.#makeV2Json());
  }

  v2Protobuf(): Promise<Document> {
    return (this.#v2Protobuf ??= this.#makeV2Protobuf());
  }

  #v3Of(facts: GroupVersionFacts): Document {
    const known = this.#v3.get(facts);
    if (known !== undefined) return known;
    const definitions = newDefinitions("v3", this.#served);
    const made = new Document(JSON_TYPE, Buffer.from(JSON.stringify(v3Value(facts, definitions))));
    this.#v3.set(facts, made);
    return made;
  }

  async #makeV2Json(): Promise<Document> {
    const paths: Uint8Array[] = [];
    const definitions: Uint8Array[] = [];
    for await (const part of this.#v2Parts()) {
      paths.push(membersText(part.paths));
      definitions.push(membersText(part.definitions));
    }
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(V2_HEAD).slice(0, -1)},"paths":{`),
      ...separated(paths),
      Buffer.from('},"definitions":{'),
      ...separated(definitions),
      Buffer.from("}}"),
    ]);
    return new Document(JSON_TYPE, bytes);
  }

  async #makeV2Protobuf(): Promise<Document> {
    const paths: Uint8Array[] = [];
    const definitions: Uint8Array[] = [];
    for await (const part of this.#v2Parts()) {
      paths.push(encodeEntries("paths", part.paths));
      definitions.push(encodeEntries("definitions", part.definitions));
    }
    return new Document(GNOSTIC_TYPE, encodeDocument({ head: V2_HEAD, paths, definitions }));
  }

  /** The paths of each group version, with the definitions that were not there before. */
  async *#v2Parts(): AsyncGenerator<{ readonly paths: JsonObject; readonly definitions: JsonObject }> {
    const known = new Set<string>();
    const definitions = newDefinitions("v2", this.#served);
    for (const facts of this.#served) {
      addAll(facts, definitions);
      const fresh = [...definitions.known].filter(([name]) => !known.has(name));
      for (const [name] of fresh) known.add(name);
      yield { paths: pathDocuments(pathsOf(facts), "v2"), definitions: Object.fromEntries(fresh) };
      await this.#turn();
    }
  }

  /** Making all documents takes some hundred milliseconds; others are served in between. */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("request", resolve));
  }
}

function pathOf({ group, version }: GroupVersionFacts): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function newDefinitions(dialect: Dialect, served: readonly GroupVersionFacts[]): Definitions {
  return { dialect, kindsOf: kindFinder(served), known: new Map() };
}

function v3Value(facts: GroupVersionFacts, definitions: Definitions): JsonObject {
  addAll(facts, definitions);
  const sorted = [...definitions.known].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    openapi: "3.0.0",
    info: INFO,
    paths: pathDocuments(pathsOf(facts), "v3"),
    components: { schemas: Object.fromEntries(sorted) },
  };
}

function pathDocuments(paths: readonly PathItem[], dialect: Dialect): JsonObject {
  return Object.fromEntries(paths.map((item) => [item.path, pathDocument(item, dialect)]));
}

/** All that the operations of a group version refer to. */
function addAll(facts: GroupVersionFacts, definitions: Definitions): void {
  addDefinitions(rootsOf(facts), definitions);
  definitions.known.set(SPECIAL.patch, specialShape(SPECIAL.patch, definitions.dialect));
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

/** The members of an object without its braces. */
function membersText(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value).slice(1, -1));
}

function separated(texts: readonly Uint8Array[]): readonly Uint8Array[] {
  const comma = Buffer.from(",");
  return texts
    .filter((text) => text.byteLength > 0)
    .flatMap((text, at) => (at === 0 ? [text] : [comma, text]));
}
