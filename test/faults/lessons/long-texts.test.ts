/**
 * Regular expressions and all other code that reads texts are linear: a text as long as a request may be costs milliseconds, whatever its
 * content. At these sizes a quadratic algorithm takes a minute.
 */
import { describe, expect, test } from "vitest";
import { TestApi } from "../../api-harness.ts";
import { bind } from "../../conformance/admission-policy-fixture.ts";
import { sourceFiles, withoutComments } from "../../source-files.ts";
import { costOf, custom, defineKind, definitionOf, DEFINITIONS, made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
/** Bound of processor time; most take a tenth of it. */
const MOST_MS = 1500;

describe("a text of half a million characters", () => {
  const SIZE = 500_000;

  test.each<readonly [string, string]>([
    ["line breaks", `a${"\n".repeat(SIZE)}x`],
    ["blanks", `a${" ".repeat(SIZE)}x`],
    ["blanks after a break", `a\n${" ".repeat(SIZE)}x`],
    ["quotes", "'".repeat(SIZE)],
    ["marks of comments", `${" #".repeat(SIZE / 2)}`],
    ["digits", `${"0".repeat(SIZE)}x`],
    ["digits and dots", "1.".repeat(SIZE / 2)],
    ["digits and colons", "1:".repeat(SIZE / 2)],
    ["dashes", "-".repeat(SIZE)],
  ])("is shown in every form when it is made of %s", async (_what, text) => {
    await using api = await TestApi.start();
    await made(api.send("POST", MAPS, { metadata: { name: "x", labels: { a: "b" } }, data: { text } }));

    for (const accept of ["application/yaml", "application/json", TABLE]) {
      const { costMs, code } = await costOf(() => api.send("GET", `${MAPS}/x`, undefined, { accept }));
      expect([accept, code, costMs < MOST_MS]).toEqual([accept, 200, true]);
    }
  });

  test.each<readonly [string, string]>([
    ["slashes", `/a${"/".repeat(SIZE)}b/`],
    ["slashes at its beginning", `${"/".repeat(SIZE)}b`],
    ["escapes", `/${"%41".repeat(SIZE / 3)}/`],
    ["parts of an API", `/api/v1/${"pods/".repeat(SIZE / 5)}`],
  ])("is a path that nothing is served under when it is made of %s", async (_what, target) => {
    await using api = await TestApi.start();

    const { costMs, code } = await costOf(() => api.send("GET", target));

    expect([[400, 404, 405].includes(code), costMs < MOST_MS]).toEqual([true, true]);
  });

  test("is looked at once for each format that it should have", async () => {
    await using api = await TestApi.start();
    const formats = ["duration", "email", "hostname", "mac", "isbn", "datetime", "uri", "byte", "cidr"];
    const properties = Object.fromEntries(
      formats.map((format) => [format, { type: "array", items: { type: "string", format } }]),
    );
    await defineKind(api, { plural: "formal", schema: { type: "object", properties } });
    const collection = "/apis/example.com/v1/namespaces/default/formal";

    for (const part of ["1", "1 ", "1a", "a@", "<", "-", "a."]) {
      // As long as the longest text that they read, repeatedly.
      const texts = Array.from({ length: 5 }, () => part.repeat(10_000 / part.length));
      const fields = Object.fromEntries(formats.map((format) => [format, texts]));
      const { costMs, code } = await costOf(() =>
        api.send("POST", collection, custom("formal", "f", fields)),
      );
      expect([part, code, costMs < MOST_MS]).toEqual([part, 422, true]);
    }
  });

  const pod = (fields: object): object => ({
    metadata: { name: "p" },
    spec: { containers: [{ name: "a", image: "b", ...fields }] },
  });
  const fieldRef = (fieldPath: string): object =>
    pod({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath } } }] });
  const request = (text: string): object => ({
    metadata: { name: "c" },
    spec: {
      signerName: "a.b/c",
      usages: ["digital signature"],
      request: Buffer.from(text).toString("base64"),
    },
  });

  test.each<readonly [string, string, object]>([
    ["the brackets of a path", PODS, fieldRef(`${"['".repeat(SIZE / 2)}[`)],
    ["the brackets of a path, closed", PODS, fieldRef(`${"['".repeat(SIZE / 2)}']`)],
    ["the parts of an image", PODS, pod({ image: `${"a/".repeat(SIZE / 2)}!` })],
    ["the parts of an image with marks", PODS, pod({ image: `a${"__.-".repeat(SIZE / 4)}:` })],
    ["references to variables", PODS, pod({ env: [{ name: "A", value: "$(".repeat(SIZE / 2) }] })],
    ["a name of dots", PODS, { metadata: { name: "a.".repeat(SIZE / 2) }, spec: {} }],
    ["a label of dashes", MAPS, { metadata: { name: "m", labels: { a: `a${"-_".repeat(SIZE / 2)}` } } }],
    ["beginnings of a PEM block", CSRS, request("-----BEGIN CERTIFICATE REQUEST-----x".repeat(SIZE / 36))],
    [
      "a cron schedule",
      "/apis/batch/v1/namespaces/default/cronjobs",
      { metadata: { name: "c" }, spec: { schedule: "*/1,".repeat(SIZE / 4) } },
    ],
  ])("is refused or taken at once as %s", async (_what, target, body) => {
    await using api = await TestApi.start();

    const { costMs, code } = await costOf(() => api.send("POST", target, body));

    expect([code === 201 || code === 422, costMs < MOST_MS]).toEqual([true, true]);
  });

  test.each<readonly [string, string]>([
    ["bytes(object.data.v).size() > 0", `${"=".repeat(SIZE)}x`],
    ["double(object.data.v) > 0.0", `${"0".repeat(SIZE)}+`],
    ["object.data.v.matches('^(a+)+$')", `${"a".repeat(SIZE)}!`],
    ["object.data.v.matches('(a|aa)+$')", `${"a".repeat(SIZE)}!`],
    ["object.data.v.find('(.*)(.*)(.*)(.*)x') == ''", "a".repeat(SIZE)],
    ["object.data.v.trim() != ''", `x${" ".repeat(SIZE)}x`],
    ["isURL(object.data.v)", `http://${"a:".repeat(SIZE / 2)}`],
    ["quantity(object.data.v).isInteger()", `${"0".repeat(SIZE)}.`],
    ["semver(object.data.v).major() > 0", "1-".repeat(SIZE / 2)],
    ["duration(object.data.v) > duration('1s')", "1h".repeat(SIZE / 2)],
    ["timestamp(object.data.v) > timestamp('2000-01-01T00:00:00Z')", "0".repeat(SIZE)],
  ])("costs an expression little: %s", async (expression, v) => {
    await using api = await TestApi.start();
    await bind(api, "Validating", {
      spec: { validations: [{ expression }] },
      binding: { validationActions: ["Deny"] },
    });

    const { costMs, code } = await costOf(() =>
      api.send("POST", MAPS, { metadata: { name: "m" }, data: { v } }),
    );

    expect([code === 201 || code === 422, costMs < MOST_MS]).toEqual([true, true]);
  });

  test.each(["^(a+)+$", "^(a|a)*$", "^(.*a){20}$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
    "costs the pattern of a field little: %s",
    async (pattern) => {
      await using api = await TestApi.start();
      const properties = { text: { type: "string", pattern } };
      await defineKind(api, { plural: "strict", schema: { type: "object", properties } });
      const collection = "/apis/example.com/v1/namespaces/default/strict";

      for (const text of [`${"a".repeat(SIZE)}!`, "x".repeat(SIZE)]) {
        const { costMs, code } = await costOf(() =>
          api.send("POST", collection, custom("strict", "s", { text })),
        );
        expect([code === 201 || code === 422, costMs < MOST_MS]).toEqual([true, true]);
      }
    },
  );

  test.each([
    "((((a{100}){100}){100}){100}){100}",
    "(".repeat(SIZE / 5),
    "[a-z]{1001}",
    "a**".repeat(1000),
    "(?=a)",
  ])("is no pattern when it would grow: %#", async (pattern) => {
    await using api = await TestApi.start();
    const schema = { type: "object", properties: { text: { type: "string", pattern } } };

    const { costMs, code } = await costOf(() =>
      api.send("POST", DEFINITIONS, definitionOf({ plural: "odd", schema })),
    );

    expect([code, costMs < MOST_MS]).toEqual([422, true]);
  });
});

describe("patterns that stand for much more than they say", () => {
  /** A million instructions each, two seconds of processor time. */
  const LARGE = ["a", "b", "c"].map((letter) => `${letter}{1000}`.repeat(1000));

  test.each<readonly [string, object]>([
    [
      "large ones",
      Object.fromEntries(LARGE.map((pattern, at) => [`p${String(at)}`, { type: "string", pattern }])),
    ],
    [
      "thousands of them",
      Object.fromEntries(
        Array.from({ length: 5000 }, (_, at) => [
          `p${String(at)}`,
          { type: "string", pattern: `^[a-z]{1,900}${String(at)}$` },
        ]),
      ),
    ],
  ])("are refused with a definition: %s", async (_what, properties) => {
    await using api = await TestApi.start();
    const definition = definitionOf({ plural: "large", schema: { type: "object", properties } });

    const { costMs, code } = await costOf(() => api.send("POST", DEFINITIONS, definition));

    expect([code, costMs < MOST_MS]).toEqual([422, true]);
  });

  test("are not compiled when they come with an object", async () => {
    await using api = await TestApi.start();
    const expression = "object.data.all(key, 'aaa'.matches(object.data[key]) || true)";
    await bind(api, "Validating", {
      spec: { validations: [{ expression }] },
      binding: { validationActions: ["Deny"] },
    });

    const { costMs, code } = await costOf(() =>
      api.send("POST", MAPS, {
        metadata: { name: "m" },
        data: Object.fromEntries(LARGE.map((it, at) => [String(at), it])),
      }),
    );

    expect([code, costMs < MOST_MS]).toEqual([201, true]);
  });
});

describe("regular expressions of the server", () => {
  /** Not anchored at the start, with a repetition that must reach the end: matching starts anew at each character. */
  const TRIED_ANEW =
    /(?<=[(,=:]\s*)\/(?:[^\n\s]*\|)?(?!\^)(?:\\.|\[[^\]]*\]|[^\\/[\]^|\s])[+*]\$\/[a-z]*(?=[,.)])/g;
  /** Expressions over texts of the server or its operator, or over short names. */
  const OWN = new Set([
    "src/api/cel/instant.ts",
    "src/api/cel/library/conversion.ts",
    "src/api/values/quantity.ts",
    "src/api/values/time.ts",
    "src/runtime/controller/child-names.ts",
    "src/runtime/events/event-correlation.ts",
    "src/server/access/authn/issuer-route.ts",
  ]);

  test("do not look for the end of a text by trying every beginning", () => {
    const found = sourceFiles("src")
      .filter(({ path }) => !path.endsWith(".test.ts") && !OWN.has(path))
      .flatMap(({ path, text }) =>
        [...withoutComments(text).matchAll(TRIED_ANEW)].map(([it]) => `${path} ${it}`),
      );

    expect(found).toEqual([]);
    expect([...'text.replace(/\\n+$/, "")'.matchAll(TRIED_ANEW)]).toHaveLength(1);
    expect([...'text.replace(/^\\n+|\\n+$/g, "")'.matchAll(TRIED_ANEW)]).toHaveLength(1);
  });

  test("are compiled from clients' texts by the linear engine alone", () => {
    const made = sourceFiles("src")
      .filter(({ path }) => !path.endsWith(".test.ts"))
      .flatMap(({ path, text }) =>
        [...withoutComments(text).matchAll(/new RegExp\(\s*([^,;]*?)[,)]/g)].map(
          ([, what = ""]) => `${path}: ${what}`,
        ),
      );

    // Each of these is built from constants in the same file.
    expect(new Set(made.map((one) => one.split(":")[0]))).toEqual(
      new Set([
        "src/api/apply/fields/path-element.ts",
        "src/api/cel/library/text.ts",
        "src/api/values/names.ts",
        "src/api/values/semantic-version.ts",
        "src/resources/networking/ingress-class.ts",
        "src/resources/pod/pod-security-rules.ts",
        "src/server/access/authz/impersonation-modes.ts",
      ]),
    );
  });
});
