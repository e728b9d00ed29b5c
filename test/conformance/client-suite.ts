/** Guarantees of the client over every transport: the same tests run over HTTPS and in the process, against the real server. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { isApiError } from "../../src/api/errors/api-error.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { apiInteger } from "../../src/api/values/plain-number.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createClient } from "../../src/client/api-client.ts";
import type { Client, WatchEvent, WriteResult } from "../../src/client/client.ts";
import { resourceType } from "../../src/client/resource-type.ts";
import type { Transport } from "../../src/client/transport.ts";
import { TestApi } from "../api-harness.ts";

const loop = createRealLoop({ name: "test" });

/** Makes a transport that is closed at the end of the test. */
export type MakeTransport = (api: TestApi) => Promise<Transport>;

interface World {
  readonly api: TestApi;
  readonly client: Client;
}

const namespace = "default";

export function clientSuite(name: string, makeTransport: MakeTransport): void {
  async function start(): Promise<World> {
    const api = await TestApi.start();
    onTestFinished(() => api[Symbol.asyncDispose]());
    const transport = await makeTransport(api);
    onTestFinished(() => transport.close());
    return { api, client: createClient(transport, { loop, userAgent: "suite/1" }) };
  }

  describe(`a client ${name}`, () => {
    test("creates, reads, changes and deletes", async () => {
      const { client } = await start();
      const maps = client(ConfigMap);

      const created = await maps.create({ metadata: { name: "a" }, data: { k: "1" } });
      const updated = await maps.update({ ...created, data: { k: "2" } });
      const merged = await maps.patch(updated, { type: "merge", changes: { data: { m: "3" } } });
      const replace = { op: "replace", path: "/data/k", value: "4" } as const;
      const patched = await maps.patch({ name: "a" }, { type: "json", operations: [replace] });
      const strategic = await maps.patch(created, { type: "strategic", changes: { data: { s: "5" } } });
      const read = await maps.get(created);
      await maps.delete(read);

      expect(created).toMatchObject({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", namespace },
      });
      expect([updated.data, merged.data, patched.data]).toEqual([
        { k: "2" },
        { k: "2", m: "3" },
        { k: "4", m: "3" },
      ]);
      expect(read).toEqual(strategic);
      expect(await maps.find(created)).toBeUndefined();
    });

    test("says that a kind is not served, instead of finding no object of it", async () => {
      const { client } = await start();
      const Widget = resourceType({
        apiVersion: "example.com/v1",
        kind: "Widget",
        plural: "widgets",
        namespaced: true,
      });

      const failure = await client(Widget)
        .find({ name: "a" })
        .catch((error: unknown) => error);

      expect(failure).toMatchObject({
        reason: "NotFound",
        message: "the server does not serve the kind Widget of example.com/v1 at the path of widgets",
      });
    });

    test("applies objects of any kind, as its own field manager", async () => {
      const { client } = await start();
      const mine = client.with({ fieldManager: "me" });
      const manifest = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a" },
        data: { k: "1" },
      } as const;

      await mine.apply(manifest);
      const conflict = await client
        .apply({ ...manifest, ...{ data: { k: "2" } } })
        .catch((error: unknown) => error);
      const forced = await client(ConfigMap).apply({ ...manifest, data: { k: "2" } }, { force: true });

      expect(conflict).toMatchObject({ reason: "Conflict", details: { causes: [{ field: ".data.k" }] } });
      expect(forced.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["suite"]);
    });

    test("tells refusals with their reason and details", async () => {
      const { client } = await start();
      const maps = client(ConfigMap);
      const created = await maps.create({ metadata: { name: "a" } });
      await maps.update({ ...created, data: { k: "1" } });
      const reason = async (call: Promise<unknown>): Promise<unknown> =>
        call.catch((error: unknown) => (isApiError(error) ? error.reason : error));

      expect(await reason(maps.get({ name: "none" }))).toBe("NotFound");
      expect(await reason(maps.create({ metadata: { name: "a" } }))).toBe("AlreadyExists");
      expect(await reason(maps.update({ ...created, data: { k: "2" } }))).toBe("Conflict");
      expect(await reason(maps.list({ labelSelector: "!!" }))).toBe("BadRequest");
      expect(await reason(client.request({ path: "/apis/none/v1" }))).toBe("NotFound");
      await expect(maps.create({ metadata: { name: "A_" } })).rejects.toMatchObject({
        reason: "Invalid",
        details: { kind: "ConfigMap", causes: [{ field: "metadata.name" }] },
      });
    });

    test("deletes an object that was read only while it is the same one", async () => {
      const { client } = await start();
      const first = await client(ConfigMap).create({ metadata: { name: "a" } });
      await client(ConfigMap).delete({ name: "a" });
      const second = await client(ConfigMap).create({ metadata: { name: "a" } });

      const deleting = client(ConfigMap).delete(first);

      await expect(deleting).rejects.toMatchObject({ reason: "Conflict" });
      expect(await client(ConfigMap).get(first)).toEqual(second);
    });

    test("lists by selectors, and deletes many by them", async () => {
      const { client } = await start();
      for (const app of ["a", "b"])
        await client(ConfigMap).create({ metadata: { name: app, labels: { app } } });

      const [one] = (await client(ConfigMap).list({ namespace, labelSelector: "app=a" })).items;
      const { items } = await client(ConfigMap).list({ fieldSelector: "metadata.name=b" });
      await client(ConfigMap).deleteCollection({ namespace, labelSelector: "app=a" });

      expect(one).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
      expect(await names(client)).toEqual(["b"]);
    });

    test("reads long lists in pages of one revision", async () => {
      const { client } = await start();
      for (const map of ["a", "b", "c"]) await client(ConfigMap).create({ metadata: { name: map } });

      const pages: string[][] = [];
      const revisions = new Set<string>();
      for await (const { items, metadata } of client(ConfigMap).pages({ namespace, limit: 2 })) {
        pages.push(items.map(({ metadata: { name: item } }) => item));
        revisions.add(metadata.resourceVersion);
        await client(ConfigMap).create({ metadata: { name: `x${pages.length}` } });
      }

      expect(pages).toEqual([["a", "b"], ["c"]]);
      expect(revisions.size).toBe(1);
    });

    test("reads pages of a revision that is not older than the one asked for", async () => {
      const { client } = await start();
      const { metadata } = await client(ConfigMap).create({ metadata: { name: "a" } });
      await client(ConfigMap).create({ metadata: { name: "b" } });

      const { resourceVersion } = metadata;
      const seen: string[] = [];
      for await (const { items } of client(ConfigMap).pages({ namespace, resourceVersion })) {
        seen.push(...items.map((item) => item.metadata.name));
      }

      expect(seen).toEqual(["a", "b"]);
    });

    test("goes on with a list of any revision", async () => {
      const { client } = await start();
      for (const map of ["a", "b"]) await client(ConfigMap).create({ metadata: { name: map } });
      const { metadata } = await client(ConfigMap).list({ namespace, limit: 1 });

      const rest = { namespace, limit: 1, continue: metadata.continue ?? "", resourceVersion: "0" };
      const { items } = await client(ConfigMap).list(rest);

      expect(items.map((item) => item.metadata.name)).toEqual(["b"]);
    });

    test("goes on with a list whose revision the server has forgotten meanwhile", async () => {
      const { api, client } = await start();
      for (const map of ["a", "b", "c"]) await client(ConfigMap).create({ metadata: { name: map } });

      const seen: string[] = [];
      for await (const { items } of client(ConfigMap).pages({ namespace, limit: 1 })) {
        seen.push(...items.map(({ metadata }) => metadata.name));
        if (seen.length === 1) {
          await client(ConfigMap).create({ metadata: { name: "d" } });
          await api.store.compact(api.store.view.revision);
        }
      }

      expect(seen).toEqual(["a", "b", "c", "d"]);
    });

    test("watches from a revision on", async () => {
      const { client } = await start();
      const { metadata } = await client(ConfigMap).list({ namespace });
      const created = await client(ConfigMap).create({ metadata: { name: "a" }, data: { k: "ä日💧" } });
      const changed = await client(ConfigMap).patch(created, {
        type: "merge",
        changes: { data: { k: "2" } },
      });
      await client(ConfigMap).delete(changed);

      const watch = await client(ConfigMap).watch({ namespace, resourceVersion: metadata.resourceVersion });
      const events = await taken(watch, 3);

      expect(events.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
      expect(events.slice(0, 2).map(objectOf)).toEqual([created, changed]);
    });

    test("watches what is there and then what comes", async () => {
      const { client } = await start();
      await client(ConfigMap).create({ metadata: { name: "a" } });

      const options = { namespace, sendInitialEvents: true, allowBookmarks: true };
      const iterator = (await client(ConfigMap).watch(options))[Symbol.asyncIterator]();
      const initial = await untilInitialEnd(iterator);
      await client(ConfigMap).create({ metadata: { name: "b" } });
      const next = await iterator.next();
      await iterator.return?.();

      expect(initial.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
      expect(next.done === true ? [] : next.value.map((event) => objectOf(event)?.metadata.name)).toEqual([
        "b",
      ]);
    });

    test("a watch from a revision that is gone says so", async () => {
      const { api, client } = await start();
      await client(ConfigMap).create({ metadata: { name: "a" } });
      await client(ConfigMap).create({ metadata: { name: "b" } });
      await api.store.compact(api.store.view.revision);

      const watching = client(ConfigMap)
        .watch({ resourceVersion: "1" })
        .then((watch) => taken(watch, 1));

      await expect(watching).rejects.toMatchObject({ reason: "Expired" });
    });

    test("a watch that is aborted rejects with the reason, also while nothing comes", async () => {
      const { client } = await start();
      const ending = new AbortController();
      const watch = await client.with({ signal: ending.signal })(Node).watch();

      const reading = taken(watch, 1);
      ending.abort(new Error("enough"));

      await expect(reading).rejects.toThrow("enough");
    });

    test("a watch that is left ends for its waiting reader", async () => {
      const { client } = await start();
      const iterator = (await client(Node).watch())[Symbol.asyncIterator]();

      const waiting = iterator.next();
      await iterator.return?.();

      expect(await waiting).toMatchObject({ done: true });
      expect(await iterator.next()).toMatchObject({ done: true });
    });

    test("a call that is aborted before it begins asks nothing", async () => {
      const { api, client } = await start();
      const { revision } = api.store.view;
      const options = { signal: AbortSignal.abort(new Error("before")) };

      const creating = client(ConfigMap).create({ metadata: { name: "a" } }, options);

      await expect(creating).rejects.toThrow("before");
      expect(api.store.view.revision).toBe(revision);
    });

    test("writes statuses, guarded by the version that was read", async () => {
      const { client } = await start();
      const node = await client(Node).create({ metadata: { name: "n" } });

      const updated = await client(Node).updateStatus(node, { phase: "Running" });
      const again = client(Node).updateStatus(node, { phase: "Pending" });

      expect(updated.status.phase).toBe("Running");
      await expect(again).rejects.toMatchObject({ reason: "Conflict" });
    });

    test("scales, and reaches subresources", async () => {
      const { client } = await start();
      const web = await client(Deployment).create(deployment("web"));
      const account = await client(ServiceAccount).create({ metadata: { name: "robot" } });

      const scale = await client(Deployment).scale(web, 5);
      const read = await client(Deployment).subresource("scale").get(web);
      const token = await client(ServiceAccount).subresource("token").create(account, { spec: {} });

      expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 5 } });
      expect(read).toEqual(scale);
      expect((await client(Deployment).get(web)).spec.replicas).toBe(5);
      expect(token).toMatchObject({
        kind: "TokenRequest",
        status: { token: expect.stringContaining(".") as string },
      });
    });

    test("reports the outcome of each write to its observer", async () => {
      const { client } = await start();
      const written: WriteResult[] = [];
      const mine = client.with({ onWrite: (one) => written.push(one) });

      const created = await mine(ConfigMap).create({
        metadata: { name: "a", finalizers: ["example.com/x"] },
      });
      await mine(ConfigMap).delete(created);
      await mine(ConfigMap).patch(created, { type: "merge", changes: { metadata: { finalizers: null } } });
      const free = await mine(ConfigMap).create({ metadata: { name: "b" } });
      await mine(ConfigMap).delete(free);
      const space = await mine(Namespace).create({
        metadata: { name: "s" },
        spec: { finalizers: ["kubernetes"] },
      });
      await mine(Namespace).delete(space);
      const pod = await mine(Pod).create(podNamed("p"));
      await mine(Pod).delete(pod);
      await mine(ConfigMap).create({ metadata: { name: "c" } }, { dryRun: "All" });

      expect(written.map(({ object, outcome }) => `${object.metadata.name ?? ""} ${outcome}`)).toEqual([
        "a stored",
        "a marked",
        "a deleted",
        "b stored",
        "b deleted",
        "s stored",
        "s marked",
        "p stored",
        "p deleted",
      ]);
      expect(written[4]?.object).toEqual(free);
    });

    test("finds what is served", async () => {
      const { client } = await start();

      expect(await client.findType("apps/v1", "Deployment")).toEqual(Deployment);
      expect(await client.findType("apps/v1", "Fleet")).toBeUndefined();
      expect(await client.findType("none.example.com/v1", "Fleet")).toBeUndefined();
      expect(await client.request({ path: "/version" })).toMatchObject({ major: "1" });
    });

    test("reads metadata alone", async () => {
      const { client } = await start();
      const created = await client(ConfigMap).create({ metadata: { name: "a" }, data: { k: "secret" } });
      const form = "metadata";

      const one = await client(ConfigMap).get(created, { form });
      const { items, metadata } = await client(ConfigMap).list({ namespace, form });
      const { resourceVersion } = metadata;
      await client(ConfigMap).delete(created);
      const [event] = await taken(await client(ConfigMap).watch({ namespace, form, resourceVersion }), 1);

      expect(items).toEqual([one]);
      for (const seen of [one, items[0], event && objectOf(event)]) {
        expect(seen).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
        expect(seen).not.toHaveProperty("data");
      }
    });

    test("integers beyond 2^53 are exact both ways", async () => {
      const { client } = await start();
      const tolerationSeconds = apiInteger(9_007_199_254_740_993n);
      const tolerations = [{ operator: "Exists", effect: "NoExecute", tolerationSeconds } as const];
      const { spec, ...others } = podNamed("p");

      const created = await client(Pod).create({ ...others, spec: { ...spec, tolerations } });
      const { items } = await client(Pod).list({ namespace });

      expect(created.spec.tolerations?.[0]?.tolerationSeconds).toBe(tolerationSeconds);
      expect(items[0]?.spec.tolerations?.[0]?.tolerationSeconds).toBe(tolerationSeconds);
    });

    test("a hundred calls at once share a signal without a warning", async () => {
      const { client } = await start();
      const ending = new AbortController();
      const warnings: Error[] = [];
      const note = (warning: Error): void => void warnings.push(warning);
      process.on("warning", note);
      onTestFinished(() => void process.off("warning", note));
      const mine = client.with({ signal: ending.signal });

      await Promise.all(
        Array.from({ length: 100 }, (_, at) => mine(ConfigMap).create({ metadata: { name: `m${at}` } })),
      );
      await new Promise(setImmediate);

      expect(warnings).toEqual([]);
      expect(await names(client)).toHaveLength(100);
    });
  });
}

async function names(client: Client): Promise<readonly string[]> {
  return (await client(ConfigMap).list({ namespace })).items.map(({ metadata }) => metadata.name);
}

/** Takes this many events and then leaves the watch. */
async function taken<T>(
  watch: AsyncIterable<readonly WatchEvent<T>[]>,
  count: number,
): Promise<readonly WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = [];
  for await (const batch of watch) {
    events.push(...batch);
    if (events.length >= count) break;
  }
  return events;
}

function objectOf<T extends ApiObject>(event: WatchEvent<T>): T | undefined {
  return event.type === "BOOKMARK" ? undefined : event.object;
}

async function untilInitialEnd<T>(
  iterator: AsyncIterator<readonly WatchEvent<T>[]>,
): Promise<readonly WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = [];
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) throw new Error("the watch ended before everything there was had been sent");
    events.push(...next.value);
    if (events.some((event) => event.type === "BOOKMARK" && event.isInitialEnd)) return events;
  }
}

const containers = [{ name: "main", image: "main:1" }];

function podNamed(name: string) {
  return { metadata: { name }, spec: { containers } } as const;
}

function deployment(name: string) {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  } as const;
}
