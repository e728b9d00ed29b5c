import { describe, expect, test } from "vitest";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import type { AuthorizerOptions } from "../authz/authorization-options.ts";
import type { AnonymousRule } from "./anonymous.ts";
import { AuthenticationFixture } from "./fixture.ts";

const SECRETS = "/api/v1/secrets";
const WARNING = "anonymous access is off, because AlwaysAllow would make every client an administrator";

function started(
  types: readonly ("Node" | "RBAC" | "AlwaysAllow" | "AlwaysDeny")[],
  anonymous?: AnonymousRule,
): Promise<AuthenticationFixture> {
  const authorizers: readonly AuthorizerOptions[] = types.map((type) => ({ type }));
  return AuthenticationFixture.start({ anonymous }, createRealLoop({ name: "test" }), authorizers);
}

async function codeFor(fixture: AuthenticationFixture, target: string): Promise<number> {
  return (await fixture.ask({ method: "GET", target, from: {} })).code;
}

describe("a client without credentials", () => {
  test.each([
    ["AlwaysAllow alone", ["AlwaysAllow"], undefined],
    ["AlwaysAllow behind others", ["Node", "RBAC", "AlwaysAllow"], undefined],
    ["AlwaysAllow before AlwaysDeny", ["AlwaysAllow", "AlwaysDeny"], undefined],
    ["AlwaysAllow, although it was asked for", ["RBAC", "AlwaysAllow"], { enabled: true, paths: [] }],
  ] as const)("is refused with %s, and the log says why", async (_, types, rule) => {
    const fixture = await started(types, rule);

    const codes = [await codeFor(fixture, SECRETS), await codeFor(fixture, "/version")];

    expect(codes).toEqual([401, 401]);
    expect((await fixture.send("GET", SECRETS)).code).toBe(200);
    expect(fixture.logged).toContain(WARNING);
  });

  test("may read the paths that the configuration lists, also with AlwaysAllow", async () => {
    const fixture = await started(["AlwaysAllow"], { enabled: true, paths: ["/version"] });

    const codes = [await codeFor(fixture, "/version"), await codeFor(fixture, SECRETS)];

    expect(codes).toEqual([200, 401]);
    expect(fixture.logged).not.toContain(WARNING);
  });

  test.each([[["Node", "RBAC"]], [["RBAC", "AlwaysDeny"]]] as const)(
    "is anonymous with %j",
    async (types) => {
      const fixture = await started(types);

      expect(await codeFor(fixture, SECRETS)).toBe(403);
      expect(fixture.logged).not.toContain(WARNING);
    },
  );

  test("is authorized by the decoded path, not by its spelling", async () => {
    const fixture = await started(["AlwaysAllow"], { enabled: true, paths: ["/version"] });
    const targets = [
      "/%76ersion",
      "/version?verbose",
      "/version/",
      "//version",
      "/version%2Fping",
      "/version/ping",
    ];

    const codes = await Promise.all(targets.map((target) => codeFor(fixture, target)));

    expect(codes).toEqual([200, 200, 401, 400, 400, 401]);
  });
});
