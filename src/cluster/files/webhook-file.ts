/** Reads a webhook's kubeconfig: its current context gives the URL and the credentials. */
import type { Endpoint, TextSource } from "../../client/endpoint.ts";
import { KubeconfigError } from "../../client/kubeconfig-fields.ts";
import { parseKubeconfig, resolveContext } from "../../client/kubeconfig.ts";
import type { Kubeconfig } from "../../client/kubeconfig.ts";

export type ReadFile = (path: string) => Promise<string>;

export interface WebhookConnection {
  readonly url: string;
  readonly ca: string | undefined;
  readonly pair: { readonly cert: string; readonly key: string } | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

function endpointOf(config: Kubeconfig, file: string): Endpoint {
  try {
    return resolveContext(config).endpoint;
  } catch (error) {
    if (error instanceof KubeconfigError && !error.message.startsWith(file))
      throw new KubeconfigError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

export async function readWebhookFile(file: string, read: ReadFile): Promise<WebhookConnection> {
  const config = parseKubeconfig(await read(file), { file });
  const { server: url, ca, user } = endpointOf(config, file);
  const textOf = async (source: TextSource | undefined): Promise<string | undefined> =>
    source === undefined || "text" in source ? source?.text : read(source.file);
  const token = await textOf(user?.token);
  const [cert, key] = [await textOf(user?.certificate), await textOf(user?.key)];
  return {
    url,
    ca: await textOf(ca),
    pair: cert === undefined || key === undefined ? undefined : { cert, key },
    headers: token === undefined ? {} : { authorization: `Bearer ${token.trim()}` },
  };
}
