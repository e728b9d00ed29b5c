import { describe, expect, test } from "vitest";
import { parseRequestInfo } from "./request-info.ts";

function parse(method: string, target: string): unknown {
  const [path = "", query = ""] = target.split("?");
  const info = parseRequestInfo(method, path, new URLSearchParams(query));
  if (info.type === "other") return info.path;
  const { verb, group, version, resource, namespace, name, subresource } = info;
  return [verb, group, version, resource, namespace, name, subresource].join("|");
}

describe("parseRequestInfo", () => {
  test.each([
    ["GET", "/api/v1/pods", "list||v1|pods|||"],
    ["GET", "/api/v1/pods?watch=true", "watch||v1|pods|||"],
    ["GET", "/api/v1/watch/pods", "watch||v1|pods|||"],
    ["GET", "/api/v1/namespaces/a/pods/b?watch=true", "get||v1|pods|a|b|"],
    ["GET", "/api/v1/namespaces/a/pods/b", "get||v1|pods|a|b|"],
    ["PUT", "/api/v1/namespaces/a/pods/b/status", "update||v1|pods|a|b|status"],
    ["GET", "/api/v1/namespaces", "list||v1|namespaces|||"],
    ["GET", "/api/v1/namespaces/a", "get||v1|namespaces||a|"],
    ["PUT", "/api/v1/namespaces/a/finalize", "update||v1|namespaces||a|finalize"],
    ["POST", "/apis/apps/v1/namespaces/a/deployments", "create|apps|v1|deployments|a||"],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "patch|apps|v1|deployments|a|b|"],
    ["DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection|apps|v1|deployments|a||"],
    [
      "DELETE",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
      "delete|rbac.authorization.k8s.io|v1|clusterroles||system:node|",
    ],
    ["GET", "/api/v1/nodes/a%2Fb", "get||v1|nodes||a/b|"],
    ["GET", "/healthz", "/healthz"],
    ["GET", "/api/v1", "/api/v1"],
    ["GET", "/apis/apps/v1/", "/apis/apps/v1/"],
    ["GET", "//api/v1/pods//", "list||v1|pods|||"],
    ["GET", "/api/v1//pods", "get||v1|||pods|"],
    ["GET", "/api/v1/namespaces/a/pods//log", "list||v1|pods|a||log"],
    ["GET", "/apis//v1/pods", "/apis//v1/pods"],
    ["GET", "/api/v1/pods/%zz", "/api/v1/pods/%zz"],
    ["PUT", "/api/v1/pods", "/api/v1/pods"],
    ["OPTIONS", "/api/v1/namespaces/a/pods/b", "/api/v1/namespaces/a/pods/b"],
    ["OPTIONS", "/api/v1/namespaces/a/pods/b/proxy/x", "get||v1|pods|a|b|proxy"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(parse(method, target)).toBe(expected);
  });
});
