import { beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../base/log/log.ts";
import { seededRandom } from "../../../base/loop/random.ts";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { conversions, kinds } from "../../../resources/index.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { parseEncryptionConfig } from "../encryption/provider-config.ts";
import { encodeObject } from "../object-encoder.ts";
import { StoredObject } from "../stored-object.ts";
import { Versions } from "../versions.ts";
import { ObjectStore } from "./object-store.ts";
import { ValueReader } from "./value-reader.ts";

const random = seededRandom(1, "test", "encrypted store");
const KEY = "/registry/secrets/default/a";
const SECRET = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "a", namespace: "default", uid: "0" },
} as ApiObject;
const IDENTITY = "{identity: {}}";

/** A configuration with keys of these names; the first one writes. */
function keys(...names: readonly string[]): string {
  const list = names.map((name) => `{name: ${name}, secret: ${Buffer.alloc(32, name).toString("base64")}}`);
  return `{aesgcm: {keys: [${list.join(", ")}]}}`;
}

function encryptionWith(resource: string, ...providers: readonly string[]): Encryption {
  const text = `{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{resources: [${resource}], providers: [${providers.join(", ")}]}]}`;
  return parseEncryptionConfig(Buffer.from(text), random);
}

describe("a value stored before the configuration changed", () => {
  let loop: VirtualLoop;

  beforeEach(() => {
    loop = new VirtualLoop({ seed: 1 });
  });

  async function storedBy(encryption: Encryption): Promise<Store> {
    const reader = new ValueReader({ versions: new Versions(conversions), kinds });
    const store = new ObjectStore({ store: openMemoryStore({ loop }), encryption, reader, log: silentLog });
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
  ])("$name is still read, and is stale", async ({ before, after }) => {
    const store = await storedBy(before);
    const { isStale: wasStale } = seen(store);

    before.becomes(after);
    const now = seen(store);

    expect([wasStale, now.isStale]).toEqual([false, true]);
    expect(now.object).toMatchObject(SECRET);
    expect(seen(store)).toBe(now);
  });

  test("with the current write key is not stale", async () => {
    const before = old();
    const store = await storedBy(before);

    before.becomes(encryptionWith("secrets", keys("old", "new")));

    expect(seen(store).isStale).toBe(false);
  });
});

describe("a value that cannot be read", () => {
  let loop: VirtualLoop;
  let raw: Store;
  let store: ObjectStore;
  let warnings: string[];

  beforeEach(() => {
    loop = new VirtualLoop({ seed: 1 });
    raw = openMemoryStore({ loop });
    warnings = [];
    const log = { ...silentLog, warn: (_: string, fields?: object) => warnings.push(JSON.stringify(fields)) };
    const reader = new ValueReader({ versions: new Versions(conversions), kinds });
    store = new ObjectStore({ store: raw, reader, log });
  });

  async function put(name: string, text: string): Promise<void> {
    const key = `/registry/secrets/default/${name}`;
    await loop.finish(raw.write({ changes: [{ type: "put", key, value: Buffer.from(text) }] }));
  }

  function secret(name: string): string {
    return JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" } });
  }

  const ALL = ["/registry/secrets/", "/registry/secrets0"] as const;
  const keys = (): readonly string[] => [...store.view.range(...ALL)].map(({ key }) => key);

  test("is left out of ranges and changes, and is logged once", async () => {
    await put("a", secret("a"));
    const mark = store.view.mark("/registry/secrets/");
    await put("b", "nothing");
    await put("c", "k8s:enc:aesgcm:v1:key1:xyz");

    const found = [keys(), keys()];
    const changes = [...store.view.changesSince(mark, "/registry/secrets/")];

    expect(found).toEqual([["/registry/secrets/default/a"], ["/registry/secrets/default/a"]]);
    expect(changes).toEqual([]);
    expect(store.unreadable("/registry/")).toEqual([
      "/registry/secrets/default/b",
      "/registry/secrets/default/c",
    ]);
    expect(warnings).toEqual([
      expect.stringContaining('unable to decode key \\"/registry/secrets/default/b\\"'),
      expect.stringContaining("it is encrypted, and the server was given no key for it"),
    ]);
  });

  test("is found by a first read in pieces, with other work in between", async () => {
    for (let at = 0; at < 450; at++)
      await put(`a-${String(at)}`, at === 7 ? "nothing" : secret(`a-${String(at)}`));
    let turns = 0;
    const turn = async (): Promise<void> => {
      turns += 1;
    };

    await store.ready("/registry/secrets/", turn);

    expect(turns).toBe(4);
    expect(store.unreadable("/registry/secrets/")).toEqual(["/registry/secrets/default/a-7"]);
    expect(store.ready("/registry/secrets/", turn)).toBeUndefined();
  });

  test("is deleted for a watcher, and added once it is readable again", async () => {
    const watch = store.watch({ prefix: "/registry/secrets/", after: store.view.revision });
    await put("a", secret("a"));
    await put("a", "nothing");
    await put("a", "nothing else");
    await put("a", secret("a"));

    const batch = watch.take();

    const events = batch === undefined || batch === "end" ? [] : batch.events;
    const seen = events.map(({ before, after }) => [before !== undefined, after !== undefined]);
    expect(seen).toEqual([
      [false, true],
      [true, false],
      [false, true],
    ]);
    expect(store.unreadable("")).toEqual([]);
  });
});
