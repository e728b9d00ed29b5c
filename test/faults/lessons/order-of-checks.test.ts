/**
 * Authorization comes before work: the server reads no byte of a body before the caller may make the request, by any method and in any
 * form. Rights depend on the action, not on the HTTP method.
 */
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../src/server/request/http.ts";
import { TestApi, text } from "../../api-harness.ts";
import { defineKind, made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const POD = "/api/v1/namespaces/default/pods/p";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** A server where Bob has these rules. */
async function withBob(...rules: readonly object[]): Promise<TestApi> {
  const api = await TestApi.start();
  await made(api.send("POST", `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules }));
  await made(
    api.send("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: "r" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }],
    }),
  );
  return api;
}

const BOB = { as: { user: "bob", groups: [] } };

describe("the body of a request that may not be made", () => {
  const CASES = [
    ["POST", MAPS, "application/json"],
    ["PUT", `${MAPS}/a`, "application/json"],
    ["PATCH", `${MAPS}/a`, "application/merge-patch+json"],
    ["PATCH", `${MAPS}/a?fieldManager=x`, "application/apply-patch+yaml"],
    ["DELETE", `${MAPS}/a`, "application/json"],
    ["DELETE", MAPS, "application/json"],
    ["POST", `${POD}/exec`, "application/json"],
    ["POST", `${POD}/eviction`, "application/json"],
    ["POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "application/json"],
    ["POST", "/apis/example.com/v1/namespaces/default/things", "application/json"],
    ["POST", "/nothing", "application/json"],
  ] as const;

  test.each([
    ["of somebody without rights", { user: "bob", groups: [] }, 403],
    ["of nobody", undefined, 403],
    ["of somebody whose token is wrong", undefined, 401],
  ] as const)("%s is not read", async (_who, peer, code) => {
    await using api = await TestApi.start();
    await defineKind(api, { plural: "things" });

    for (const [method, target, type] of CASES) {
      let wasRead = false;
      const headers = new Map<string, string>([["content-type", type]]);
      if (code === 401) headers.set("authorization", "Bearer wrong");
      const request: HttpRequest = {
        method,
        target,
        headers,
        peer,
        signal: new AbortController().signal,
        readBody: () => {
          wasRead = true;
          return Promise.resolve(Buffer.from("{"));
        },
      };

      const { status } = await api.handler(request);

      expect([method, target, status, wasRead]).toEqual([method, target, code, false]);
    }
  });
});

describe("exec, attach, port-forward and proxy", () => {
  const STREAMS = ["exec", "attach", "portforward", "proxy"];
  const rule = (verbs: readonly string[]): object => ({
    apiGroups: [""],
    resources: STREAMS.map((one) => `pods/${one}`),
    verbs,
  });

  test.each(["exec", "attach", "portforward"])(
    "%s needs the right to create, by whatever method",
    async (stream) => {
      await using api = await withBob(rule(["get", "list", "watch", "update", "patch", "delete"]));
      const headers = { connection: "upgrade", upgrade: "websocket" };

      for (const method of ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE"]) {
        for (const target of [`${POD}/${stream}`, `${POD}/${stream}?command=id`, `/${POD}/${stream}/`]) {
          const { code } = await api.send(method, target, undefined, { ...BOB, headers });
          const expected = target.startsWith("//") ? [400] : [403, 405];
          expect([method, target, expected.includes(code)]).toEqual([method, target, true]);
        }
      }
    },
  );

  test("of a node needs it too: the right to read nodes/proxy runs nothing", async () => {
    await using api = await withBob({ apiGroups: [""], resources: ["nodes/proxy"], verbs: ["get"] });
    const headers = new Map(Object.entries({ connection: "upgrade", upgrade: "websocket" }));
    const paths = [
      "exec/default/p/a",
      "run/default/p/a",
      "attach/default/p/a",
      "portForward/default/p",
      "%65xec/default/p/a",
    ];
    const codeOf = async (method: string, target: string, isUpgrade: boolean): Promise<number> => {
      const { signal } = new AbortController();
      const readBody = (): Promise<Uint8Array> => Promise.resolve(new Uint8Array());
      const answer = await api.handler({
        ...{ method, target, headers, isUpgrade, signal, readBody },
        peer: BOB.as,
      });
      return answer.status;
    };

    for (const path of paths) {
      const target = `/api/v1/nodes/n/proxy/${path}?command=id`;
      expect([target, await codeOf("GET", target, true)]).toEqual([target, 403]);
      expect([target, await codeOf("HEAD", target, true)]).toEqual([target, 403]);
      // There is no such node.
      expect([target, await codeOf("GET", target, false)]).toEqual([target, 404]);
    }
  });
});

describe("without a name, the server", () => {
  test("answers only the requests that a role of all users allows", async () => {
    await using api = await TestApi.start();
    const paths = [
      "/",
      "/api",
      "/apis",
      "/openapi/v2",
      "/metrics",
      "/debug/pprof/",
      "/debug/api_priority_and_fairness/dump_requests",
      "/logs",
      "/configz",
      "/.well-known/openid-configuration",
      MAPS,
    ];
    const ask = async (target: string): Promise<number> => {
      const { status } = await api.handler({
        method: "GET",
        target,
        headers: new Map(),
        peer: undefined,
        signal: new AbortController().signal,
        readBody: () => Promise.resolve(Buffer.alloc(0)),
      });
      return status;
    };

    const codes = await Promise.all(paths.map(ask));

    expect(codes).toEqual(paths.map(() => 403));
  });

  test("has no profiler at all", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("GET", "/debug/pprof/profile");

    expect([code, text(body["message"])]).toEqual([404, ""]);
  });
});
