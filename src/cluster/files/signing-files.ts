/** Reads the CA that signs approved certificate requests from the files that flags name. */
import type { Loop } from "../../base/loop/loop.ts";
import { readKeys } from "../../base/process/private-path.ts";
import { readFileText } from "../../base/process/read-named-file.ts";
import { certificateSigner } from "../../controllers/certificates/certificate-signer.ts";
import type { CertificateSigner } from "../../controllers/certificates/certificate-signer.ts";
import { parseCertificate, parsePrivateKey } from "../../server/pki/certificate-state.ts";

/** PEM of a CA that the server trusts. */
export interface SigningFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Rejects unless the files are a CA and its key. Otherwise the first request would reveal it, long after the start. */
export async function openSigner(
  { certFile, keyFile }: SigningFiles,
  loop: Loop,
): Promise<CertificateSigner> {
  const [cert, bytes] = await loop.outside("file", Promise.all([readFileText(certFile), readKeys(keyFile)]));
  const key = bytes.toString();
  if (!parseCertificate(cert, certFile).checkPrivateKey(parsePrivateKey(key, keyFile)))
    throw new Error(`${keyFile} does not belong to ${certFile}: name the key of that certificate`);
  return certificateSigner({ cert, key, loop: loop.child("signer") });
}
