import { describe, expect, test } from "vitest";
import { decodeObject, readEnvelope } from "../../../api/protobuf/envelope.ts";
import { builtInStruct } from "../../../api/schema/built-in-schema.ts";
import { Registry } from "../../objects/registry.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { parseRequest } from "../../request/parse-request.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { discoveryRoute } from "./discovery.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const route = discoveryRoute(new Registry([]));

async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse | undefined> {
  const request: AcceptedRequest = {
    headers: new Map(Object.entries(headers)),
    peer: undefined,
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array()),
  };
  return route({
    request,
    ...parseRequest("GET", path),
    user: undefined,
    notes: new RequestNotes(),
  });
}

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const response = await ask(path, headers);
  return response === undefined ? undefined : JSON.parse(Buffer.from(response.body as Uint8Array).toString());
}

describe("discovery", () => {
  test("the core group is served under /api, with and without a trailing slash", async () => {
    const expected = {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:6443" }],
    };

    expect(await read("/api", { host: "127.0.0.1:6443" })).toEqual(expected);
    expect(await read("/api/", { host: "127.0.0.1:6443" })).toEqual(expected);
  });

  test("groups are sorted by priority, each with its preferred version", async () => {
    const { groups } = (await read("/apis")) as { groups: { name: string; preferredVersion: unknown }[] };

    expect(groups.slice(0, 4).map(({ name }) => name)).toEqual([
      "apiregistration.k8s.io",
      "apps",
      "events.k8s.io",
      "authentication.k8s.io",
    ]);
    expect(groups.find(({ name }) => name === "autoscaling")?.preferredVersion).toEqual({
      groupVersion: "autoscaling/v2",
      version: "v2",
    });
    expect(await read("/apis/apps")).toMatchObject({
      kind: "APIGroup",
      name: "apps",
      versions: [{ version: "v1" }],
    });
  });

  test("the resources of a version include subresources", async () => {
    const { resources } = (await read("/api/v1")) as { resources: { name: string }[] };

    expect(resources.find(({ name }) => name === "pods")).toEqual({
      name: "pods",
      singularName: "pod",
      namespaced: true,
      kind: "Pod",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      shortNames: ["po"],
      categories: ["all"],
      storageVersionHash: "xPOwRZ+Yhw8=",
    });
    expect(resources.find(({ name }) => name === "pods/eviction")).toEqual({
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
  });

  test("aggregated discovery is one document, answered with 304 for its ETag", async () => {
    const accept = `${AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;
    const response = await ask("/apis", { accept });
    const again = await ask("/apis", { accept, "if-none-match": response?.headers.get("etag") ?? "" });

    const document = JSON.parse(Buffer.from(response?.body as Uint8Array).toString()) as { items: unknown[] };
    expect(response?.headers.get("content-type")).toBe(AGGREGATED);
    expect(document).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    expect(document.items[1]).toMatchObject({
      metadata: { name: "apps" },
      versions: [{ version: "v1", freshness: "Current" }],
    });
    expect(again?.status).toBe(304);
  });

  test("the beta form of aggregated discovery is no longer served", async () => {
    const beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

    await expect(ask("/apis", { accept: beta })).rejects.toMatchObject({ reason: "NotAcceptable" });
    expect(await read("/apis", { accept: `${beta},application/json` })).toMatchObject({
      kind: "APIGroupList",
    });
  });

  test("the aggregated core group has no name", async () => {
    const document = (await read("/api", { accept: AGGREGATED })) as {
      items: { versions: { resources: unknown[] }[] }[];
    };

    const resources = document.items[0]?.versions[0]?.resources as { resource: string }[];
    expect(resources.find(({ resource }) => resource === "serviceaccounts")).toMatchObject({
      responseKind: { group: "", version: "v1", kind: "ServiceAccount" },
      scope: "Namespaced",
      subresources: [
        {
          subresource: "token",
          responseKind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
        },
      ],
    });
  });

  test("plain documents have a protobuf form", async () => {
    const response = await ask("/apis/apps/v1", { accept: "application/vnd.kubernetes.protobuf" });

    const value = decodeObject(
      builtInStruct("meta.v1.APIResourceList"),
      readEnvelope(response?.body as Uint8Array),
    );
    expect(value).toMatchObject({ kind: "APIResourceList", groupVersion: "apps/v1" });
  });

  test("the root lists paths, the version names this build, and other paths are left to other routes", async () => {
    const { paths } = (await read("/")) as { paths: string[] };

    expect(paths).toEqual(
      expect.arrayContaining(["/api", "/api/v1", "/apis", "/apis/", "/apis/apps/v1", "/version"]),
    );
    expect(await read("/version")).toMatchObject({ major: "1", minor: "36", gitVersion: "v1.36.4+setpoint" });
    expect(await ask("/apis/none")).toBeUndefined();
  });
});
