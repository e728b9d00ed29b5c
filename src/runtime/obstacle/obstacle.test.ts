import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../api/api-object.ts";
import { ApiError, serviceUnavailable } from "../../api/errors/api-error.ts";
import { defineResource } from "../kinds/resource-definition.ts";
import { t } from "../kinds/schema-part.ts";
import { findObstacle, findRequestFailure } from "./obstacle.ts";

const LOOP = { loop: "badges" };
const Badge = defineResource({ group: "example.com", version: "v1", kind: "Badge", spec: t.object({}) });

function kindOf(apiVersion: string): ResourceType {
  return { apiVersion, kind: "Thing", plural: "things", namespaced: true };
}

function refusal(user: string, verb: string, resource: string): string {
  return `${resource} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "apps" at the cluster scope`;
}

describe("an obstacle", () => {
  test.each([
    [Badge, "the server does not serve Badge of example.com/v1", "setpoint crd MODULE | kubectl apply -f -"],
    [
      kindOf("cert.example.com/v1"),
      "the server does not serve Thing of cert.example.com/v1",
      "kubectl apply -f FILE with its CustomResourceDefinition",
    ],
    [
      kindOf("resource.k8s.io/v9"),
      "the server does not serve Thing of resource.k8s.io/v9",
      "kubectl api-resources --api-group=resource.k8s.io",
    ],
  ])("is a kind that the server does not serve", (type, what, remedy) => {
    const failure = { code: 404, message: "the server could not find the requested resource" };

    expect(findObstacle(failure, { ...LOOP, type })).toMatchObject({ what, remedy });
  });

  test.each([
    { user: "jo", verb: "list", role: "deployments-read --verb=get,list,watch", subject: "--user=jo" },
    {
      user: "jo's",
      verb: "patch",
      role: "deployments-write --verb=create,delete,patch,update",
      subject: `--user='jo'\\''s'`,
    },
    {
      user: "system:serviceaccount:shop:badges",
      verb: "watch",
      role: "deployments-read --verb=get,list,watch",
      subject: "--serviceaccount=shop:badges",
    },
  ])("is a missing permission: $user may not $verb", ({ user, verb, role, subject }) => {
    const found = findObstacle({ code: 403, message: refusal(user, verb, "deployments") }, LOOP);

    const [name = ""] = role.split(" ");
    expect(found).toMatchObject({
      what: `user ${user} may not ${verb} deployments.apps`,
      remedy:
        `kubectl create clusterrole badges-${role} --resource=deployments.apps && ` +
        `kubectl create clusterrolebinding badges-${name} --clusterrole=badges-${name} ${subject}`,
    });
  });

  test("is a missing permission for a subresource", () => {
    expect(
      findObstacle({ code: 403, message: refusal("jo", "patch", "deployments/scale") }, LOOP)?.remedy,
    ).toContain(
      "create clusterrole badges-deployments-scale-part --verb=get,patch,update --resource=deployments.apps/scale ",
    );
  });

  test("is granted in the namespace of a restricted loop only", () => {
    const message = refusal("jo", "list", "pods");

    expect(findObstacle({ code: 403, message }, { ...LOOP, namespace: "shop" })?.remedy).toContain(
      "kubectl create rolebinding --namespace shop badges-pods-read ",
    );
  });

  test.each([
    ["https://127.0.0.1:6443", "setpoint up"],
    ["https://api.example.com", "kubectl --server https://api.example.com get --raw /readyz"],
  ])("is a server that does not respond: %s", (server, remedy) => {
    const message = `no response from ${server}: connect ECONNREFUSED`;

    expect(findObstacle({ code: undefined, message }, LOOP)).toMatchObject({ what: message, remedy });
  });

  test.each([
    [{ code: 403, message: 'pods "x" is forbidden: exceeded quota' }],
    [{ code: 404, message: 'pods "x" not found' }],
    [{ code: 409, message: "conflict" }],
    [{ code: 500, message: "a bug" }],
    [{ code: undefined, message: "the server's response is not a list" }],
  ])("is not %j, which a change or a retry mends", (failure) => {
    expect(findObstacle(failure, LOOP)).toBeUndefined();
  });

  test("is found in an error of a pass", () => {
    const absent = new ApiError("NotFound", "no such path", {
      details: { group: "example.com", kind: "badges" },
    });
    const missing = new ApiError("NotFound", "no such badge", { details: { kind: "badges", name: "a" } });
    const found = (error: unknown): string | undefined => {
      const failure = findRequestFailure(error);
      return failure && findObstacle(failure, LOOP)?.what;
    };

    expect(found(absent)).toBe("the server does not serve badges.example.com");
    expect(found(missing)).toBeUndefined();
    expect(found(serviceUnavailable("no response from https://[::1]:1: reset"))).toContain("no response");
    expect(found(new Error("a bug"))).toBeUndefined();
  });
});
