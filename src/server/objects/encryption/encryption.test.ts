import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../base/loop/random.ts";
import { aesCbc, aesGcm, identity } from "./ciphers.ts";
import { parseKeyFile } from "./open-encryption.ts";
import { parseEncryptionConfig } from "./provider-config.ts";
import { firstWrites } from "./transformer.ts";

const random = seededRandom(1, "test", "encryption");
const KEY = "/registry/secrets/default/a";
const SECRET = Buffer.alloc(32, 1).toString("base64");
const one = { name: "one", secret: Buffer.alloc(32, 1) };
const two = { name: "two", secret: Buffer.alloc(16, 2) };

describe.each([
  ["aesgcm", aesGcm],
  ["aescbc", aesCbc],
])("%s", (_name, cipher) => {
  const transformer = firstWrites([cipher(one, random), cipher(two, random), identity]);

  test("opens what it encrypted, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const opened = transformer.decrypt(transformer.encrypt(bytes, KEY), KEY);
        expect(opened).toEqual({ bytes: Buffer.from(bytes), isStale: false });
      }),
    );
  });

  test("seals the same bytes differently each time", () => {
    const bytes = Buffer.from("the same");

    expect(transformer.encrypt(bytes, KEY).equals(transformer.encrypt(bytes, KEY))).toBe(false);
  });

  test("reads values of an older key and unencrypted values, and marks them stale", () => {
    const older = firstWrites([cipher(two, random)]).encrypt(Buffer.from("{}"), KEY);

    expect(transformer.decrypt(older, KEY)).toEqual({ bytes: Buffer.from("{}"), isStale: true });
    expect(transformer.decrypt(Buffer.from("{}"), KEY)).toEqual({ bytes: Buffer.from("{}"), isStale: true });
  });

  test("keeps two keys of one name apart", () => {
    const renamed = { name: "one", secret: two.secret };
    const encrypted = firstWrites([cipher(renamed, random)]).encrypt(Buffer.from('{"a":1}'), KEY);
    const both = firstWrites([cipher(one, random), cipher(renamed, random)]);

    expect(both.decrypt(encrypted, KEY)).toEqual({ bytes: Buffer.from('{"a":1}'), isStale: true });
  });

  test("does not open a truncated value", () => {
    const encrypted = transformer.encrypt(Buffer.from("content"), KEY);

    for (let length = 0; length < encrypted.length; length++) {
      const open = (): unknown =>
        firstWrites([cipher(one, random)]).decrypt(encrypted.subarray(0, length), KEY);
      expect(open).toThrow(/^(no matching prefix|the stored data|message authentication|invalid padding)/);
    }
  });
});

describe("aesgcm", () => {
  const transformer = firstWrites([aesGcm(one, random)]);

  test("does not open a value with one flipped bit", () => {
    const encrypted = transformer.encrypt(Buffer.from("content"), KEY);
    const prefix = "k8s:enc:aesgcm:v1:one:".length;

    for (let bit = prefix * 8; bit < encrypted.length * 8; bit++) {
      const changed = Buffer.from(encrypted);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => transformer.decrypt(changed, KEY)).toThrow("message authentication failed");
    }
  });

  test("does not open a value that was moved to another key", () => {
    const encrypted = transformer.encrypt(Buffer.from("content"), KEY);

    expect(() => transformer.decrypt(encrypted, `${KEY}b`)).toThrow("message authentication failed");
  });
});

test("the identity provider refuses values that another provider encrypted", () => {
  const encrypted = firstWrites([aesGcm(one, random)]).encrypt(Buffer.from("content"), KEY);

  expect(() => firstWrites([identity]).decrypt(encrypted, KEY)).toThrow(
    "identity transformer tried to read encrypted data",
  );
});

function config(resources: string, providers = `aesgcm: {keys: [{name: k, secret: ${SECRET}}]}`): Buffer {
  return Buffer.from(`
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- {resources: [${resources}], providers: [{${providers}}]}
`);
}

describe("a configuration", () => {
  test.each([
    ["secrets", "/registry/secrets/a/b", true],
    ["secrets", "/registry/configmaps/a/b", false],
    ["services", "/registry/services/specs/a/b", true],
    ["services", "/registry/services/endpoints/a/b", false],
    ["deployments.apps", "/registry/deployments/a/b", true],
    ["deployments", "/registry/deployments/a/b", false],
    ["widgets.example.com", "/registry/example.com/widgets/a/b", true],
    ["widgets.example.com", "/registry/example.com/gadgets/a/b", false],
    ["'*.'", "/registry/pods/a/b", true],
    ["'*.'", "/registry/deployments/a/b", false],
    ["'*.apps'", "/registry/deployments/a/b", true],
    ["'*.example.com'", "/registry/example.com/widgets/b", true],
    ["'*.*'", "/registry/example.com/widgets/b", true],
    ["'*.*'", "/registry/configmaps/a/b", true],
    ["'*.*'", "/registry/masterleases/10.0.0.1", false],
    ["'*.*'", "/elsewhere/configmaps/a/b", false],
  ])("for %s covers %s: %s", (resources, key, isCovered) => {
    const encryption = parseEncryptionConfig(config(resources), random);

    expect(encryption.transformerOf(key) !== undefined).toBe(isCovered);
  });

  test.each([
    [config("'*'"), 'resources[0].resources[0]: use "*." for the core group or "*.*" for all resources'],
    [config("secrets, secrets"), 'resources: "secrets." is covered by an earlier entry'],
    [config("'*.*', secrets"), 'resources: "secrets." is covered by an earlier entry'],
    [config("pods/status"), "resources[0].resources[0]: a subresource is stored with its resource"],
    [config("secrets", "kms: {}"), 'the provider "kms" is not supported: use aesgcm, aescbc or identity'],
    [config("secrets", "secretbox: {}"), 'the provider "secretbox" is not supported'],
    [config("secrets", "aesgcm: {keys: []}"), "resources[0].providers[0].aesgcm.keys: expected at least one"],
    [
      config("secrets", "aesgcm: {keys: [{name: k, secret: c2hvcnQ=}]}"),
      "resources[0].providers[0].aesgcm.keys[0].secret: expected 16, 24, 32 bytes in base64",
    ],
    [Buffer.from("kind: Pod"), "expected an EncryptionConfiguration of apiserver.config.k8s.io/v1"],
  ])("that is invalid is refused", (bytes, message) => {
    expect(() => parseEncryptionConfig(bytes, random)).toThrow(message);
  });
});

test("a replaced configuration writes by the new rules", () => {
  const config = (name: string): Buffer =>
    Buffer.from(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{resources: [secrets], providers: [{aesgcm: {keys: [{name: ${name}, secret: ${SECRET}}]}}, {identity: {}}]}]
`);
  const encryption = parseEncryptionConfig(config("old"), random);
  const encrypt = (): string | undefined =>
    encryption.transformerOf(KEY)?.encrypt(Buffer.from("{}"), KEY).toString("latin1").slice(0, 21);

  const before = encrypt();
  encryption.becomes(parseEncryptionConfig(config("new"), random));

  expect([before, encrypt()]).toEqual(["k8s:enc:aesgcm:v1:old", "k8s:enc:aesgcm:v1:new"]);
});

test("a key of a key file has the same name on any line", () => {
  const other = Buffer.alloc(32, 2).toString("base64");
  const first = parseKeyFile(Buffer.from(`${SECRET}\n`), random).transformerOf(KEY);
  const second = parseKeyFile(Buffer.from(`# newer\n${other}\n${SECRET}\n`), random).transformerOf(KEY);

  const encrypted = first?.encrypt(Buffer.from("{}"), KEY) ?? Buffer.alloc(0);

  expect(second?.decrypt(encrypted, KEY)).toEqual({ bytes: Buffer.from("{}"), isStale: true });
});
