/**
 * The ConfigMap with which extension servers authenticate requests. It holds the authority of client certificates, and the authority,
 * names and headers of the front proxy.
 */
import type { ConfigMap } from "../../../api/generated/types/core-v1.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { FRONT_PROXY_HEADERS } from "../../request/front-proxy-headers.ts";
import type { RequiredObjects } from "../required-objects.ts";

export interface RequestHeaderTrust {
  /** CA certificates in PEM. */
  readonly clientCa: string;
  readonly frontProxyCa: string;
  /** Common names that a front proxy may have. Empty means any. */
  readonly frontProxyNames: readonly string[];
}

export interface ExtensionAuthenticationParts {
  readonly registry: Registry;
  /** Read at each check of the object. */
  readonly requestHeaderTrust: () => RequestHeaderTrust;
  /** Another server may have a newer certificate of the same authority. Its version then stays. */
  readonly isStoreShared: boolean;
}

const NAME = "extension-apiserver-authentication";
const NAMESPACE = "kube-system";

export function extensionAuthentication({
  registry,
  requestHeaderTrust,
  isStoreShared,
}: ExtensionAuthenticationParts): RequiredObjects {
  const wanted = (): Data => dataOf(requestHeaderTrust());
  return {
    name: "authentication for extension servers",
    boot: ["poststarthook/start-cluster-authentication-info-controller"],
    objects: [
      {
        resource: requireStored(registry, "", "configmaps"),
        namespace: NAMESPACE,
        name: NAME,
        manifest: () => ({ data: wanted() }),
        corrected: (live) => ({ ...live, data: { ...(live as ConfigMap).data, ...wanted() } }),
        isOfOtherServer: (live) => isStoreShared && isSound((live as ConfigMap).data ?? {}, wanted()),
      },
    ],
  };
}

type Data = Readonly<Record<string, string>>;

function dataOf({ clientCa, frontProxyCa, frontProxyNames }: RequestHeaderTrust): Data {
  const { user, uid, group, extraPrefix } = FRONT_PROXY_HEADERS;
  return {
    "client-ca-file": clientCa,
    "requestheader-allowed-names": JSON.stringify(frontProxyNames),
    "requestheader-client-ca-file": frontProxyCa,
    "requestheader-extra-headers-prefix": headerList(extraPrefix),
    "requestheader-group-headers": headerList(group),
    "requestheader-uid-headers": headerList(uid),
    "requestheader-username-headers": headerList(user),
  };
}

/** The usual spelling, such as `["X-Remote-User"]`. */
function headerList(name: string): string {
  return JSON.stringify([name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())]);
}

/** Compares all entries except the certificates, which only have to be present. */
function isSound(found: Data, wanted: Data): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const text = found[key];
    return key.endsWith("-ca-file") ? text?.includes("-----BEGIN CERTIFICATE-----") === true : text === value;
  });
}
