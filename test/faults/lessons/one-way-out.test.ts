/**
 * CVE-2020-8555, CVE-2020-8562, CVE-2022-3294: every outgoing connection of the server goes through one module, which checks the address
 * and dials the checked one. src/server/egress/egress.system.test.ts tests that module.
 */
import { expect, test } from "vitest";
import { sourceFiles, withoutComments } from "../../source-files.ts";

/** Imports of values, not types, from modules that open connections or resolve names. */
const DIALS =
  /import (?!type\b)\{([^}]*)\} from "node:(?:http|https|http2|net|tls|dns|dns\/promises|dgram)"/g;
const HARMLESS = new Set([
  "isIP",
  "createServer",
  "ServerResponse",
  "STATUS_CODES",
  "validateHeaderName",
  "validateHeaderValue",
  "performServerHandshake",
  "constants",
]);

function dialling(text: string): readonly string[] {
  const code = withoutComments(text);
  const imported = [...code.matchAll(DIALS)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type ") && !HARMLESS.has(name.split(" as ")[0] ?? ""));
  const called = [...code.matchAll(/(?<![.#\w])(?:fetch|new WebSocket|new EventSource)\(/g)].map(
    ([call]) => call,
  );
  return [...imported, ...called];
}

test("only the server's one way out opens connections", () => {
  const found = sourceFiles("src/server")
    .filter(({ path }) => !path.endsWith(".test.ts") && !path.endsWith("/fixture.ts"))
    .filter(({ text }) => dialling(text).length > 0)
    .map(({ path }) => path.slice(0, path.lastIndexOf("/")));

  expect(new Set(found)).toEqual(new Set(["src/server/egress"]));
});

test("nothing that the server imports speaks HTTP by itself", () => {
  const packages = sourceFiles("src/server")
    .filter(({ path }) => !path.endsWith(".test.ts") && !path.endsWith("/fixture.ts"))
    .flatMap(({ text }) =>
      [...withoutComments(text).matchAll(/from "([^."][^"]*)"/g)].map(([, name = ""]) => name),
    )
    .filter((name) => !name.startsWith("node:"));

  expect(
    packages.filter((name) => /undici|axios|got|node-fetch|request|ky|superagent|ws\b/.test(name)),
  ).toEqual([]);
});
