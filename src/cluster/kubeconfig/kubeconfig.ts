/** Kubeconfigs, with which kubectl and other clients reach a cluster and authenticate. */
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyYaml } from "../../api/yaml/yaml-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { replaceFile } from "../../server/pki/files.ts";
import type { ListenAddress } from "../options.ts";

/** Name of the first cluster, and of its user and context. */
export const CLUSTER_NAME = "setpoint";

export interface KubeconfigOptions {
  /** Name of cluster, user and context; default `setpoint`. */
  readonly name?: string | undefined;
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

/** Entries of a cluster in a kubeconfig, by list. */
export interface KubeconfigEntries {
  readonly clusters: JsonObject;
  readonly contexts: JsonObject;
  readonly users: JsonObject;
}

export function entriesOf({ name = CLUSTER_NAME, server, ca, user }: KubeconfigOptions): KubeconfigEntries {
  return {
    clusters: { name, cluster: { server, "certificate-authority-data": base64(ca) } },
    contexts: { name, context: { cluster: name, user: name } },
    users: {
      name,
      user: { "client-certificate-data": base64(user.cert), "client-key-data": base64(user.key) },
    },
  };
}

/** The same options give the same text. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { clusters, contexts, users } = entriesOf(options);
  return stringifyYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": options.name ?? CLUSTER_NAME,
    clusters: [clusters],
    contexts: [contexts],
    users: [users],
  });
}

/** The mode is 0600, since the file holds a private key. */
export function writeKubeconfig(path: string, options: KubeconfigOptions, loop: Loop): Promise<void> {
  return replaceFile({ path, text: kubeconfigText(options), mode: 0o600, loop });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
