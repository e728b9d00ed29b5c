// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type CertificateSigningRequest = {
  readonly apiVersion: "certificates.k8s.io/v1";
  readonly kind: "CertificateSigningRequest";
  readonly metadata: StoredMeta;
  readonly spec: CertificateSigningRequestSpec;
  readonly status: CertificateSigningRequestStatus;
};
export const CertificateSigningRequest: ResourceType<CertificateSigningRequest> = {
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};

export type CertificateSigningRequestCondition = {
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type CertificateSigningRequestList = {
  readonly apiVersion: "certificates.k8s.io/v1";
  readonly items: readonly CertificateSigningRequest[];
  readonly kind: "CertificateSigningRequestList";
  readonly metadata: ListMeta;
};

export type CertificateSigningRequestSpec = {
  readonly expirationSeconds?: number;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly request: string;
  readonly signerName: string;
  readonly uid?: string;
  readonly usages?: readonly (
    | "any"
    | "cert sign"
    | "client auth"
    | "code signing"
    | "content commitment"
    | "crl sign"
    | "data encipherment"
    | "decipher only"
    | "digital signature"
    | "email protection"
    | "encipher only"
    | "ipsec end system"
    | "ipsec tunnel"
    | "ipsec user"
    | "key agreement"
    | "key encipherment"
    | "microsoft sgc"
    | "netscape sgc"
    | "ocsp signing"
    | "s/mime"
    | "server auth"
    | "signing"
    | "timestamping"
  )[];
  readonly username?: string;
};

export type CertificateSigningRequestStatus = {
  readonly certificate?: string;
  readonly conditions?: readonly CertificateSigningRequestCondition[];
};
