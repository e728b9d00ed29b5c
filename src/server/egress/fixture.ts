/** HTTPS servers on loopback with certificates of their own, and a store that holds their Services. */
import type { RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { loadIssuer, makePrivateKey } from "../pki/issuer.ts";
import { createEgress } from "./create-egress.ts";
import type { OpenEgress } from "./create-egress.ts";

export const loop = createRealLoop({ name: "test" });

export interface TestAuthority {
  readonly cert: string;
  leaf(names: readonly string[]): Promise<{ readonly key: string; readonly cert: string }>;
}

export async function makeAuthority(name: string): Promise<TestAuthority> {
  const issuer = loadIssuer(loop);
  const key = makePrivateKey();
  const cert = await issuer.authority(name, key);
  return {
    cert,
    async leaf(names) {
      const subject = { commonName: "server", organizations: [] };
      const own = makePrivateKey();
      return {
        key: own,
        cert: await issuer.leaf({ subject, key: own, usage: "server", names, authority: { cert, key } }),
      };
    },
  };
}

export interface CalledServer {
  readonly port: number;
  readonly server: Server;
}

/** A server that closes when the test ends. */
export async function serve(
  pair: { readonly key: string; readonly cert: string },
  listener: RequestListener,
): Promise<CalledServer> {
  const server = createHttpsServer(pair, listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: await listening(server) };
}

export function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

export interface EgressFixture {
  readonly egress: OpenEgress;
  readonly store: Store;
  /** Writes an object under its registry key. */
  put(prefix: string, object: StoredShape): Promise<void>;
}

interface StoredShape {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export function openEgressFixture(on: Loop = loop): EgressFixture {
  const store = openMemoryStore({ loop: on.child("store") });
  const egress = createEgress({ loop: on, store });
  onTestFinished(() => egress.close());
  return {
    egress,
    store,
    async put(prefix, object) {
      const { namespace, name } = object.metadata;
      const key = `/registry/${prefix}/${namespace === "" ? name : `${namespace}/${name}`}`;
      await store.write({ changes: [{ type: "put", key, value: Buffer.from(JSON.stringify(object)) }] });
    },
  };
}
