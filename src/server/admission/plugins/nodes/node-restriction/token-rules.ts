/** Rules for tokens: a node gets tokens for its pods and for the audiences that these pods use. */
import { notFound } from "../../../../../api/errors/api-error.ts";
import type { TokenRequest } from "../../../../../api/generated/types/authentication-v1.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../../../../api/generated/types/core-v1.ts";
import type { CSIDriver } from "../../../../../api/generated/types/storage-v1.ts";
import type { AccessAttributes } from "../../../../access/authz/authorizer.ts";
import { kindPrefix } from "../../../../objects/lister.ts";
import { question } from "../../../permission.ts";
import type { AdmissionRequest } from "../../../plugin.ts";
import type { NodeWrite, NodeRule } from "./node-rule.ts";

const PODS = kindPrefix<Pod>("pods");
const CLAIMS = kindPrefix<PersistentVolumeClaim>("persistentvolumeclaims");
const VOLUMES = kindPrefix<PersistentVolume>("persistentvolumes");
const DRIVERS = kindPrefix<CSIDriver>("csidrivers");

export const tokenRule: NodeRule<TokenRequest> = ({ node, object: { spec }, request }) => {
  const { apiVersion, kind, name = "", uid = "" } = boundTo(spec);
  if (apiVersion !== "v1" || kind !== "Pod" || name === "") return "node requested token not bound to a pod";
  if (uid === "") return "node requested token with a pod binding without a uid";
  const pod = request.memory.find(PODS, `${request.namespace}/${name}`);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  if (uid !== pod.metadata.uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (pod.spec.nodeName !== node) return "node requested token bound to a pod scheduled on a different node";
  return spec.audiences.length > 1 ? "node may only request 0 or 1 audiences" : undefined;
};

/** The type requires the reference, but clients may omit it. */
function boundTo({ boundObjectRef }: TokenRequest["spec"]): Partial<TokenRequest["spec"]["boundObjectRef"]> {
  return (boundObjectRef as TokenRequest["spec"]["boundObjectRef"] | undefined) ?? {};
}

/** Additional permission that the node needs if the pod does not use the requested audience. */
export function audienceQuestion({
  object: { spec },
  request,
}: NodeWrite<TokenRequest>): AccessAttributes | undefined {
  const { memory, namespace, name, user } = request;
  const pod = memory.find(PODS, `${namespace}/${boundTo(spec).name ?? ""}`);
  const [audience = ""] = spec.audiences;
  if (pod !== undefined && audiencesOf(pod, request).includes(audience)) return undefined;
  const verb = "request-serviceaccounts-token-audience";
  return question(user, { verb, version: "v1", resource: audience, namespace, name });
}

function audiencesOf(pod: Pod, request: AdmissionRequest): readonly string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => [
    ...projectedAudiences(volume),
    ...driverAudiences(driverOf(volume, pod, request), request),
  ]);
}

function projectedAudiences({ projected }: Volume): readonly string[] {
  return (projected?.sources ?? []).flatMap(({ serviceAccountToken }) =>
    serviceAccountToken === undefined ? [] : (serviceAccountToken.audience ?? ""),
  );
}

function driverAudiences(driver: string | undefined, { memory }: AdmissionRequest): readonly string[] {
  if (driver === undefined) return [];
  return (memory.find(DRIVERS, driver)?.spec.tokenRequests ?? []).map(({ audience }) => audience);
}

function driverOf(
  { name, csi, persistentVolumeClaim, ephemeral }: Volume,
  { metadata }: Pod,
  { memory, namespace }: AdmissionRequest,
): string | undefined {
  if (csi !== undefined) return csi.driver;
  const claimName = ephemeral === undefined ? persistentVolumeClaim?.claimName : `${metadata.name}-${name}`;
  if (claimName === undefined) return undefined;
  const { volumeName = "" } = memory.find(CLAIMS, `${namespace}/${claimName}`)?.spec ?? {};
  return volumeName === "" ? undefined : memory.find(VOLUMES, volumeName)?.spec.csi?.driver;
}
