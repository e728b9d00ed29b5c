/** Writes kubeconfigs, with which kubectl and other clients reach a cluster and authenticate. */
import type { Loop } from "../../base/loop/loop.ts";
import { replaceFile } from "../../server/pki/files.ts";
import type { ListenAddress } from "../options.ts";

/** Name of the cluster, the user and the context. */
const NAME = "setpoint";

export interface KubeconfigOptions {
  /** URL of the server, such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** Certificates and key as PEM. */
  readonly ca: string;
  readonly user: { readonly cert: string; readonly key: string };
}

export function serverUrl({ host, port }: ListenAddress): string {
  // Only IPv6 addresses have a colon. Node.js' `isIPv6` takes four milliseconds to compile its pattern.
  return `https://${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
}

/** The same options give the same text. */
export function kubeconfigText({ server, ca, user }: KubeconfigOptions): string {
  return `apiVersion: v1
kind: Config
current-context: ${NAME}
clusters:
- name: ${NAME}
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${base64(ca)}
contexts:
- name: ${NAME}
  context:
    cluster: ${NAME}
    user: ${NAME}
users:
- name: ${NAME}
  user:
    client-certificate-data: ${base64(user.cert)}
    client-key-data: ${base64(user.key)}
`;
}

/** The mode is 0600, since the file holds a private key. */
export function writeKubeconfig(path: string, options: KubeconfigOptions, loop: Loop): Promise<void> {
  return replaceFile({ path, text: kubeconfigText(options), mode: 0o600, loop });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
