/** An HTTP server in memory, for tests of upgrades. */
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { finished } from "node:stream/promises";
import { duplexPair } from "./duplex-pair.ts";
import type { UpgradeRequest } from "./upgrade.ts";

/** Returns a function that connects a client. */
export function upgradeServer(
  serve: (upgrade: UpgradeRequest, query: URLSearchParams) => void,
): () => Duplex {
  const server = createServer((_request, response) => response.writeHead(404).end("no such path"));
  server.on("upgrade", (request, socket, head) =>
    serve({ headers: request.headers, socket, head }, new URL(request.url ?? "", "http://a").searchParams),
  );
  return () => {
    const [client, accepted] = duplexPair();
    server.emit("connection", accepted);
    return client;
  };
}

/** Reads to the end and leaves the other direction open, unlike an iteration. */
export async function received(stream: Duplex): Promise<string> {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  await finished(stream, { writable: false });
  return Buffer.concat(pieces).toString();
}
