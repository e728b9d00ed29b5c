/** In which form a client wants an answer: found out before anything is done, so that a refusal changes nothing. */
import { ApiError, badRequest, notAcceptable } from "../../api/errors/api-error.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { isStored } from "../objects/registry.ts";
import type { Resource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import { asksFor, parseAccept } from "./accept.ts";
import type { AcceptClause } from "./accept.ts";

export type Media = "json" | "yaml" | "protobuf";

/** What the client wants to see instead of the object itself. */
export type Transform = "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

/** What of an object goes with its row in a table. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface Form {
  readonly media: Media;
  readonly transform: Transform | undefined;
  /** Of `meta.k8s.io`, in which a transformed answer is written. */
  readonly metaVersion: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** JSON for people. */
  readonly isPretty: boolean;
}

/** What is known of a request when its form is chosen. */
export interface Asked extends Pick<Call, "request" | "query" | "resource" | "info"> {
  readonly notes?: Call["notes"];
  /** The form, once it was chosen. */
  readonly form?: Form;
}

/** The first is what a client gets that does not care. CBOR is not among them: clients that ask for it fall back. */
const MEDIA_TYPES: Readonly<Record<Media, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};

/** Frames of YAML have no end one could see. */
const STREAMED: readonly Media[] = ["json", "protobuf"];
const OFFERED: readonly Media[] = ["json", "yaml", "protobuf"];

const LIST_VERBS: ReadonlySet<string> = new Set(["list", "deletecollection"]);
/** People, who get JSON on several lines unless they say otherwise. */
const PERSON = /^(?:curl|Wget|Mozilla\/5\.0)/;
const TRUE = /^(?:1|t|T|true|TRUE|True)$/;

export function mediaTypeOf(media: Media): string {
  return MEDIA_TYPES[media];
}

/**
 * Throws NotAcceptable, or BadRequest for a query no table can follow. Call it before a verb does anything, and hand it to `represent`, which would choose the same.
 */
export function chooseForm(asked: Asked): Form {
  const isWatch = asked.info.verb === "watch";
  const form = findForm(asked, isWatch ? STREAMED : OFFERED);
  if (form !== undefined) {
    requireFitting(form, asked);
    return form;
  }
  // What would do for anything but a watch is told so.
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

/** For errors and other Status objects, which are never transformed; undefined where nothing will do. */
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

/** Each client sends its own few, again and again. */
const parsed = new Map<string, readonly AcceptClause[]>();
const PARSED_MAX = 200;
/** Longer ones are no client's own. */
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

/** Undefined when the clause asks for something that this request cannot have; the next clause is tried then. */
function formOf(clause: AcceptClause, media: Media, asked: Asked): Form | undefined {
  const { parameters } = clause;
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && (stream !== "watch" || !STREAMED.includes(media))) return undefined;
  const isPretty = media === "json" && (parameters.get("pretty") === "1" || wantsPretty(asked));
  const plain = (isPretty ? PRETTY : PLAIN)[media];
  if (isTransformed(clause)) return transformed(plain, parameters, asked);
  return isWritable(media, asked.resource) ? plain : undefined;
}

/** Metadata of custom kinds has a protobuf message, the kinds themselves have none. */
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

/** Only what is stored, or has cells of its own, is shown in tables: no reviews. */
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
