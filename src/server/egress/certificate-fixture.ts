/** Certificates for servers under test: authorities, intermediates, expired ones and ones for other purposes. */
import { createPrivateKey, createPublicKey } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { importSigner, serialNumber } from "../../base/keys/signing-key.ts";
import { x509 } from "../../base/keys/x509-library.ts";
import { makePrivateKey } from "../pki/issuer.ts";
import { loop } from "./fixture.ts";

const HOUR_MS = 3_600_000;
const NAME_CONSTRAINTS = "2.5.29.30";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Default: self-signed. */
  readonly signer?: TestCertificate;
  readonly names?: readonly string[];
  readonly isAuthority?: boolean;
  /** The only DNS domain for which an authority may sign. */
  readonly domain?: string;
  /** Object identifiers. Default: serverAuth. */
  readonly purposes?: readonly string[];
  readonly isExpired?: boolean;
}

export async function certify(wish: CertificateRequest): Promise<TestCertificate> {
  const { commonName, signer, isExpired = false } = wish;
  const key = makePrivateKey();
  const library = x509();
  const own = await importSigner(createPrivateKey(signer?.key ?? key));
  const made = await library.X509CertificateGenerator.create({
    serialNumber: serialNumber(loop.random("test-certificate")),
    subject: `CN=${commonName}`,
    issuer: signer === undefined ? `CN=${commonName}` : new library.X509Certificate(signer.cert).subjectName,
    notBefore: new Date(loop.now() - 2 * HOUR_MS),
    notAfter: new Date(loop.now() + (isExpired ? -HOUR_MS : HOUR_MS)),
    signingAlgorithm: own.algorithm,
    signingKey: own.key,
    publicKey: new library.PublicKey(createPublicKey(key).export({ type: "spki", format: "der" })),
    extensions: extensionsOf(wish, library),
  });
  return { key, cert: `${made.toString("pem")}\n` };
}

function extensionsOf(wish: CertificateRequest, library: typeof X509): X509.Extension[] {
  const { names = [], isAuthority = false, domain, purposes = [SERVER_AUTH] } = wish;
  const extensions: X509.Extension[] = [new library.BasicConstraintsExtension(isAuthority, undefined, true)];
  if (!isAuthority) extensions.push(new library.ExtendedKeyUsageExtension([...purposes]));
  if (names.length > 0) {
    const general = names.map((value) => ({ type: /^[\d.]+$/.test(value) ? "ip" : "dns", value }) as const);
    extensions.push(new library.SubjectAlternativeNameExtension(general));
  }
  if (domain !== undefined)
    extensions.push(new library.Extension(NAME_CONSTRAINTS, true, permittedDomain(domain)));
  return extensions;
}

/** DER of `permittedSubtrees` with one dNSName. */
function permittedDomain(domain: string): Uint8Array {
  const wrapped = (tag: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([tag, content.byteLength]), content]);
  return wrapped(0x30, wrapped(0xa0, wrapped(0x30, wrapped(0x82, Buffer.from(domain)))));
}
