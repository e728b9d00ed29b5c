/**
 * Warns at the start when this server's keys differ from those of the cluster. A server with its own authority or token key refuses
 * credentials that the other servers sign. Clients see only "Unauthorized" from one of several servers.
 */
import { X509Certificate } from "node:crypto";
import type { Lease } from "../../../api/generated/types/coordination-v1.ts";
import type { ConfigMap } from "../../../api/generated/types/core-v1.ts";
import type { Log } from "../../../base/log/log.ts";
import type { Store } from "../../../store/store.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { TokenIssuer } from "../../access/authn/token-issuer.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { findReadable } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { RequestHeaderTrust } from "./extension-authentication.ts";

export interface SharedKeyParts {
  readonly log: Log;
  readonly store: Store;
  readonly registry: Registry;
  readonly tokens: TokenIssuer;
}

const NAMESPACE = "kube-system";
const TRUST = "extension-apiserver-authentication";
const REMEDY = "give every server of the cluster the same --pki-dir";
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Annotation of a server's Lease: ids of the keys whose tokens it accepts, the signing key first. */
export const TOKEN_KEYS = "apiserver.setpoint.dev/token-keys";

export function tokenKeyIds({ tokens }: SharedKeyParts): readonly string[] {
  return tokens.publicKeys.map(({ id }) => id);
}

/** Must run before the server writes its own keys into the cluster. */
export function warnOfOtherKeys(
  verbParts: SharedKeyParts,
  requestHeaderTrust: (() => RequestHeaderTrust) | undefined,
): void {
  const { log } = verbParts;
  if (requestHeaderTrust !== undefined && isOtherAuthority(verbParts, requestHeaderTrust()))
    log.warn(`this cluster has another certificate authority than this server: ${REMEDY}`, {
      authority: `ConfigMap ${NAMESPACE}/${TRUST}`,
    });
  const own = tokenKeyIds(verbParts);
  for (const { server, key } of tokenKeysOfServers(verbParts)) {
    if (own.includes(key)) continue;
    log.warn(`tokens of service accounts that another server signs are refused by this one: ${REMEDY}`, {
      server,
    });
    return;
  }
}

/** Compares public keys, because a renewed certificate has the same authority. */
function isOtherAuthority({ store, registry }: SharedKeyParts, { clientCa }: RequestHeaderTrust): boolean {
  const entry = store.view.get(keyOf(requireStored(registry, "", "configmaps"), NAMESPACE, TRUST));
  const map = entry === undefined ? undefined : (findReadable(entry) as ConfigMap | undefined);
  const known = publicKeysIn(map?.data?.["client-ca-file"] ?? "");
  const own = publicKeysIn(clientCa);
  return known.length > 0 && !own.some((key) => known.includes(key));
}

function publicKeysIn(pem: string): readonly string[] {
  return [...pem.matchAll(CERTIFICATES)].flatMap(([text]) => {
    try {
      const { publicKey } = new X509Certificate(text);
      return [publicKey.export({ type: "spki", format: "der" }).toString("base64")];
    } catch {
      // Another server wrote something else than a certificate. It says nothing about this server.
      return [];
    }
  });
}

function tokenKeysOfServers({
  store,
  registry,
}: SharedKeyParts): readonly { readonly server: string; readonly key: string }[] {
  const prefix = prefixOf(requireStored(registry, "coordination.k8s.io", "leases"), NAMESPACE);
  return [...store.view.range(prefix, prefixEnd(prefix))].flatMap((entry) => {
    const lease = findReadable(entry) as Lease | undefined;
    const key = lease?.metadata.annotations?.[TOKEN_KEYS]?.split(",", 1)[0] ?? "";
    if (lease === undefined || key === "") return [];
    return [{ server: lease.metadata.labels?.["kubernetes.io/hostname"] ?? lease.metadata.name, key }];
  });
}
