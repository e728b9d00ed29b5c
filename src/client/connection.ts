/** Connects a client to the cluster that a kubeconfig names. */
import type { Loop } from "../base/loop/loop.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { createClient } from "./api-client.ts";
import type { ClientOptions } from "./api-client.ts";
import type { Client } from "./client.ts";
import { httpTransport } from "./http-transport.ts";
import type { HttpTransportOptions } from "./http-transport.ts";
import type { ServerDialer } from "./http/server-socket.ts";
import { loadKubeconfig } from "./kubeconfig-files.ts";
import type { KubeconfigSearch } from "./kubeconfig-files.ts";
import { resolveContext } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import type { Transport } from "./transport.ts";

/** Options of `connect`. */
export interface ConnectOptions
  extends
    Omit<KubeconfigSearch, "loop">,
    Omit<ClientOptions, "loop">,
    Pick<HttpTransportOptions, "timeoutMs" | "maxAnswerBytes"> {
  /** Source of time, timers and randomness. Default: the real clock. */
  readonly loop?: Loop;
  /** A loaded kubeconfig. Default: the files that kubectl would read. */
  readonly kubeconfig?: Kubeconfig;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string;
}

/** A connected client with its transport. */
export interface Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
  /** Opens connections for streams, such as those of exec. */
  readonly dialer: ServerDialer;
  /** Namespace of objects that name none: from the options, the context, or `default`. */
  readonly namespace: string;
  /** Aborts calls in flight and closes all sockets. */
  close(): Promise<void>;
}

/**
 * Makes a client for the cluster of a kubeconfig. It sends no request: the first call shows whether the server is
 * reachable.
 */
export async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const {
    loop = createRealLoop({ name: "client" }),
    context,
    timeoutMs,
    maxAnswerBytes,
    ...others
  } = options;
  const config = options.kubeconfig ?? (await loadKubeconfig({ ...others, loop }));
  const resolved = resolveContext(config, context);
  const transport = httpTransport({
    ...resolved.endpoint,
    loop,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
  });
  const { namespace = resolved.namespace ?? "default" } = options;
  const close = (): Promise<void> => transport.close();
  return {
    client: createClient(transport, { ...others, loop, namespace }),
    transport,
    dialer: transport,
    namespace,
    close,
    [Symbol.asyncDispose]: close,
  };
}
