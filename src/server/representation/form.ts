/** Chooses the form in which a client wants the response. Runs before the verb, so that a refusal changes nothing. */
import { ApiError, badRequest, notAcceptable } from "../../api/errors/api-error.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { isStored } from "../objects/registry.ts";
import type { Resource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import { asksFor, parseAccept } from "../request/media-type.ts";
import type { AcceptClause } from "../request/media-type.ts";

export type Media = "json" | "yaml" | "protobuf";

/** Kind that the client wants instead of the object itself. */
export type Transform = "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

/** Part of the object that its table row contains. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface Form {
  readonly media: Media;
  readonly transform: Transform | undefined;
  /** Version of `meta.k8s.io` for transformed responses. */
  readonly metaVersion: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** Whether JSON is indented. */
  readonly isPretty: boolean;
}

/** The properties of a request that decide its form. */
export interface Asked extends Pick<Call, "request" | "query" | "resource" | "info"> {
  readonly notes?: Call["notes"];
  /** The form, if already chosen. */
  readonly form?: Form;
}

/** The first is the default. CBOR is not offered: clients that ask for it fall back. */
const MEDIA_TYPES: Readonly<Record<Media, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};

/** YAML is not streamed: its frames have no recognizable end. */
const STREAMED: readonly Media[] = ["json", "protobuf"];
const OFFERED: readonly Media[] = ["json", "yaml", "protobuf"];

const LIST_VERBS: ReadonlySet<string> = new Set(["list", "deletecollection"]);
/** User agents of people, who get indented JSON unless they ask otherwise. */
const PERSON = /^(?:curl|Wget|Mozilla\/5\.0)/;
const TRUE = /^(?:1|t|T|true|TRUE|True)$/;

export function mediaTypeOf(media: Media): string {
  return MEDIA_TYPES[media];
}

/**
 * Throws NotAcceptable, or BadRequest for an invalid `includeObject`. Call it before a verb has effects, and pass the
 * result to `represent`, which would choose the same.
 */
export function chooseForm(asked: Asked): Form {
  const isWatch = asked.info.verb === "watch";
  const form = findForm(asked, isWatch ? STREAMED : OFFERED);
  if (form !== undefined) {
    requireFitting(form, asked);
    return form;
  }
  // The message for a type that is valid except in watches lists the streamed types.
  if (isWatch && findForm(asked, OFFERED) !== undefined)
    throw notAcceptable(STREAMED.map((media) => `${mediaTypeOf(media)};stream=watch`));
  throw notAcceptable(OFFERED.map(mediaTypeOf));
}

function findForm(asked: Asked, offered: readonly Media[]): Form | undefined {
  for (const clause of clausesOf(asked.request.headers.get("accept"))) {
    for (const media of offered) {
      const form = asksFor(clause, MEDIA_TYPES[media]) ? formOf(clause, media, asked) : undefined;
      if (form !== undefined) return form;
    }
  }
  return undefined;
}

/** Media for errors and other Status objects, which are never transformed; undefined where no clause matches. */
export function findStatusMedia(accept: string | undefined): Media | undefined {
  for (const clause of clausesOf(accept)) {
    if (isTransformed(clause)) continue;
    const media = OFFERED.find((offered) => asksFor(clause, MEDIA_TYPES[offered]));
    if (media !== undefined) return media;
  }
  return undefined;
}

function isTransformed({ parameters }: AcceptClause): boolean {
  return parameters.has("as") || parameters.has("g") || parameters.has("v");
}

export function wantsPretty({ request, query }: Pick<Asked, "request" | "query">): boolean {
  const asked = query.size === 0 ? null : query.get("pretty");
  if (asked !== null && asked !== "") return TRUE.test(asked);
  return PERSON.test(request.headers.get("user-agent") ?? "");
}

const ANYTHING: readonly AcceptClause[] = [{ mediaType: "*/*", parameters: new Map() }];

/** Cache of parsed headers: each client sends the same few repeatedly. */
const parsed = new Map<string, readonly AcceptClause[]>();
const PARSED_MAX = 200;
/** Longer headers are unusual and not cached. */
const PARSED_LENGTH_MAX = 500;

function clausesOf(accept: string | undefined): readonly AcceptClause[] {
  if (accept === undefined) return ANYTHING;
  const known = parsed.get(accept);
  if (known !== undefined) return known;
  const clauses = accept.trim() === "" ? ANYTHING : parseAccept(accept);
  if (accept.length > PARSED_LENGTH_MAX) return clauses;
  if (parsed.size === PARSED_MAX) parsed.clear();
  parsed.set(accept, clauses);
  return clauses;
}

const withProtobuf = new WeakMap<Resource, boolean>();

function hasProtobuf(resource: Resource): boolean {
  const known = withProtobuf.get(resource);
  if (known !== undefined) return known;
  const { apiVersion, facts, schema } = resource;
  const isBuiltIn = findKindSchema(apiVersion, facts.kind) === schema;
  withProtobuf.set(resource, isBuiltIn);
  return isBuiltIn;
}

/** Undefined when this request cannot have the form; the next clause is tried then. */
function formOf(clause: AcceptClause, media: Media, asked: Asked): Form | undefined {
  const { parameters } = clause;
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && (stream !== "watch" || !STREAMED.includes(media))) return undefined;
  const isPretty = media === "json" && (parameters.get("pretty") === "1" || wantsPretty(asked));
  const plain = (isPretty ? PRETTY : PLAIN)[media];
  if (isTransformed(clause)) return transformed(plain, parameters, asked);
  return isWritable(media, asked.resource) ? plain : undefined;
}

/** Custom kinds have no protobuf message; their metadata has one. */
function isWritable(media: Media, resource: Resource): boolean {
  return media !== "protobuf" || hasProtobuf(resource);
}

const PLAIN = formsOf({ isPretty: false });
const PRETTY = formsOf({ isPretty: true });

function formsOf({ isPretty }: Pick<Form, "isPretty">): Readonly<Record<Media, Form>> {
  const form = (media: Media): Form => ({
    media,
    transform: undefined,
    metaVersion: "v1",
    includeObject: "Metadata",
    isPretty,
  });
  return { json: form("json"), yaml: form("yaml"), protobuf: form("protobuf") };
}

function transformed(plain: Form, parameters: AcceptClause["parameters"], asked: Asked): Form | undefined {
  const kind = parameters.get("as");
  const metaVersion = parameters.get("v");
  if (parameters.get("g") !== "meta.k8s.io" || !isMetaVersion(metaVersion)) return undefined;
  if (!isTransform(kind)) return undefined;
  if (kind !== "Table") return { ...plain, transform: kind, metaVersion };
  if (plain.media === "protobuf" || !hasTable(asked)) return undefined;
  return { ...plain, transform: kind, metaVersion, includeObject: includeObjectOf(asked.query) };
}

function isMetaVersion(version: string | undefined): version is Form["metaVersion"] {
  return version === "v1" || version === "v1beta1";
}

function includeObjectOf(query: URLSearchParams): IncludeObject {
  const text = query.get("includeObject") ?? "";
  if (text === "") return "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function isTransform(kind: string | undefined): kind is Transform {
  return kind === "Table" || kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList";
}

/** Only stored resources and those with cells have tables; reviews have none. */
function hasTable({ resource, info }: Asked): boolean {
  if (!isStored(resource)) return resource.rules.cells !== undefined;
  if (info.subresource === "") return true;
  const subresource = resource.facts.subresources.find(({ name }) => name === info.subresource);
  return subresource?.kind === resource.facts.kind || subresource?.kind === "Scale";
}

function requireFitting({ transform }: Form, { info, resource }: Asked): void {
  const isList = LIST_VERBS.has(info.verb);
  const goType = `(*${resource.facts.version}.${resource.facts.kind}${isList ? "List" : ""})`;
  if (transform === "PartialObjectMetadata" && isList) {
    const message = `you requested PartialObjectMetadata, but the requested object is a list ${goType}`;
    throw new ApiError("NotAcceptable", message);
  }
  if (transform === "PartialObjectMetadataList" && !isList) {
    const message = `you requested PartialObjectMetadataList, but the requested object is not a list ${goType}`;
    throw new ApiError("NotAcceptable", message);
  }
}
