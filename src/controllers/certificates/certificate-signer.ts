/** Signs certificate requests with the cluster's certificate authority. */
import { createPrivateKey } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { importSigner, serialNumber } from "../../base/keys/signing-key.ts";
import { x509 } from "../../base/keys/x509-library.ts";
import type { Loop, Random } from "../../base/loop/loop.ts";
import type { SigningRequest } from "./signer-rules.ts";

const MINUTE_MS = 60_000;
/** One year, as upstream's default; a request may ask for less. */
const LIFE_MS = 365 * 24 * 60 * MINUTE_MS;
const LIFE_MIN_MS = 10 * MINUTE_MS;
/** Backdating tolerates machines whose clock is slightly behind. */
const BACKDATE_MS = 5 * MINUTE_MS;
/** Certificates with a shorter lifetime get the backdated minutes in addition. */
const SHORT_MS = 8 * 60 * MINUTE_MS;

export interface SigningAuthority {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly loop: Loop;
}

export interface CertificateSigner {
  /** PEM certificate; undefined if the request's signature does not match its key. */
  sign(wanted: SigningRequest, expirationSeconds: number | undefined): Promise<string | undefined>;
}

export function certificateSigner({ cert, key, loop }: SigningAuthority): CertificateSigner {
  const random = loop.random("certificate-serial");
  return {
    sign: (wanted, expirationSeconds) =>
      loop.outside(
        "crypto",
        make({ wanted, cert, key, random, ...validityOf(expirationSeconds, loop.now()) }),
      ),
  };
}

interface Life {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Validity before it is capped at the authority's own expiry. Pure. */
export function validityOf(expirationSeconds: number | undefined, now: number): Life {
  const askedMs = expirationSeconds === undefined ? LIFE_MS : expirationSeconds * 1000;
  const lifeMs = Math.max(LIFE_MIN_MS, Math.min(askedMs, LIFE_MS));
  const notBefore = now - BACKDATE_MS;
  return { notBefore, notAfter: (lifeMs < SHORT_MS ? now : notBefore) + lifeMs };
}

interface Making extends Life {
  readonly wanted: SigningRequest;
  readonly cert: string;
  readonly key: string;
  readonly random: Random;
}

async function make({ wanted, cert, key, random, notBefore, notAfter }: Making): Promise<string | undefined> {
  const { content } = wanted;
  if (!content.isProven) return undefined;
  const library = x509();
  const authority = new library.X509Certificate(cert);
  const signer = await importSigner(createPrivateKey(key));
  const made = await library.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject: subjectOf(content),
    issuer: authority.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(Math.min(notAfter, authority.notAfter.getTime())),
    signingAlgorithm: signer.algorithm,
    signingKey: signer.key,
    publicKey: await library.PublicKey.create(content.publicKey),
    extensions: extensionsOf(wanted, authority),
  });
  return `${made.toString("pem")}\n`;
}

/**
 * Attributes that a certificate keeps of its request, in upstream's order: country, organization, organizational unit, locality, province, street,
 * postal code, common name, serial number. Others, such as a uid, have no reader among the signers' checks and are dropped.
 */
const KEPT_ATTRIBUTES = [
  "2.5.4.6",
  "2.5.4.10",
  "2.5.4.11",
  "2.5.4.7",
  "2.5.4.8",
  "2.5.4.9",
  "2.5.4.17",
  "2.5.4.3",
  "2.5.4.5",
];

/** Encoded anew from the values that were checked, each in a part of its own. */
function subjectOf({ subject }: SigningRequest["content"]): X509.Name {
  const parts = KEPT_ATTRIBUTES.flatMap((kept) =>
    subject.filter(({ type }) => type === kept).map(({ value }) => ({ [kept]: [encodedText(value)] })),
  );
  return new (x509().Name)(parts);
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

function encodedText(value: string): X509.JsonAttributeObject {
  return PRINTABLE.test(value) ? { printableString: value } : { utf8String: value };
}

function extensionsOf(
  { content, usages }: SigningRequest,
  authority: X509.X509Certificate,
): X509.Extension[] {
  const library = x509();
  const extensions: X509.Extension[] = [new library.BasicConstraintsExtension(false, undefined, true)];
  const flags = usages.map((usage) => KEY_USAGES.get(usage) ?? 0);
  let keyUsage = 0;
  for (const flag of flags) keyUsage |= flag;
  if (keyUsage !== 0) extensions.push(new library.KeyUsagesExtension(keyUsage, true));
  const purposes = usages.flatMap((usage) => PURPOSES.get(usage) ?? []);
  if (purposes.length > 0) extensions.push(new library.ExtendedKeyUsageExtension(purposes));
  const keyId = authority.getExtension(library.SubjectKeyIdentifierExtension)?.keyId;
  if (keyId !== undefined) extensions.push(new library.AuthorityKeyIdentifierExtension(keyId));
  const names = alternativeNames(content);
  if (names.length > 0) extensions.push(new library.SubjectAlternativeNameExtension(names));
  return extensions;
}

type AlternativeName = { readonly type: "dns" | "ip" | "email" | "url"; readonly value: string };

function alternativeNames({
  dnsNames,
  addresses,
  emails,
  uris,
}: SigningRequest["content"]): AlternativeName[] {
  const named = (type: AlternativeName["type"], values: readonly string[]): AlternativeName[] =>
    values.map((value) => ({ type, value }));
  return [
    ...named("dns", dnsNames),
    ...named("ip", addresses),
    ...named("email", emails),
    ...named("url", uris),
  ];
}

/** Bits of the key usage extension (RFC 5280, 4.2.1.3), as the library numbers them. */
const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ["signing", 1],
  ["digital signature", 1],
  ["content commitment", 2],
  ["key encipherment", 4],
  ["data encipherment", 8],
  ["key agreement", 16],
  ["cert sign", 32],
  ["crl sign", 64],
  ["encipher only", 128],
  ["decipher only", 256],
]);

const PURPOSES: ReadonlyMap<string, string> = new Map([
  ["any", "2.5.29.37.0"],
  ["server auth", "1.3.6.1.5.5.7.3.1"],
  ["client auth", "1.3.6.1.5.5.7.3.2"],
  ["code signing", "1.3.6.1.5.5.7.3.3"],
  ["email protection", "1.3.6.1.5.5.7.3.4"],
  ["s/mime", "1.3.6.1.5.5.7.3.4"],
  ["ipsec end system", "1.3.6.1.5.5.7.3.5"],
  ["ipsec tunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsec user", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocsp signing", "1.3.6.1.5.5.7.3.9"],
  ["microsoft sgc", "1.3.6.1.4.1.311.10.3.3"],
  ["netscape sgc", "2.16.840.1.113730.4.1"],
]);
