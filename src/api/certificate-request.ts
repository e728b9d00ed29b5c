/** What a request for a certificate asks for (PKCS #10). There is one reader for whoever admits, approves and signs it: they must see the same. */
import type * as X509 from "@peculiar/x509";
import { x509 } from "../base/x509-library.ts";

export interface CertificateRequest {
  /** The only one: a request with several means different people to different readers, and is refused. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** The request as it was sent. */
  readonly pem: string;
}

/** Many times what the largest key and a hundred names take; to read more would keep everybody waiting. */
const REQUEST_CHARS_MAX = 64 * 1024;

/** Undefined for what cannot be read, or not in one way only. `request` is PEM in base64, as in the spec. */
export function readCertificateRequest(request: string): CertificateRequest | undefined {
  if (request.length > REQUEST_CHARS_MAX) return undefined;
  try {
    return contentOf(Buffer.from(request, "base64").toString("latin1"));
  } catch {
    return undefined;
  }
}

function contentOf(pem: string): CertificateRequest | undefined {
  const { subjectName, extensions } = new (x509().Pkcs10CertificateRequest)(pem);
  const [commonName = "", ...others] = subjectName.getField("CN");
  if (others.length > 0) return undefined;
  const names = extensions.flatMap((extension) =>
    extension instanceof x509().SubjectAlternativeNameExtension ? extension.names.items : [],
  );
  const ofType = (type: X509.GeneralNameType): readonly string[] =>
    names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    commonName,
    organizations: subjectName.getField("O"),
    dnsNames: ofType("dns"),
    addresses: ofType("ip"),
    emails: ofType("email"),
    uris: ofType("url"),
    pem,
  };
}
