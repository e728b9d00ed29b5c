/** For whom a certificate is asked. The library that reads requests takes a tenth of a second to load, so the first request loads it. */
import { x509 } from "../../base/x509-library.ts";

/** No honest request is larger, and the library's patterns have no bound. */
const REQUEST_CHARS_MAX = 64 * 1024;

interface RequestSubject {
  /** One, unless somebody hopes that different readers take different ones. */
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
}

/** Of a request as the API has it, PEM in base64; undefined when it is none. */
export function requestSubject(request: string): RequestSubject | undefined {
  if (request.length > REQUEST_CHARS_MAX) return undefined;
  const { Pkcs10CertificateRequest } = x509();
  try {
    const pem = Buffer.from(request, "base64").toString("latin1");
    const { subjectName } = new Pkcs10CertificateRequest(pem);
    return { commonNames: subjectName.getField("CN"), organizations: subjectName.getField("O") };
  } catch {
    return undefined;
  }
}
