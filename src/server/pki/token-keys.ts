/** Creates signing keys for service account tokens in memory; the tokens end with the process. */
import { createPublicKey } from "node:crypto";
import { makePrivateKey } from "./issuer.ts";
import type { TokenKeys } from "./pki-folder.ts";

export function makeTokenKeys(): TokenKeys {
  const privateKey = makePrivateKey();
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
  return { privateKey, publicKey };
}
