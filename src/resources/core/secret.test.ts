import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { secret } from "./secret.ts";

const probe = new KindProbe(secret);

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

describe("a Secret", () => {
  test("stores stringData as data, and stringData wins", () => {
    const stored = probe.created({ data: { a: "b2xk", b: "Yg==" }, stringData: { a: "new" } });

    expect(stored).toMatchObject({ data: { a: base64("new"), b: "Yg==" }, type: "Opaque" });
    expect(stored).not.toHaveProperty("stringData");
  });

  test.each([
    [
      "kubernetes.io/service-account-token",
      {},
      ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ],
    ["kubernetes.io/dockerconfigjson", {}, ["data[.dockerconfigjson]: Required value"]],
    ["kubernetes.io/dockercfg", { ".dockercfg": base64("{}") }, []],
    [
      "kubernetes.io/dockercfg",
      { ".dockercfg": base64("[]") },
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      "kubernetes.io/dockerconfigjson",
      { ".dockerconfigjson": base64("x") },
      [
        `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character looking for beginning of value`,
      ],
    ],
    ["kubernetes.io/basic-auth", {}, ["data[username]: Required value", "data[password]: Required value"]],
    ["kubernetes.io/basic-auth", { password: "" }, []],
    ["kubernetes.io/ssh-auth", { "ssh-privatekey": "" }, ["data[ssh-privatekey]: Required value"]],
    ["kubernetes.io/tls", { "tls.crt": "" }, ["data[tls.key]: Required value"]],
    ["example.com/own", {}, []],
  ])("of type %s has the keys of its type: %#", (type, data, problems) => {
    expect(probe.problems({ type, data })).toEqual(problems);
  });

  test("has at most one MiB, counted in bytes", () => {
    const full = Buffer.alloc(2 ** 20).toString("base64");

    expect(probe.problems({ data: { a: full } })).toEqual([]);
    expect(probe.problems({ data: { a: full, b: "AA==" } })).toEqual([
      "data: Too long: may not be more than 1048576 bytes",
    ]);
  });

  test("has an immutable type", () => {
    expect(probe.updateProblems({ type: "a" }, {})).toEqual(['type: Invalid value: "a": field is immutable']);
    expect(probe.updateProblems({ data: { a: "AA==" } }, {})).toEqual([]);
  });

  test("keeps its data once immutable", () => {
    const detail = "Forbidden: field is immutable when `immutable` is set";

    expect(probe.updateProblems({ stringData: { a: "2" } }, { immutable: true })).toEqual([
      `immutable: ${detail}`,
      `data: ${detail}`,
    ]);
  });

  test("is selectable by type and shows the number of its keys", () => {
    expect(probe.fields({})).toEqual({ type: "Opaque" });
    expect(probe.cells({ stringData: { a: "1" } })).toEqual(["it", "Opaque", 1, "2m5s"]);
  });
});
