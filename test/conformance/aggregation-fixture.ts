/** A server with sockets, the real kubectl, and a small extension server that believes only the server's front proxy. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { loadIssuer, makePrivateKey } from "../../src/server/pki/issuer.ts";
import { Kubectl } from "./kubectl/kubectl.ts";
import { serveCluster } from "./kubectl/served-cluster.ts";
import type { Parts } from "./kubectl/served-cluster.ts";

export const GROUP = "wardle.example.com";
export const VERSION = "v1alpha1";
const API = `/apis/${GROUP}/${VERSION}`;

/** A request as the extension server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** Common name of the client certificate, if the front-proxy CA signed it. */
  readonly proxy: string | undefined;
}

interface Flunder {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
}

/** Serves one namespaced resource from memory. */
export class ExtensionServer {
  readonly seen: SeenRequest[] = [];
  /** Bytes behind the head of upgrade requests. */
  readonly upgradeBytes: Buffer[] = [];
  readonly #server: Server;
  readonly #flunders = new Map<string, Flunder>();
  readonly #watchers = new Set<ServerResponse>();
  readonly #upgraded = new Set<Duplex>();
  #revision = 1;

  constructor(tls: { readonly key: string; readonly cert: string; readonly ca: string }) {
    this.#server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
    this.#server.on("request", (req: IncomingMessage, res: ServerResponse) => this.#serve(req, res));
    this.#server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(req, socket, head),
    );
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
  }

  #note({ method = "", url = "", headers, socket }: IncomingMessage): void {
    const tls = socket as TLSSocket;
    const proxy = tls.authorized ? tls.getPeerCertificate().subject.CN : undefined;
    this.seen.push({ method, url, headers, proxy: typeof proxy === "string" ? proxy : undefined });
  }

  #serve(req: IncomingMessage, res: ServerResponse): void {
    this.#note(req);
    const { pathname, searchParams } = new URL(req.url ?? "", "https://extension");
    const document = DOCUMENTS[pathname];
    if (document !== undefined) return json(res, 200, document);
    if (pathname === `${API}/redirect`)
      return void res.writeHead(302, { location: "https://elsewhere/" }).end();
    const [, namespace, name] = FLUNDERS.exec(pathname) ?? [];
    if (namespace === undefined) return json(res, 404, status(404, "NotFound"));
    if (req.method === "POST") return void this.#create(req, res, namespace);
    if (req.method === "DELETE") return this.#delete(res, `${namespace}/${name ?? ""}`);
    if (searchParams.has("watch")) return this.#watch(res);
    return name === undefined ? this.#list(res, namespace) : this.#get(res, `${namespace}/${name}`);
  }

  #get(res: ServerResponse, key: string): void {
    const found = this.#flunders.get(key);
    json(res, found === undefined ? 404 : 200, found ?? status(404, "NotFound"));
  }

  async #create(req: IncomingMessage, res: ServerResponse, namespace: string): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece as Buffer);
    const given = JSON.parse(Buffer.concat(pieces).toString()) as Flunder;
    const metadata = { ...given.metadata, namespace, resourceVersion: String(++this.#revision) };
    const flunder = { ...given, metadata };
    this.#flunders.set(`${namespace}/${metadata.name}`, flunder);
    for (const watcher of this.#watchers) watcher.write(eventLine("ADDED", flunder));
    json(res, 201, flunder);
  }

  #delete(res: ServerResponse, key: string): void {
    const flunder = this.#flunders.get(key);
    this.#flunders.delete(key);
    for (const watcher of this.#watchers) watcher.write(eventLine("DELETED", flunder));
    json(res, flunder === undefined ? 404 : 200, flunder ?? status(404, "NotFound"));
  }

  #watch(res: ServerResponse): void {
    res.writeHead(200, { "content-type": "application/json" });
    res.flushHeaders();
    this.#watchers.add(res);
    res.on("close", () => this.#watchers.delete(res));
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  #list(res: ServerResponse, namespace: string): void {
    const items = [...this.#flunders.values()].filter(({ metadata }) => metadata.namespace === namespace);
    const metadata = { resourceVersion: String(this.#revision) };
    json(res, 200, { apiVersion: `${GROUP}/${VERSION}`, kind: "FlunderList", metadata, items });
  }

  /** `…/echo` accepts the upgrade and repeats its input; other paths refuse it but record the bytes behind the refusal. */
  #upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#note(req);
    this.#upgraded.add(socket);
    socket.on("error", () => undefined);
    if (head.length > 0) this.upgradeBytes.push(head);
    socket.on("data", (bytes: Buffer) => this.upgradeBytes.push(bytes));
    if (req.url?.includes("/echo") !== true) {
      socket.write("HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno");
      return;
    }
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n");
    if (head.length > 0) socket.write(head);
    socket.pipe(socket);
  }
}

const FLUNDERS = new RegExp(`^${API}/namespaces/([^/]+)/flunders(?:/([^/]+))?`);

const RESOURCES = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: `${GROUP}/${VERSION}`,
  resources: [
    {
      name: "flunders",
      singularName: "flunder",
      namespaced: true,
      kind: "Flunder",
      verbs: ["create", "delete", "get", "list", "watch"],
      shortNames: ["fl"],
    },
    { name: "flunders/echo", singularName: "", namespaced: true, kind: "Flunder", verbs: ["get"] },
  ],
};

const SCHEMA = `/openapi/v3${API}`;

const DOCUMENTS: Readonly<Record<string, object | undefined>> = {
  [API]: RESOURCES,
  "/openapi/v3": { paths: { [API.slice(1)]: { serverRelativeURL: `${SCHEMA}?hash=OLD` } } },
  [SCHEMA]: { openapi: "3.0.0", components: { schemas: { Flunder: { type: "object" } } } },
};

function json(res: ServerResponse, code: number, value: unknown): void {
  res.writeHead(code, { "content-type": "application/json" });
  res.end(JSON.stringify(value));
}

function status(code: number, reason: string): unknown {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code };
}

function eventLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

interface Started {
  readonly kubectl: Kubectl;
  readonly server: URL;
  readonly pkiDir: string;
  readonly extension: ExtensionServer;
  readonly extensionPort: number;
  readonly extensionCa: string;
}

export class AggregationFixture implements AsyncDisposable {
  readonly kubectl: Kubectl;
  readonly extension: ExtensionServer;
  readonly #started: Started;
  readonly #end: () => Promise<void>;

  private constructor(started: Started, end: () => Promise<void>) {
    this.kubectl = started.kubectl;
    this.extension = started.extension;
    this.#started = started;
    this.#end = end;
  }

  static async start(path: string, parts: Parts): Promise<AggregationFixture> {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-aggregation-"));
    const pkiDir = join(folder, "data", "pki");
    const { kubeconfig, server, ending, running } = await serveCluster(join(folder, "data"), parts);
    const pair = await extensionPair();
    const ca = readFileSync(join(pkiDir, "front-proxy-ca.crt"), "utf8");
    const extension = new ExtensionServer({ ...pair, ca });
    const extensionPort = await extension.listen();
    const kubectl = new Kubectl({ path, kubeconfig, home: folder });
    const started = { kubectl, server, pkiDir, extension, extensionPort, extensionCa: pair.authority };
    return new AggregationFixture(started, async () => {
      await extension.close().catch(() => undefined);
      ending.abort();
      await running;
      rmSync(folder, { recursive: true, force: true });
    });
  }

  get extensionPort(): number {
    return this.#started.extensionPort;
  }

  /** The Service that leads to this machine, and the APIService. */
  manifest(changes: { readonly port?: number } = {}): string {
    const { extensionPort, extensionCa } = this.#started;
    const port = changes.port ?? extensionPort;
    return this.kubectl.file("registration.json", {
      apiVersion: "v1",
      kind: "List",
      items: [
        { apiVersion: "v1", kind: "Namespace", metadata: { name: "wardle" } },
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "api", namespace: "wardle" },
          spec: { type: "ExternalName", externalName: "localhost" },
        },
        {
          apiVersion: "apiregistration.k8s.io/v1",
          kind: "APIService",
          metadata: { name: `${VERSION}.${GROUP}` },
          spec: {
            group: GROUP,
            version: VERSION,
            groupPriorityMinimum: 1000,
            versionPriority: 15,
            service: { name: "api", namespace: "wardle", port },
            caBundle: Buffer.from(extensionCa).toString("base64"),
          },
        },
      ],
    });
  }

  /** A connection to the server with a client certificate from its folder, or without one. */
  async socket(user: "admin" | "scheduler" | "nobody"): Promise<TLSSocket> {
    const { server, pkiDir } = this.#started;
    const read = (name: string): string => readFileSync(join(pkiDir, name), "utf8");
    const pair = user === "nobody" ? {} : { cert: read(`${user}.crt`), key: read(`${user}.key`) };
    const options = { host: server.hostname, port: Number(server.port), ca: read("ca.crt"), ...pair };
    const socket = connect({ ...options, ALPNProtocols: ["http/1.1"] });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    return socket;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}

async function extensionPair(): Promise<{
  readonly key: string;
  readonly cert: string;
  readonly authority: string;
}> {
  const issuer = loadIssuer(createRealLoop({ name: "issuer" }));
  const caKey = makePrivateKey();
  const authority = await issuer.authority("extension authority", caKey);
  const key = makePrivateKey();
  const cert = await issuer.leaf({
    subject: { commonName: "api.wardle.svc", organizations: [] },
    key,
    usage: "server",
    names: ["api.wardle.svc"],
    authority: { cert: authority, key: caKey },
  });
  return { key, cert, authority };
}
