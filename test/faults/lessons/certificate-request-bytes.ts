/** Certificate requests written byte by byte: encodings that no library makes. */
import { generateKeyPairSync, sign } from "node:crypto";

/** One DER value; its content may consist of others. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content]);
}

function lengthOf({ length }: Buffer): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

/** `2.5.4.3`, `2.5.4.10` and so on, and identifiers given as bytes. */
export const OBJECT_IDS = {
  commonName: Buffer.from([0x55, 4, 3]),
  organization: Buffer.from([0x55, 4, 10]),
  /** `1.3.6.1.4.1.57683.2` */
  uid: Buffer.from([0x2b, 6, 1, 4, 1, 0x83, 0xc2, 0x53, 2]),
  alternativeName: Buffer.from([0x55, 0x1d, 17]),
  basicConstraints: Buffer.from([0x55, 0x1d, 19]),
  extensionRequest: Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 14]),
} as const;

export function attribute(type: Uint8Array, tag: number, value: Uint8Array | string): Buffer {
  return der(0x30, der(6, type), der(tag, Buffer.from(value)));
}

/** Each argument is one part of the name; a part with several attributes is multi-valued. */
export function name(...parts: readonly (readonly Buffer[])[]): Buffer {
  return der(0x30, ...parts.map((attributes) => der(0x31, ...attributes)));
}

export function extension(id: Uint8Array, value: Uint8Array): Buffer {
  return der(0x30, der(6, id), der(4, value));
}

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** ecdsa-with-SHA256 */
const ALGORITHM = der(0x30, der(6, Buffer.from([0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2])));

/** Value of `spec.request`: PEM in base64, signed with its own key. */
export function certificateRequest(subject: Buffer, extensions: readonly Buffer[] = []): string {
  const key = keys.publicKey.export({ type: "spki", format: "der" });
  const wanted = der(0x30, der(6, OBJECT_IDS.extensionRequest), der(0x31, der(0x30, ...extensions)));
  const attributes = der(0xa0, ...(extensions.length === 0 ? [] : [wanted]));
  const info = der(0x30, der(2, Buffer.from([0])), subject, key, attributes);
  const signature = sign("sha256", info, keys.privateKey);
  const bytes = der(0x30, info, ALGORITHM, der(3, Buffer.from([0]), signature));
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""];
  return Buffer.from(pem.join("\n")).toString("base64");
}
