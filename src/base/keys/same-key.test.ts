import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSameKey } from "./same-key.ts";

describe("isSameKey", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });

  test("tells keys apart", () => {
    expect(isSameKey(publicKey, createPublicKey(pem))).toBe(true);
    expect(isSameKey(publicKey, generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey)).toBe(false);
  });

  test("of different types leaves nothing behind for the next that is read", () => {
    expect(isSameKey(publicKey, generateKeyPairSync("ed25519").publicKey)).toBe(false);
    expect(() => createPublicKey(pem)).not.toThrow();
  });
});
