/**
 * The ConfigMap from which servers of other APIs learn whom this server vouches for: the authority of clients' certificates, and the one of the
 * front proxy with the headers under which it speaks for users.
 */
import type { ConfigMap } from "../../../api/generated/types/core-v1.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { FRONT_PROXY_HEADERS } from "../../request/front-proxy-headers.ts";
import type { Chore } from "../required-objects.ts";

export interface Vouchers {
  /** Certificates of authorities in PEM. */
  readonly clientCa: string;
  readonly frontProxyCa: string;
  /** The common names that a front proxy may have; none is any. */
  readonly frontProxyNames: readonly string[];
}

export interface ExtensionAuthenticationParts {
  readonly registry: Registry;
  /** Asked whenever the object is looked at. */
  readonly vouchers: () => Vouchers;
  /** Another server may have a newer certificate of the same authority: what it wrote is left alone then. */
  readonly isStoreShared: boolean;
}

const NAME = "extension-apiserver-authentication";
const NAMESPACE = "kube-system";

export function extensionAuthentication({
  registry,
  vouchers,
  isStoreShared,
}: ExtensionAuthenticationParts): Chore {
  const wanted = (): Data => dataOf(vouchers());
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
        isOthers: (live) => isStoreShared && isSound((live as ConfigMap).data ?? {}, wanted()),
      },
    ],
  };
}

type Data = Readonly<Record<string, string>>;

function dataOf({ clientCa, frontProxyCa, frontProxyNames }: Vouchers): Data {
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

/** `["X-Remote-User"]`, as people write it. */
function headerList(name: string): string {
  return JSON.stringify([name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())]);
}

/** The same but for the certificates, of which there must be some. */
function isSound(found: Data, wanted: Data): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const text = found[key];
    return key.endsWith("-ca-file") ? text?.includes("-----BEGIN CERTIFICATE-----") === true : text === value;
  });
}
