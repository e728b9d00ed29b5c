/**
 * A bare HTTPS server as the yardstick. It answers every request with the same bytes and passes each change to all watchers as one line of
 * these bytes: Node.js's share of the cost.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";

export interface BareServerArgument {
  /** Data dir of the cluster whose certificates it uses. */
  readonly dataDir: string;
  /** Response body in base64. */
  readonly body: string;
  /** Time during which changes are batched before watchers get them. */
  readonly momentMs: number;
}

/** Runs until its parent process ends it. */
export async function bareServerChild({ dataDir, body, momentMs }: BareServerArgument): Promise<never> {
  const read = (name: string): string => readFileSync(join(dataDir, "pki", name), "utf8");
  const bytes = Buffer.from(body, "base64");
  const options = {
    key: read("apiserver.key"),
    cert: read("apiserver.crt"),
    ca: read("ca.crt"),
    requestCert: true,
  };
  const audience = new Audience(bytes, momentMs);
  const server = createServer({ ...options, ALPNProtocols: ["http/1.1"] }, (request, response) => {
    if (request.url?.includes("watch=true") === true) {
      audience.add(response);
      return;
    }
    if (request.method === "PATCH") audience.tellAll(request);
    response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
    response.end(bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  process.stdout.write(`${JSON.stringify(typeof address === "object" ? address?.port : 0)}\n`);
  return new Promise(() => undefined);
}

/** Watchers, and the changes since the last batch. */
class Audience {
  readonly #tail: Buffer;
  readonly #momentMs: number;
  readonly #watchers = new Set<ServerResponse>();
  #pieces: Buffer[] = [];

  constructor(bytes: Buffer, momentMs: number) {
    this.#tail = Buffer.concat([Buffer.from(',"object":'), bytes, Buffer.from("}\n")]);
    this.#momentMs = momentMs;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    response.on("close", () => this.#watchers.delete(response));
    this.#watchers.add(response);
  }

  /** The line begins with the patch, which identifies the change for a watcher. */
  tellAll(request: IncomingMessage): void {
    request.on("data", (patch: Buffer) => {
      if (this.#pieces.length === 0) setTimeout(() => this.#tell(), this.#momentMs);
      this.#pieces.push(Buffer.from('{"patch":'), patch, this.#tail);
    });
  }

  #tell(): void {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    for (const watcher of this.#watchers) watcher.write(bytes);
  }
}
