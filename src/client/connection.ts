/** A client for a cluster that a kubeconfig names. */
import type { Loop } from "../base/loop/loop.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { createClient } from "./api-client.ts";
import type { ClientOptions } from "./api-client.ts";
import type { Client } from "./client.ts";
import { httpTransport } from "./http-transport.ts";
import type { HttpTransportOptions } from "./http-transport.ts";
import { loadKubeconfig } from "./kubeconfig-files.ts";
import type { KubeconfigSearch } from "./kubeconfig-files.ts";
import { resolveContext } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import type { Transport } from "./transport.ts";

export interface ConnectOptions
  extends
    Omit<KubeconfigSearch, "loop">,
    Omit<ClientOptions, "loop">,
    Pick<HttpTransportOptions, "timeoutMs" | "maxAnswerBytes"> {
  /** One of its own unless given. */
  readonly loop?: Loop;
  /** One that was loaded; looked for unless given. */
  readonly kubeconfig?: Kubeconfig;
  /** The kubeconfig's current one unless given. */
  readonly context?: string;
}

export interface Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
  /** Of the context; where objects lie that name none. */
  readonly namespace: string;
  /** Ends what is under way, and all sockets. */
  close(): Promise<void>;
}

/** No request is made yet: whether the server is there shows with the first one. */
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
    namespace,
    close,
    [Symbol.asyncDispose]: close,
  };
}
