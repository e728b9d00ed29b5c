/**
 * Serves the kubelet's HTTP API of all nodes of this process. Connections come from TLS listeners and from the API server
 * in the same process. A node without connections costs nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { UpgradeRequest } from "../../streams/upgrade.ts";
import type { CallerGate } from "./caller-gate.ts";
import { KubeletPages, type KubeletPagesParts } from "./kubelet-pages.ts";
import { textReply, type KubeletReply } from "./kubelet-reply.ts";
import { findRoute, type KubeletRoute } from "./kubelet-route.ts";
import { refuse, serveStream } from "./kubelet-streams.ts";
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

type FoundRoute =
  | { readonly node: ServedNode; readonly route: KubeletRoute }
  | { readonly refusal: KubeletReply };

export class KubeletServer {
  readonly #loop: Loop;
  readonly #pages: KubeletPages;
  readonly #log: Log;
  readonly #http: Server;
  readonly #places = new WeakMap<Duplex, ConnectionPlace>();
  readonly #sockets = new Set<Duplex>();
  #hasTimeouts = false;

  constructor(parts: KubeletServerParts) {
    this.#loop = parts.loop;
    this.#pages = new KubeletPages(parts);
    this.#log = parts.log;
    this.#http = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: HEADERS_TIMEOUT_MS / 2,
    });
    this.#http.on("request", (request, response) => void this.#serve(request, response));
    this.#http.on("upgrade", (request, socket, head) => void this.#serveStream(request, { socket, head }));
  }

  /** Serves a connection until its end. */
  accept(socket: Duplex, place: ConnectionPlace): void {
    if (!place.node.isUp()) {
      socket.destroy();
      return;
    }
    if (place.gate !== undefined) this.#startTimeouts();
    this.#places.set(socket, place);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // Errors of the connection end it; requests see its close.
    socket.on("error", () => socket.destroy());
    this.#http.emit("connection", socket);
  }

  /** Node checks for slow requests only after this event. This server never listens: it is handed its sockets. */
  #startTimeouts(): void {
    if (this.#hasTimeouts) return;
    this.#hasTimeouts = true;
    this.#http.emit("listening");
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
    const found = await this.#findRoute(request);
    if ("refusal" in found) return found.refusal;
    if (request.method !== "GET") return textReply(405, "405: Method Not Allowed");
    return this.#pages.answer(found.node, found.route, new URLSearchParams(queryOf(request)));
  }

  async #serveStream(
    request: IncomingMessage,
    { socket, head }: Omit<UpgradeRequest, "headers">,
  ): Promise<void> {
    const upgrade = { headers: request.headers, socket, head };
    try {
      const found = await this.#findRoute(request);
      if ("refusal" in found) return refuse(upgrade, found.refusal);
      const { node, route } = found;
      if (route.type === "page" || route.type === "logs")
        return refuse(upgrade, textReply(400, "this path does not switch protocols"));
      const query = new URLSearchParams(queryOf(request));
      return await serveStream({ node, route, query, upgrade }, this.#loop);
    } catch (error) {
      this.#log.warn("a stream of the node's API failed", { path: pathOf(request), error });
      socket.destroy();
    }
  }

  async #findRoute(request: IncomingMessage): Promise<FoundRoute> {
    const place = this.#places.get(request.socket);
    if (place === undefined) throw new Error("a request came over an unknown connection");
    const { node, gate } = place;
    const route = findRoute(pathOf(request));
    const refusal = await gate?.(request, node.name, route);
    if (refusal !== undefined) return { refusal };
    if (route === undefined) return { refusal: textReply(404, "404 page not found") };
    return { node, route };
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
