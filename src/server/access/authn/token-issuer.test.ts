import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TokenKeys } from "../../pki/pki-folder.ts";
import { claimsOf, headerOf } from "./fixture.ts";
import { tokenIssuer } from "./token-issuer.ts";

type Kind = "RSA" | "P-256" | "P-384" | "P-521";

function makeKeys(kind: Kind): TokenKeys {
  const { privateKey } =
    kind === "RSA"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: kind });
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString(),
  };
}

describe("an issuer", () => {
  test.each([
    ["RSA", "RS256"],
    ["P-256", "ES256"],
    ["P-384", "ES384"],
    ["P-521", "ES512"],
  ] as const)("with a key of kind %s signs with %s, and recognises what it signed", (kind, algorithm) => {
    const keys = makeKeys(kind);
    const issuer = tokenIssuer(() => keys);
    const token = issuer.sign({ iss: issuer.issuer, sub: "x" });
    const other = tokenIssuer(() => makeKeys(kind));

    expect(headerOf(token)).toMatchObject({ alg: algorithm });
    expect(issuer.originOf(token)).toEqual({ type: "ours", claims: claimsOf(token) });
    expect(other.originOf(token)).toEqual({ type: "forged" });
  });

  test("caches a genuine token despite many forged and foreign ones", () => {
    const keys = makeKeys("P-256");
    const issuer = tokenIssuer(() => keys);
    const token = issuer.sign({ iss: issuer.issuer, sub: "x" });
    const claimsNow = (): unknown => {
      const origin = issuer.originOf(token);
      return origin.type === "ours" ? origin.claims : undefined;
    };
    const claims = claimsNow();

    for (let n = 0; n < 5000; n++) {
      const made = (iss: string): string =>
        [{ alg: "none" }, { iss, n }, {}]
          .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
          .join(".");
      issuer.originOf(made(issuer.issuer));
      issuer.originOf(made("https://other.example"));
    }

    expect(claimsNow()).toBe(claims);
  });

  test("accepts tokens of its earlier keys and names", () => {
    const [old, next] = [makeKeys("RSA"), makeKeys("P-256")];
    const before = tokenIssuer(() => old, { issuers: ["https://old.example"] });
    const token = before.sign({ iss: before.issuer });

    const after = tokenIssuer(() => ({ ...next, publicKey: next.publicKey + old.publicKey }), {
      issuers: ["https://new.example", "https://old.example"],
    });

    expect(after.originOf(token).type).toBe("ours");
    expect(after.audiences).toEqual(["https://new.example", "https://old.example"]);
    expect(tokenIssuer(() => next, { issuers: ["https://new.example"] }).originOf(token).type).toBe(
      "foreign",
    );
  });

  test.each(["", ".", "a.b.c", "a.b", "....", "x".repeat(200_000), "eyJhIjoxfQ.eyJhIjoxfQ.", "é.é.é"])(
    "does not recognise %j as its own token",
    (text) => {
      expect(tokenIssuer(() => makeKeys("P-256")).originOf(text).type).toBe("foreign");
    },
  );
});
