/** Rewrites HTML pages that a browser reads through the proxy, so that their links lead through it too. Other bodies pass unchanged. */
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { PageLinks } from "./page-links.ts";

interface SentBody {
  /** Method of the request. */
  readonly method: string;
  /** The rewriter removes headers that no longer describe the body. */
  readonly headers: Map<string, string>;
  readonly sent: AsyncIterable<Uint8Array>;
}

export function relinkPage(body: SentBody, relink: (link: string) => string): AsyncIterable<Uint8Array> {
  const { headers, sent } = body;
  if (!isPage(body)) return sent;
  headers.delete("content-length");
  return relinked(headers.delete("content-encoding") ? unpacked(sent) : sent, relink);
}

/** Whether the body is a page that can be parsed. A browser does not show the body of a redirect. */
function isPage({ method, headers }: SentBody): boolean {
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  const encoding = headers.get("content-encoding") ?? "gzip";
  return type.trim() === "text/html" && encoding === "gzip" && method !== "HEAD" && !headers.has("location");
}

async function* unpacked(sent: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const plain = createGunzip();
  // The reader gets errors from `plain`, and each stream ends with the other.
  pipeline(sent, plain, () => undefined);
  yield* plain as AsyncIterable<Uint8Array>;
}

async function* relinked(
  page: AsyncIterable<Uint8Array>,
  relink: (link: string) => string,
): AsyncGenerator<Uint8Array> {
  const links = new PageLinks(relink);
  for await (const { buffer, byteOffset, byteLength } of page) {
    const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
    yield Buffer.from(links.push(text), "latin1");
  }
  yield Buffer.from(links.finish(), "latin1");
}
