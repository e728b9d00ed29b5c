/** Keys and serial numbers for signing certificates. */
import type { KeyObject } from "node:crypto";
import type { Random } from "../loop/loop.ts";

/** Setpoint creates P-256 keys. Folders made by other tools have other keys; kubeadm's are RSA. */
const CURVES: ReadonlyMap<string, string> = new Map([
  ["prime256v1", "P-256"],
  ["secp384r1", "P-384"],
  ["secp521r1", "P-521"],
]);

export async function importSigner(key: KeyObject) {
  const namedCurve = CURVES.get(key.asymmetricKeyDetails?.namedCurve ?? "");
  const algorithm =
    namedCurve === undefined
      ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
      : { name: "ECDSA", namedCurve, hash: "SHA-256" };
  const bytes = key.export({ type: "pkcs8", format: "der" });
  return { algorithm, key: await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]) };
}

/** Serial number of 127 random bits, positive. */
export function serialNumber(random: Random): string {
  const bytes = random.bytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return Buffer.from(bytes).toString("hex");
}
