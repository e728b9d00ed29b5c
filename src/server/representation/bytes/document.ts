/** Documents that are equal for all clients until the server changes: built once, identified by their hash. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Loop } from "../../../base/loop/loop.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { acceptsGzip, GZIP_ABOVE_BYTES } from "./pieces.ts";

const compress = promisify(gzip);

export class Document {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Equal for equal bytes, also across processes. */
  readonly hash: string;
  #compressed: Promise<Uint8Array> | undefined;

  /** `hash` may be computed from the source of the bytes. */
  constructor(contentType: string, bytes: Uint8Array, hash: string = documentHash(bytes)) {
    this.contentType = contentType;
    this.bytes = bytes;
    this.hash = hash;
  }

  get etag(): string {
    return `"${this.hash}"`;
  }

  /** Compressed at most once. */
  compressed(loop: Loop): Promise<Uint8Array> {
    return (this.#compressed ??= loop.outside("gzip", compress(this.bytes)));
  }
}

export function documentHash(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex").toUpperCase();
}

/** 304 when the client already has the document. */
export function documentResponse(document: Document, request: AcceptedRequest): HttpResponse {
  const headers = new Map([
    ["cache-control", "no-cache, private"],
    ["content-type", document.contentType],
    ["etag", document.etag],
    ["vary", "Accept"],
  ]);
  if (isKnown(document, request.headers.get("if-none-match"))) {
    headers.delete("content-type");
    return { status: 304, headers, body: new Uint8Array() };
  }
  return { status: 200, headers, body: document.bytes };
}

/** As `documentResponse`, compressed when the document is large and the client accepts gzip. */
export async function compressedResponse(
  document: Document,
  request: AcceptedRequest,
  loop: Loop,
): Promise<HttpResponse> {
  const response = documentResponse(document, request);
  const isLarge = document.bytes.byteLength > GZIP_ABOVE_BYTES;
  if (response.status !== 200 || !isLarge || !acceptsGzip(request.headers.get("accept-encoding"))) {
    return response;
  }
  const headers = new Map([
    ...response.headers,
    ["content-encoding", "gzip"],
    ["vary", "Accept, Accept-Encoding"],
  ] as const);
  return { ...response, headers, body: await document.compressed(loop) };
}

function isKnown({ etag }: Document, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((known) => {
    const text = known.trim();
    return text === "*" || text.replace(/^W\//, "") === etag;
  });
}
