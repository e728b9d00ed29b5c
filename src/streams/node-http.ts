/** Nodes in the same process. The server speaks the kubelet's HTTP API to them as to any node, over a connection in memory. */
import type { Duplex } from "node:stream";

/** Identity of the caller. It stands for the client certificate of a connection over the network. */
export interface NodeCaller {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Takes connections for a node's HTTP server. */
export interface NodeAcceptor {
  /** The bytes on the socket are HTTP/1.1 without TLS. */
  accept(socket: Duplex, caller: NodeCaller): void;
}

export interface LocalNodes {
  find(nodeName: string): NodeAcceptor | undefined;
}

export class LocalNodeRegistry implements LocalNodes {
  readonly #acceptors = new Map<string, NodeAcceptor>();

  find(nodeName: string): NodeAcceptor | undefined {
    return this.#acceptors.get(nodeName);
  }

  /** The returned function removes the node. */
  add(nodeName: string, acceptor: NodeAcceptor): () => void {
    this.#acceptors.set(nodeName, acceptor);
    return () => {
      if (this.#acceptors.get(nodeName) === acceptor) this.#acceptors.delete(nodeName);
    };
  }
}
