/** Metrics that common alerts use exist under their names and labels. */
import { describe, expect, test } from "vitest";
import { TestApi, watchEvents } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** Value of a series, in any order of labels; undefined if there is none. */
async function sample(
  api: TestApi,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const { bytes } = await api.send("GET", "/metrics");
  for (const line of bytes.toString().split("\n")) {
    const [, series, text = "", value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (series !== name) continue;
    const found = new Set(text.match(/\w+="[^"]*"/g));
    if (Object.entries(labels).every(([key, is]) => found.has(`${key}="${is}"`))) return Number(value);
  }
  return undefined;
}

const CORE = { group: "", version: "v1", resource: "configmaps", subresource: "", component: "apiserver" };

describe("metrics", () => {
  test.each([
    [
      "POST",
      MAPS,
      { metadata: { name: "a" } },
      { verb: "POST", scope: "resource", code: "201", dry_run: "" },
    ],
    [
      "POST",
      `${MAPS}?dryRun=All`,
      { metadata: { name: "a" } },
      { verb: "POST", scope: "resource", code: "201", dry_run: "All" },
    ],
    ["GET", MAPS, undefined, { verb: "LIST", scope: "namespace", code: "200", dry_run: "" }],
    ["GET", "/api/v1/configmaps", undefined, { verb: "LIST", scope: "cluster", code: "200", dry_run: "" }],
    ["GET", `${MAPS}/none`, undefined, { verb: "GET", scope: "resource", code: "404", dry_run: "" }],
    ["PUT", `${MAPS}/none`, { metadata: { name: "none" } }, { verb: "PUT", scope: "resource" }],
    ["DELETE", MAPS, undefined, { verb: "DELETECOLLECTION", scope: "namespace", code: "200" }],
  ] as const)("%s %s is counted and timed", async (method, target, body, labels) => {
    await using api = await TestApi.start();

    await api.send(method, target, body);

    expect(await sample(api, "apiserver_request_total", { ...CORE, ...labels })).toBe(1);
    const { verb, scope } = labels;
    const timed = { ...CORE, verb, scope };
    expect(await sample(api, "apiserver_request_duration_seconds_count", timed)).toBe(1);
    expect(await sample(api, "apiserver_request_sli_duration_seconds_count", timed)).toBe(1);
  });

  test("an apply is told from other patches", async () => {
    await using api = await TestApi.start();
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

    await api.send("PATCH", `${MAPS}/a?fieldManager=m`, body, { type: "application/apply-patch+yaml" });
    await api.send("PATCH", `${MAPS}/a`, {}, { type: "application/merge-patch+json" });

    expect(await sample(api, "apiserver_request_total", { ...CORE, verb: "APPLY" })).toBe(1);
    expect(await sample(api, "apiserver_request_total", { ...CORE, verb: "PATCH" })).toBe(1);
  });

  test("a watch is counted while it is open", async () => {
    await using api = await TestApi.start();
    const labels = { ...CORE, verb: "WATCH", scope: "namespace" };
    const ending = new AbortController();
    await api.send("POST", MAPS, { metadata: { name: "a" } });
    const response = await api.raw("GET", `${MAPS}?watch=true`, undefined, { signal: ending.signal });
    const events = watchEvents(response);

    await events.next();
    const open = await sample(api, "apiserver_longrunning_requests", labels);
    ending.abort();
    await events.return(undefined);

    expect(open).toBe(1);
    expect(await sample(api, "apiserver_longrunning_requests", labels)).toBe(0);
    expect(await sample(api, "apiserver_request_sli_duration_seconds_count", labels)).toBeUndefined();
  });

  test("requests under way are counted by kind", async () => {
    await using api = await TestApi.start();

    // The request that asks is in flight itself.
    expect(await sample(api, "apiserver_current_inflight_requests", { request_kind: "readOnly" })).toBe(1);
    expect(await sample(api, "apiserver_current_inflight_requests", { request_kind: "mutating" })).toBe(0);
  });

  test("stored objects are counted by resource", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, { metadata: { name: "a" } });

    expect(await sample(api, "apiserver_storage_objects", { resource: "configmaps" })).toBe(1);
    expect(await sample(api, "apiserver_storage_objects", { resource: "deployments.apps" })).toBe(0);
    const labels = { group: "", resource: "configmaps" };
    expect(await sample(api, "apiserver_resource_objects", labels)).toBe(1);
  });

  test("writes are timed by what became of them", async () => {
    await using api = await TestApi.start();
    const before = (await sample(api, "setpoint_store_write_duration_seconds_count", { outcome: "ok" })) ?? 0;

    await api.send("POST", MAPS, { metadata: { name: "a" } });
    await api.send("POST", `${MAPS}?dryRun=All`, { metadata: { name: "b" } });

    const after = await sample(api, "setpoint_store_write_duration_seconds_count", { outcome: "ok" });
    expect(after).toBe(before + 1);
  });

  test("writes are timed by what they do and to what", async () => {
    await using api = await TestApi.start();
    const timed = (operation: string): Promise<number | undefined> =>
      sample(api, "etcd_request_duration_seconds_count", { operation, group: "", resource: "configmaps" });

    await api.send("POST", MAPS, { metadata: { name: "a" } });
    await api.send("PATCH", `${MAPS}/a`, { data: { a: "b" } }, { type: "application/merge-patch+json" });
    await api.send("PATCH", `${MAPS}/a`, { data: { a: "c" } }, { type: "application/merge-patch+json" });
    await api.send("DELETE", `${MAPS}/a`);

    expect([await timed("create"), await timed("update"), await timed("delete")]).toEqual([1, 2, 1]);
  });

  test("answers to reads are measured, those to writes are not", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, { metadata: { name: "a" } });
    const { bytes } = await api.send("GET", `${MAPS}/a`);
    await api.send("GET", MAPS);

    const sizes = "apiserver_response_sizes";
    expect(await sample(api, `${sizes}_sum`, { ...CORE, verb: "GET" })).toBe(bytes.length);
    expect(await sample(api, `${sizes}_count`, { ...CORE, verb: "LIST", scope: "namespace" })).toBe(1);
    expect(await sample(api, `${sizes}_count`, { ...CORE, verb: "POST" })).toBeUndefined();
  });

  test("events of watches are counted", async () => {
    await using api = await TestApi.start();
    const ending = new AbortController();
    for (const name of ["a", "b"]) await api.send("POST", MAPS, { metadata: { name } });
    const events = watchEvents(
      await api.raw("GET", `${MAPS}?watch=true`, undefined, { signal: ending.signal }),
    );
    for (let i = 0; i < 2; i++) await events.next();
    await api.send("DELETE", `${MAPS}/a`);
    await events.next();
    ending.abort();
    await events.return(undefined);

    const labels = { group: "", version: "v1", resource: "configmaps" };
    expect(await sample(api, "apiserver_watch_events_total", labels)).toBe(3);
    expect(await sample(api, "apiserver_watch_events_total", labels)).toBe(3);
    const { group, resource } = labels;
    expect(await sample(api, "apiserver_terminated_watchers_total", { group, resource })).toBe(0);
  });

  test("what is deprecated is told once it was asked for", async () => {
    await using api = await TestApi.start();
    const labels = { group: "", version: "v1", resource: "endpoints", removed_release: "" };
    expect(await sample(api, "apiserver_requested_deprecated_apis", labels)).toBeUndefined();

    await api.send("GET", "/api/v1/endpoints");

    expect(await sample(api, "apiserver_requested_deprecated_apis", labels)).toBe(1);
  });

  test("how long certificates of clients are still good is told", async () => {
    await using api = await TestApi.start();
    const as = { user: "admin", groups: ["system:masters"], expiresAt: Date.now() + 3_000_000 };
    await api.send("GET", MAPS, undefined, { as });

    const { bytes } = await api.send("GET", "/metrics");
    const buckets = bytes.toString().match(/apiserver_client_certificate_expiration_seconds_bucket.*/g) ?? [];
    expect(buckets.slice(0, 3)).toEqual([
      expect.stringMatching(/le="0"\} 0$/),
      expect.stringMatching(/le="1800"\} 0$/),
      expect.stringMatching(/le="3600"\} 1$/),
    ]);
  });

  test("what clients make up adds no series", async () => {
    await using api = await TestApi.start();
    await api.send("GET", "/metrics");
    await api.send("GET", "/api/v1/nonsense");
    await api.send("GET", `${MAPS}/a/nonsense`);
    await api.send("GET", "/nonsense");
    const lines = async (): Promise<number> =>
      (await api.send("GET", "/metrics")).bytes.toString().split("\n").length;
    const before = await lines();

    for (let i = 0; i < 20; i++) {
      await api.send("GET", `/api/v1/nonsense${i}`);
      await api.send("GET", `${MAPS}/a/nonsense${i}`);
      await api.send("GET", `/nonsense${i}`);
      await api.send("GET", `/apis/group${i}/v1/pods?dryRun=nonsense${i}`);
    }

    expect(await lines()).toBe(before);
  });

  test("the version is told", async () => {
    await using api = await TestApi.start();

    expect(await sample(api, "kubernetes_build_info", { major: "1", minor: "36" })).toBe(1);
  });
});
