/** Serves the API of nodes in this process to the server in the same process, without sockets. */
import { KubeletServer } from "../../agent/http/kubelet-server.ts";
import type { NodeEndpoint } from "../../agent/http/node-serving.ts";
import type { ServedNode } from "../../agent/http/served-node.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { LocalNodeRegistry } from "../../streams/node-http.ts";

export interface LocalKubeletsParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

export class LocalKubelets {
  readonly nodes = new LocalNodeRegistry();
  readonly #server: KubeletServer;

  constructor({ loop, log, metrics }: LocalKubeletsParts) {
    this.#server = new KubeletServer({ loop: loop.child("node-api"), log, metrics });
  }

  /** The server in this process is the only caller: it has authorized its clients. */
  serve(node: ServedNode): NodeEndpoint {
    const place = { node, gate: undefined };
    const close = this.nodes.add(node.name, { accept: (socket) => this.#server.accept(socket, place) });
    return { port: 0, addresses: undefined, close };
  }

  /** Cuts all connections. */
  close(): void {
    this.#server.close();
  }
}
