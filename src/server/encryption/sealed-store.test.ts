import { beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { VirtualLoop } from "../../base/virtual-loop.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { encodeObject, StoredObject } from "../stored-object.ts";
import type { Encryption } from "./encryption.ts";
import { parseEncryptionConfig } from "./provider-config.ts";
import { sealedStore } from "./sealed-store.ts";

const random = seededRandom(1, "test", "sealed store");
const KEY = "/registry/secrets/default/a";
const SECRET = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", uid: "0" } } as ApiObject;
const IDENTITY = "{identity: {}}";

/** Of keys with these names, the first of which writes. */
function keys(...names: readonly string[]): string {
  const list = names.map((name) => `{name: ${name}, secret: ${Buffer.alloc(32, name).toString("base64")}}`);
  return `{aesgcm: {keys: [${list.join(", ")}]}}`;
}

function encryptionWith(resource: string, ...providers: readonly string[]): Encryption {
  const text = `{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{resources: [${resource}], providers: [${providers.join(", ")}]}]}`;
  return parseEncryptionConfig(Buffer.from(text), random);
}

describe("what was stored before the configuration changed", () => {
  let loop: VirtualLoop;

  beforeEach(() => {
    loop = new VirtualLoop({ seed: 1 });
  });

  async function storedBy(encryption: Encryption): Promise<Store> {
    const store = sealedStore(openMemoryStore({ loop }), encryption);
    const { bytes, ...slot } = encodeObject(SECRET);
    const change = { type: "put", key: KEY, value: bytes, slot: { bytes, ...slot } } as const;
    await loop.finish(store.write({ changes: [change] }));
    return store;
  }

  function seen(store: Store): StoredObject {
    const entry = store.view.get(KEY);
    if (entry === undefined) throw new Error("it was stored");
    return StoredObject.of(entry);
  }

  const old = (): Encryption => encryptionWith("secrets", keys("old"));

  test.each([
    { name: "with another key", before: old(), after: encryptionWith("secrets", keys("new", "old")) },
    { name: "with a key that is gone", before: old(), after: encryptionWith("secrets", keys("new")) },
    { name: "with a key that is used no longer", before: old(), after: encryptionWith("pods", keys("old")) },
    {
      name: "in clear, which no rule spoke of",
      before: encryptionWith("pods", keys("old")),
      after: encryptionWith("secrets", keys("new"), IDENTITY),
    },
  ])("$name is read on, and is stale", async ({ before, after }) => {
    const store = await storedBy(before);
    const { isStale: wasStale } = seen(store);

    before.becomes(after);
    const now = seen(store);

    expect([wasStale, now.isStale]).toEqual([false, true]);
    expect(now.object).toMatchObject(SECRET);
    expect(seen(store)).toBe(now);
  });

  test("with the key that writes now is not stale", async () => {
    const before = old();
    const store = await storedBy(before);

    before.becomes(encryptionWith("secrets", keys("old", "new")));

    expect(seen(store).isStale).toBe(false);
  });
});
