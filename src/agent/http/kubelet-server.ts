/**
 * Serves the kubelet's HTTP API of all nodes of this process. Connections come from TLS listeners and from the API server
 * in the same process. A node without connections costs nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Log } from "../../base/log/log.ts";
import type { CallerGate } from "./caller-gate.ts";
import { KubeletPages, type KubeletPagesParts } from "./kubelet-pages.ts";
import { textReply, type KubeletReply } from "./kubelet-reply.ts";
import { findRoute } from "./kubelet-route.ts";
import type { ServedNode } from "./served-node.ts";

/** Requests have small heads and no bodies. */
const HEADERS_TIMEOUT_MS = 10_000;
/** kube-apiserver keeps idle connections for 90 s. */
const IDLE_MS = 120_000;

export interface KubeletServerParts extends KubeletPagesParts {
  readonly log: Log;
}

/** The node behind a connection, and the rule for its callers; undefined for trusted callers. */
export interface ConnectionPlace {
  readonly node: ServedNode;
  readonly gate: CallerGate | undefined;
}

export class KubeletServer {
  readonly #pages: KubeletPages;
  readonly #log: Log;
  readonly #http: Server;
  readonly #places = new WeakMap<Duplex, ConnectionPlace>();
  readonly #sockets = new Set<Duplex>();

  constructor(parts: KubeletServerParts) {
    this.#pages = new KubeletPages(parts);
    this.#log = parts.log;
    this.#http = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: IDLE_MS,
    });
    this.#http.on("request", (request, response) => void this.#serve(request, response));
  }

  /** Serves a connection until its end. */
  accept(socket: Duplex, place: ConnectionPlace): void {
    this.#places.set(socket, place);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // Errors of the connection end it; requests see its close.
    socket.on("error", () => socket.destroy());
    this.#http.emit("connection", socket);
  }

  /** Cuts all connections. */
  close(): void {
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(await this.#answer(request), response);
    } catch (error) {
      this.#log.warn("a request to the node's API failed", { path: pathOf(request), error });
      if (response.headersSent) response.destroy();
      else send(textReply(500, "Internal Server Error"), response);
    }
  }

  async #answer(request: IncomingMessage): Promise<KubeletReply> {
    const place = this.#places.get(request.socket);
    if (place === undefined) throw new Error("a request came over an unknown connection");
    const { node, gate } = place;
    const route = findRoute(pathOf(request));
    const refusal = await gate?.(request, node.name, route);
    if (refusal !== undefined) return refusal;
    if (route === undefined) return textReply(404, "404 page not found");
    if (request.method !== "GET") return textReply(405, "405: Method Not Allowed");
    return this.#pages.answer(node, route, new URLSearchParams(queryOf(request)));
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function queryOf({ url = "" }: IncomingMessage): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

function send({ status, contentType, body }: KubeletReply, response: ServerResponse): void {
  response.writeHead(status, { "content-type": contentType });
  if (typeof body === "string") {
    response.end(body);
    return;
  }
  // Sends the head at once: a followed log may have no line for a long time.
  response.flushHeaders();
  response.once("close", () => body.destroy());
  body.once("error", () => response.destroy());
  body.pipe(response);
}
