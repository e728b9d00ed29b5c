import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kubeconfigText, serverUrl } from "./kubeconfig.ts";

describe("kubeconfigText", () => {
  test("holds one cluster, one user and one context, with all data in it", () => {
    const text = kubeconfigText({
      server: "https://[::1]:6443",
      ca: "authority",
      user: { cert: "certificate", key: "key" },
    });

    expect(parse(text)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "setpoint",
      clusters: [
        {
          name: "setpoint",
          cluster: { server: "https://[::1]:6443", "certificate-authority-data": btoa("authority") },
        },
      ],
      contexts: [{ name: "setpoint", context: { cluster: "setpoint", user: "setpoint" } }],
      users: [
        {
          name: "setpoint",
          user: { "client-certificate-data": btoa("certificate"), "client-key-data": btoa("key") },
        },
      ],
    });
  });
});

describe("serverUrl", () => {
  test.each([
    ["127.0.0.1", "https://127.0.0.1:6443"],
    ["::1", "https://[::1]:6443"],
    ["cluster.example", "https://cluster.example:6443"],
  ])("of %s is %s", (host, url) => {
    expect(serverUrl({ host, port: 6443 })).toBe(url);
  });
});
