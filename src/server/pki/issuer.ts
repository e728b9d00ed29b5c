/**
 * Issues certificates. The X.509 library takes a tenth of a second to load, so the first certificate loads it. An
 * ordinary start issues none.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { findIpAddress } from "../../api/values/ip-address.ts";
import { importSigner, serialNumber } from "../../base/keys/signing-key.ts";
import { x509 as loadX509 } from "../../base/keys/x509-library.ts";
import type { Loop } from "../../base/loop/loop.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** kubeadm's lifetimes. */
const AUTHORITY_MS = 10 * YEAR_MS;
const LEAF_MS = YEAR_MS;

/** Lets machines whose clock is slightly behind accept a new certificate. */
const CLOCK_SKEW_MS = HOUR_MS;

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface LeafRequest {
  readonly subject: CertificateSubject;
  /** The leaf's own private key, PEM. */
  readonly key: string;
  readonly usage: "server" | "client";
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  /** Certificate and private key of the signer, PEM. */
  readonly authority: { readonly cert: string; readonly key: string };
}

/** PEM in, PEM out. */
export interface Issuer {
  authority(commonName: string, key: string): Promise<string>;
  /** Keeps name and key, so certificates signed by the old authority stay valid. */
  renewedAuthority(old: { readonly cert: string; readonly key: string }): Promise<string>;
  /** Valid for a year, but not beyond its authority. */
  leaf(request: LeafRequest): Promise<string>;
}

/** A P-256 private key, PEM. */
export function makePrivateKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

export function loadIssuer(loop: Loop): Issuer {
  return issuerWith(loadX509(), loop);
}

function issuerWith(x509: typeof X509, loop: Loop): Issuer {
  const { KeyUsageFlags, ExtendedKeyUsage } = x509;

  async function sign(certificate: Unsigned): Promise<string> {
    const signer = await importSigner(createPrivateKey(certificate.signerKey));
    const publicKey = await x509.PublicKey.create(publicKeyBytes(certificate.key));
    const extensions = [
      ...certificate.extensions,
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ];
    const made = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(loop.random("certificate-serial")),
      subject: certificate.subject,
      issuer: certificate.issuer,
      notBefore: new Date(loop.now() - CLOCK_SKEW_MS),
      notAfter: certificate.notAfter,
      signingAlgorithm: signer.algorithm,
      signingKey: signer.key,
      publicKey,
      extensions,
    });
    return `${made.toString("pem")}\n`;
  }

  function authority(subject: Name, key: string): Promise<string> {
    const usages = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign;
    const extensions = [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(usages, true),
    ];
    const notAfter = new Date(loop.now() + AUTHORITY_MS);
    return loop.outside(
      "crypto",
      sign({ subject, issuer: subject, key, signerKey: key, notAfter, extensions }),
    );
  }

  function leaf({ subject, key, usage, names, authority: signer }: LeafRequest): Promise<string> {
    const signerCert = new x509.X509Certificate(signer.cert);
    const extensions: X509.Extension[] = [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension([
        usage === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
      ]),
    ];
    // Copied from the signer, not computed: other tools compute the key ID differently.
    const signerKeyId = signerCert.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
    if (signerKeyId !== undefined) extensions.push(new x509.AuthorityKeyIdentifierExtension(signerKeyId));
    if (names.length > 0) extensions.push(new x509.SubjectAlternativeNameExtension(names.map(generalName)));
    const notAfter = new Date(Math.min(loop.now() + LEAF_MS, signerCert.notAfter.getTime()));
    return loop.outside(
      "crypto",
      sign({
        subject: distinguishedName(subject),
        issuer: signerCert.subjectName,
        key,
        signerKey: signer.key,
        notAfter,
        extensions,
      }),
    );
  }

  return {
    authority: (commonName, key) => authority([{ CN: [commonName] }], key),
    renewedAuthority: ({ cert, key }) => authority(new x509.X509Certificate(cert).subjectName, key),
    leaf,
  };
}

type Name = X509.JsonName | X509.Name;

interface Unsigned {
  readonly subject: Name;
  readonly issuer: Name;
  readonly key: string;
  readonly signerKey: string;
  readonly notAfter: Date;
  readonly extensions: readonly X509.Extension[];
}

function distinguishedName({ commonName, organizations }: CertificateSubject): Name {
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

function generalName(name: string): { type: "dns" | "ip"; value: string } {
  return { type: findIpAddress(name) === undefined ? "dns" : "ip", value: name };
}

function publicKeyBytes(privateKey: string): Buffer {
  return createPublicKey(privateKey).export({ type: "spki", format: "der" });
}
