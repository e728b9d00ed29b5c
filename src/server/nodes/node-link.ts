import { isIP } from "node:net";
/** Finds the kubelet of a node: in this process, or at the address and port that the Node object states. */
import { notFound, serviceUnavailable } from "../../api/errors/api-error.ts";
import type { Node } from "../../api/generated/types/core-v1.ts";
import type { Store } from "../../store/store.ts";
import { duplexPair } from "../../streams/duplex-pair.ts";
import type { NodeAcceptor, NodeCaller } from "../../streams/node-http.ts";
import { isDialable } from "../egress/address-check.ts";
import type { AddressOrigin } from "../egress/address-check.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { StoredObject } from "../objects/stored-object.ts";
import type { RelayTarget } from "../relay/relay.ts";
import { findKubeletPort, preferredAddresses } from "./node-address.ts";
import { DEFAULT_KUBELET_TIMEOUT_MS } from "./node-options.ts";
import type { NodeOptions } from "./node-options.ts";

export interface NodeLinkParts {
  readonly store: Store;
  readonly egress: OpenEgress;
}

interface NodePort {
  readonly port: number;
  readonly scheme: "http" | "https";
  readonly origin: AddressOrigin;
}

/** Identity of this server towards nodes in its process: that of its client certificate. */
const CALLER: NodeCaller = { name: "kube-apiserver-kubelet-client", groups: [] };
const NODES = "/registry/minions/";

export class NodeLink {
  readonly #parts: NodeLinkParts;
  readonly #options: NodeOptions;

  constructor(parts: NodeLinkParts, options: NodeOptions = {}) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Bound of a connection attempt and of a scrape. */
  get timeoutMs(): number {
    return this.#options.timeoutMs ?? DEFAULT_KUBELET_TIMEOUT_MS;
  }

  /** The kubelet of a node. Throws NotFound or ServiceUnavailable. */
  async kubelet(nodeName: string): Promise<RelayTarget> {
    const node = await this.#node(nodeName);
    const acceptor = this.#options.local?.find(nodeName);
    if (acceptor !== undefined) return localTarget(nodeName, acceptor);
    const port = findKubeletPort(node);
    if (port === undefined) throw unreachable(nodeName, "it states no kubelet port");
    const origin: AddressOrigin = this.#options.allowsLoopback === true ? "configured" : "reported";
    return { ...(await this.#target(node, { port, scheme: "https", origin })), ...this.#trust() };
  }

  /**
   * Another port of the node. Certificates are not verified, because no object names them. Never on loopback, where other programs of
   * the server's machine listen.
   */
  async port(nodeName: string, port: number, scheme: "http" | "https"): Promise<RelayTarget> {
    const node = await this.#node(nodeName);
    if (findKubeletPort(node) === undefined) throw unreachable(nodeName, "it states no kubelet port");
    return this.#target(node, { port, scheme, origin: "reported" });
  }

  /** Whether the port is that of the node's kubelet. */
  async isKubeletPort(nodeName: string, port: number): Promise<boolean> {
    return findKubeletPort(await this.#node(nodeName)) === port;
  }

  async #node(name: string): Promise<Node> {
    const entry = (await this.#parts.store.fresh()).get(NODES + name);
    if (entry === undefined) throw notFound({ group: "", resource: "nodes" }, name);
    return StoredObject.of(entry).object as Node;
  }

  async #target(node: Node, { port, scheme, origin }: NodePort): Promise<RelayTarget> {
    const name = node.metadata.name;
    const hosts = preferredAddresses(node, this.#options.addressTypes);
    const host = hosts.length > 1 ? await this.#parts.egress.firstDialable(hosts, origin) : hosts[0];
    if (host === undefined) throw unreachable(name, "it states no address of a preferred type");
    if (isIP(host) !== 0 && !isDialable(host, origin))
      throw unreachable(name, `the server does not dial its address ${host}`);
    const authority = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
    return {
      address: { host, port, serverName: host, authority, basePath: "", isTls: scheme === "https" },
      origin,
      trust: { isVerificationOff: true },
      connectMs: this.timeoutMs,
    };
  }

  #trust(): Pick<RelayTarget, "trust" | "pair"> {
    const { ca, clientPair } = this.#options;
    return { trust: ca === undefined ? { isVerificationOff: true } : { ca }, pair: clientPair?.() };
  }
}

function unreachable(nodeName: string, why: string): Error {
  return serviceUnavailable(`node ${JSON.stringify(nodeName)} cannot be reached: ${why}`);
}

function localTarget(nodeName: string, acceptor: NodeAcceptor): RelayTarget {
  return {
    address: {
      host: nodeName,
      port: 0,
      serverName: nodeName,
      authority: nodeName,
      basePath: "",
      isTls: false,
      connect: () => {
        const [own, nodes] = duplexPair();
        acceptor.accept(nodes, CALLER);
        return own;
      },
    },
    origin: "configured",
    trust: {},
  };
}
