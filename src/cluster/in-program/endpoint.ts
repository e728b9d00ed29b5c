/**
 * Opens a real HTTPS endpoint for a cluster in a program, at the first call of `kubeconfig`. Until then there is no
 * certificate, socket or file.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../base/log/log.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openPki, serverNames } from "../../server/pki/pki.ts";
import type { HttpHandler } from "../../server/request/http.ts";
import { isUrgent } from "../../server/request/parse-request.ts";
import { listen } from "../../server/transport/listener.ts";
import type { Listener } from "../../server/transport/listener.ts";
import { firstServiceAddress } from "../../server/upkeep/bootstrap/kubernetes-service.ts";
import { serverUrl, writeKubeconfig } from "../kubeconfig/kubeconfig.ts";

const HOST = "127.0.0.1";
/** Short grace period: tests end at once, and no user depends on requests in flight. */
const GRACE_MS = 500;

export interface EndpointOptions {
  readonly handler: HttpHandler;
  readonly log: Log;
  readonly serviceCidrs: readonly string[];
}

export interface Endpoint {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  close(): Promise<void>;
}

/** Uses the machine's clock for sockets and files, even if the cluster's clock is virtual. */
export async function openEndpoint({ handler, log, serviceCidrs }: EndpointOptions): Promise<Endpoint> {
  const loop = createRealLoop({ name: "endpoint" });
  const dir = await mkdtemp(join(tmpdir(), "setpoint-"));
  let listener: Listener | undefined;
  const close = async (): Promise<void> => {
    await listener?.close({ graceMs: GRACE_MS });
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const names = serverNames([HOST], firstServiceAddress(serviceCidrs[0] ?? ""));
    const pki = await openPki({ dir: join(dir, "pki"), names, loop, log });
    const tls = { ...pki.server, ca: pki.ca.cert, frontProxyCa: pki.frontProxyCa.cert };
    listener = await listen({ loop, log, handler, isUrgent, tls, host: HOST, port: 0 });
    const kubeconfig = join(dir, "kubeconfig");
    const server = serverUrl({ host: HOST, port: listener.port });
    await writeKubeconfig(kubeconfig, { server, ca: pki.ca.cert, user: pki.admin }, loop);
    return { kubeconfig, server, close };
  } catch (error) {
    await close();
    throw error;
  }
}
