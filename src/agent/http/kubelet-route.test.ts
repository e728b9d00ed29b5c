import { describe, expect, test } from "vitest";
import { findRoute, neededRights } from "./kubelet-route.ts";

const WEB = { namespace: "shop", pod: "web", uid: undefined, container: "app" };

describe("a path of the kubelet's API", () => {
  test.each([
    ["/healthz", { type: "page", page: "healthz" }],
    ["/runningpods/", { type: "page", page: "running-pods" }],
    ["/metrics/resource", { type: "page", page: "metrics-resource" }],
    ["/containerLogs/shop/web/app", { type: "logs", place: WEB }],
    ["/exec/shop/web/app", { type: "exec", place: WEB }],
    ["/attach/shop/web/123/app", { type: "attach", place: { ...WEB, uid: "123" } }],
    [
      "/portForward/shop/web",
      { type: "port-forward", place: { namespace: "shop", pod: "web", uid: undefined } },
    ],
  ])("%s is found", (path, route) => {
    expect(findRoute(path)).toEqual(route);
  });

  test.each([
    "/",
    "/logs/",
    "/checkpoint/shop/web/app",
    "/containerLogs/shop/web",
    "/containerLogs/shop/web/123/app",
    "/exec/shop/web/123/app/more",
    "/exec//web/app",
    "/pods/../exec/shop/web/app",
    "/exec/shop/web%2Fapp",
    "/exec/%zz/web/app",
  ])("%s is unknown", (path) => {
    expect(findRoute(path)).toBeUndefined();
  });
});

describe("a request to the kubelet's API", () => {
  test.each([
    ["GET", "/pods", "get pods,proxy"],
    ["GET", "/configz", "get configz,proxy"],
    ["GET", "/stats/summary", "get stats"],
    ["GET", "/metrics/cadvisor", "get metrics"],
    ["GET", "/metrics/probes", "get metrics"],
    ["GET", "/containerLogs/shop/web/app", "get proxy"],
    ["POST", "/portForward/shop/web", "create proxy"],
    ["DELETE", "/nothing", "delete proxy"],
  ])("%s %s needs: %s", (method, path, expected) => {
    const { verb, subresources } = neededRights(method, findRoute(path));

    expect(`${verb} ${subresources.join()}`).toBe(expected);
  });

  test("that opens a stream needs the right to create, also over a WebSocket", () => {
    expect(neededRights("GET", findRoute("/exec/shop/web/app")).verb).toBe("create");
  });
});
