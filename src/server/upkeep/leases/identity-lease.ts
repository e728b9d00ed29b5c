/**
 * Publishes the servers of the API: one Lease in `kube-system` for each, named after its host like kube-apiserver's. A stopping
 * server deletes its Lease. The servers delete expired Leases of dead servers.
 */
import { createHash } from "node:crypto";
import { isApiError } from "../../../api/errors/api-error.ts";
import type { Lease } from "../../../api/generated/types/coordination-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { microTimeText } from "../../../api/values/time.ts";
import { prefixEnd } from "../../../store/store.ts";
import { requireStored } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { WriteParts } from "../../verbs/writing.ts";
import type { Place } from "../../write/object-writer.ts";
import type { RequestHeaderTrust } from "../bootstrap/extension-authentication.ts";
import type { SharedKeyParts } from "../bootstrap/shared-keys.ts";
import { TOKEN_KEYS, tokenKeyIds, warnOfOtherKeys } from "../bootstrap/shared-keys.ts";
import type { PeriodicTask } from "../periodic-task.ts";
import { ServerWriter } from "../server-writer.ts";

type IdentityParts = WriteParts & SharedKeyParts;

const NAMESPACE = "kube-system";
const IDENTITY_LABEL = "apiserver.kubernetes.io/identity";
const IDENTITY = "kube-apiserver";
/** Same values as upstream's. */
const RENEWAL_MS = 10_000;
const DURATION_S = 3600;
const COLLECTION_MS = 3_600_000;

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** The name that kube-apiserver would have on this host. */
export function serverIdentity(hostname: string): string {
  const hash = createHash("sha256").update(withLength(hostname)).update(withLength(IDENTITY)).digest();
  return `apiserver-${base32(hash.subarray(0, 16))}`;
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const fives = bits.match(/.{1,5}/g) ?? [];
  return fives.map((five) => BASE32.charAt(Number.parseInt(five.padEnd(5, "0"), 2))).join("");
}

/** A Lease without a duration or renew time counts as expired. */
function isExpired({ spec }: Lease, now: number): boolean {
  const { renewTime, leaseDurationSeconds } = spec ?? {};
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now;
}

interface ServerSelf {
  readonly hostname: string;
  readonly requestHeaderTrust: (() => RequestHeaderTrust) | undefined;
}

export function identityLease(
  verbParts: IdentityParts,
  { hostname, requestHeaderTrust }: ServerSelf,
): readonly PeriodicTask[] {
  const { loop, store, registry } = verbParts;
  const resource = requireStored(registry, "coordination.k8s.io", "leases");
  const writer = new ServerWriter(verbParts);
  const own: Place = { resource, namespace: NAMESPACE, name: serverIdentity(hostname) };
  const holderIdentity = `${own.name}_${loop.random("identity").uuid()}`;
  const labels = { [IDENTITY_LABEL]: IDENTITY, "kubernetes.io/hostname": hostname };
  let isFirst = true;

  async function renew(): Promise<void> {
    // The Lease of an earlier server on this host does not describe this one.
    if (isFirst) await release(writer, own);
    isFirst = false;
    const live = writer.find(own) as Lease | undefined;
    const renewTime = microTimeText(loop.now());
    const term = { leaseDurationSeconds: DURATION_S, renewTime };
    const annotations = { [TOKEN_KEYS]: tokenKeyIds(verbParts).join(",") };
    if (live !== undefined) return writer.update(own, renewed(live, { labels, annotations, term }), "");
    const { apiVersion, facts } = resource;
    const metadata = { name: own.name, namespace: NAMESPACE, labels, annotations };
    await writer.create(own, { apiVersion, kind: facts.kind, metadata, spec: { holderIdentity, ...term } });
  }

  function findExpired(): string | undefined {
    const prefix = prefixOf(resource, NAMESPACE);
    for (const entry of store.accepted.range(prefix, prefixEnd(prefix))) {
      const lease = StoredObject.of(entry).object as Lease;
      const isServers = lease.metadata.labels?.[IDENTITY_LABEL] === IDENTITY;
      if (isServers && isExpired(lease, loop.now())) return lease.metadata.name;
    }
    return undefined;
  }

  /** Searches again after each removal, because a server may have renewed its Lease in the meantime. */
  async function collect(): Promise<void> {
    for (let name = findExpired(); name !== undefined; name = findExpired())
      await release(writer, { ...own, name });
  }

  return [
    {
      name: "identity lease",
      boot: ["poststarthook/start-kube-apiserver-identity-lease-controller"],
      firstAfterMs: 0,
      everyMs: RENEWAL_MS,
      begin: async () => warnOfOtherKeys(verbParts, requestHeaderTrust),
      perform: renew,
      end: () => release(writer, own),
    },
    {
      name: "collection of identity leases",
      boot: ["poststarthook/start-kube-apiserver-identity-lease-garbage-collector"],
      firstAfterMs: 0,
      everyMs: COLLECTION_MS,
      perform: collect,
    },
  ];
}

interface Renewal {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly term: JsonObject;
}

function renewed(live: Lease, { labels, annotations, term }: Renewal): JsonObject {
  const metadata = {
    ...live.metadata,
    labels: { ...live.metadata.labels, ...labels },
    annotations: { ...live.metadata.annotations, ...annotations },
  };
  return { ...live, metadata, spec: { ...live.spec, ...term } };
}

/** Another server may have removed it first. */
async function release(writer: ServerWriter, place: Place): Promise<void> {
  if (!writer.exists(place)) return;
  try {
    await writer.remove(place);
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}
