import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSameKey } from "./same-key.ts";

describe("isSameKey", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });

  test("distinguishes keys", () => {
    expect(isSameKey(publicKey, createPublicKey(pem))).toBe(true);
    expect(isSameKey(publicKey, generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey)).toBe(false);
  });

  test("keys of different types leave no error for the next key that is read", () => {
    expect(isSameKey(publicKey, generateKeyPairSync("ed25519").publicKey)).toBe(false);
    expect(() => createPublicKey(pem)).not.toThrow();
  });
});
