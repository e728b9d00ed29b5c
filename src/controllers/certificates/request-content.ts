/** What a request for a certificate asks for (PKCS #10). */
import type * as X509 from "@peculiar/x509";
import { x509 } from "../../base/x509-library.ts";

export interface RequestContent {
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

/** Undefined for what cannot be read. `request` is PEM in base64, as in the spec. */
export function findContent(request: string): RequestContent | undefined {
  if (request.length > REQUEST_CHARS_MAX) return undefined;
  try {
    return contentOf(Buffer.from(request, "base64").toString("latin1"));
  } catch {
    return undefined;
  }
}

function contentOf(pem: string): RequestContent {
  const { subjectName, extensions } = new (x509().Pkcs10CertificateRequest)(pem);
  const names = extensions.flatMap((extension) =>
    extension instanceof x509().SubjectAlternativeNameExtension ? extension.names.items : [],
  );
  const ofType = (type: X509.GeneralNameType): readonly string[] =>
    names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    commonName: subjectName.getField("CN")[0] ?? "",
    organizations: subjectName.getField("O"),
    dnsNames: ofType("dns"),
    addresses: ofType("ip"),
    emails: ofType("email"),
    uris: ofType("url"),
    pem,
  };
}
