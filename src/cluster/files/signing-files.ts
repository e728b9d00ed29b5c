/** The authority with which requests for certificates are signed, by the files that flags name. */
import type { Loop } from "../../base/loop/loop.ts";
import { readKeys } from "../../base/process/private-path.ts";
import { readNamedText } from "../../base/process/read-file.ts";
import { certificateSigner } from "../../controllers/certificates/certificate-signer.ts";
import type { CertificateSigner } from "../../controllers/certificates/certificate-signer.ts";
import { parseCertificate, parsePrivateKey } from "../../server/pki/certificate-state.ts";

/** PEM, of an authority that the server trusts. */
export interface SigningFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Rejects when they are no authority: else that would be found out with the first request, long after. */
export async function openSigner(
  { certFile, keyFile }: SigningFiles,
  loop: Loop,
): Promise<CertificateSigner> {
  const [cert, bytes] = await loop.outside("file", Promise.all([readNamedText(certFile), readKeys(keyFile)]));
  const key = bytes.toString();
  if (!parseCertificate(cert, certFile).checkPrivateKey(parsePrivateKey(key, keyFile)))
    throw new Error(`${keyFile} does not belong to ${certFile}: name the key of that certificate`);
  return certificateSigner({ cert, key, loop: loop.child("signer") });
}
