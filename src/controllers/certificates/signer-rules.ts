/** Rules of the built-in signers. A rule returns upstream's error text for a request it rejects, and undefined for one it accepts. */
import type { CertificateRequest } from "../../api/certificates/certificate-request.ts";

export interface SigningRequest {
  readonly content: CertificateRequest;
  readonly usages: readonly string[];
}

export type SignerRule = (request: SigningRequest) => string | undefined;

export const KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

export const SIGNER_RULES: ReadonlyMap<string, SignerRule> = new Map<string, SignerRule>([
  ["kubernetes.io/kube-apiserver-client", findClientProblem],
  [KUBELET_CLIENT_SIGNER, findKubeletClientProblem],
  ["kubernetes.io/kubelet-serving", findKubeletServingProblem],
  // Accepts every approved request: this signer dates from before signer names existed.
  ["kubernetes.io/legacy-unknown", () => undefined],
]);

const CLIENT_USAGES = new Set(["digital signature", "key encipherment", "client auth"]);

function findClientProblem({ usages }: SigningRequest): string | undefined {
  const unknown = usages.find((usage) => !CLIENT_USAGES.has(usage));
  if (unknown !== undefined) return `invalid usage for client certificate: ${unknown}`;
  return usages.includes("client auth")
    ? undefined
    : "missing required usage for client certificate: client auth";
}

export function findKubeletClientProblem({ content, usages }: SigningRequest): string | undefined {
  const { dnsNames, emails, addresses, uris } = content;
  if (!isOfNodes(content)) return "subject organization is not system:nodes";
  if (dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (emails.length > 0) return "Email subjectAltNames are not allowed";
  if (addresses.length > 0) return "IP subjectAltNames are not allowed";
  if (uris.length > 0) return "URI subjectAltNames are not allowed";
  return findNameProblem(content) ?? findUsageProblem(usages, "client auth");
}

function findKubeletServingProblem({ content, usages }: SigningRequest): string | undefined {
  const { dnsNames, emails, addresses, uris } = content;
  if (!isOfNodes(content)) return "subject organization is not system:nodes";
  if (dnsNames.length === 0 && addresses.length === 0) return "DNS or IP subjectAltName is required";
  if (emails.length > 0) return "Email subjectAltNames are not allowed";
  if (uris.length > 0) return "URI subjectAltNames are not allowed";
  return findUsageProblem(usages, "server auth") ?? findNameProblem(content);
}

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === "system:nodes";
}

function findNameProblem({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith("system:node:")
    ? undefined
    : "subject common name does not begin with system:node:";
}

/** `key encipherment` is optional: keys of elliptic curves do not support it. */
function findUsageProblem(usages: readonly string[], purpose: string): string | undefined {
  const allowed = new Set(["digital signature", "key encipherment", purpose]);
  const isRight =
    usages.every((usage) => allowed.has(usage)) &&
    usages.includes("digital signature") &&
    usages.includes(purpose);
  return isRight ? undefined : `usages did not match [${[...allowed].toSorted().join(" ")}]`;
}
