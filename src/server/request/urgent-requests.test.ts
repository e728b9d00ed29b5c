import { expect, test } from "vitest";
import { isUrgent } from "./urgent-requests.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

test.each([
  ["GET", "/readyz", undefined, true],
  ["GET", "/livez/etcd?verbose", undefined, true],
  ["GET", "/livezone", undefined, false],
  ["GET", "/api/v1/pods?x=/livez", "alice", false],
  ["PUT", `${LEASES}/node-1`, "system:node:node-1", true],
  ["PATCH", `${LEASES}/node-1?fieldManager=kubelet`, "system:node:node-1", true],
  ["GET", `${LEASES}/node-1`, "system:node:node-1", true],
  ["POST", LEASES, "system:node:node-1", true],
  ["PUT", `${LEASES}/node-1`, undefined, false],
  ["DELETE", `${LEASES}/node-1`, "alice", false],
  ["GET", `${LEASES}?watch=1`, "alice", false],
  ["PUT", `${LEASES}/node-1/status`, "alice", false],
] as const)("%s %s of user %s is urgent: %s", (...[method, target, user, expected]) => {
  expect(isUrgent({ method, target, user })).toBe(expected);
});
