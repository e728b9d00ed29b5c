/**
 * The content of a Secret is in no error, no audit record at level Metadata, no log and no metric: by every way of writing, with a value of
 * every JSON type in every place.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Folder, RunningCluster } from "../../conformance/running-cluster.ts";
import type { Answered } from "../../conformance/running-cluster.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
/** Recognizable everywhere, also as a number, in base64 and in hexadecimal. */
const TEXT = "zq7canaryzq7";
const NUMBER = 7_351_973_519;
const ENCODED = Buffer.from(TEXT).toString("base64");
const HIDDEN = [TEXT, String(NUMBER), ENCODED, Buffer.from(TEXT).toString("hex")];
const LIMITS = { maxBytes: 100 << 20, maxAgeMs: 0, maxBackups: 0, isCompressed: false };

const folder = new Folder();
const logFile = join(folder.path, "audit.log");
let cluster: RunningCluster;

beforeAll(async () => {
  mkdirSync(folder.path, { recursive: true });
  const policyFile = join(folder.path, "policy.yaml");
  writeFileSync(policyFile, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  const audit = { policyFile, log: { path: logFile, limits: LIMITS } };
  cluster = await RunningCluster.start(folder, { audit, store: { type: "memory" } });
  await cluster.ask("POST", SECRETS, { body: secret({}, "kept") });
});
afterAll(() => folder.remove());

function secret(more: object, name: string): Record<string, unknown> {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, data: { kept: ENCODED }, ...more };
}

/** The same content as each type of JSON, and as values that only seem to fit. */
const VALUES: readonly unknown[] = [
  TEXT,
  ENCODED,
  NUMBER,
  [TEXT],
  [NUMBER, { inner: TEXT }],
  { inner: TEXT },
  { inner: { deep: NUMBER } },
  { $patch: "odd", inner: TEXT },
  { $patch: TEXT },
  { $retainKeys: [TEXT] },
  { [TEXT.toUpperCase()]: TEXT },
];
const PLACES: readonly ((value: unknown) => object)[] = [
  (value) => ({ data: { value } }),
  (value) => ({ data: value }),
  (value) => ({ stringData: { value } }),
  (value) => ({ stringData: value }),
  (value) => ({ immutable: value }),
  (value) => ({ data: { value: ENCODED }, unknown: value }),
  (value) => ({ data: { "bad key": ENCODED, value } }),
  (value) => ({ type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": value } }),
  (value) => ({ type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": value } }),
  (value) => ({ type: "kubernetes.io/tls", data: { "tls.key": value } }),
  (value) => ({ metadata: { name: "kept", uid: "other" }, data: { value } }),
  (value) => ({ metadata: { name: "kept", ownerReferences: [{}] }, data: { value } }),
];
const BODIES = PLACES.flatMap((place) => VALUES.map(place));

/** Each sends a body in another way. */
const WAYS: Readonly<Record<string, (body: object) => Promise<Answered>>> = {
  create: (body) => cluster.ask("POST", `${SECRETS}?fieldValidation=Strict`, { body: secret(body, "made") }),
  "create as YAML": (body) =>
    cluster.ask("POST", SECRETS, {
      body: JSON.stringify(secret(body, "made")).replace("{", "{ zz: !!int x,"),
      headers: { "content-type": "application/yaml" },
    }),
  replace: (body) => cluster.ask("PUT", `${SECRETS}/kept`, { body: secret(body, "kept") }),
  "replace another": (body) => cluster.ask("PUT", `${SECRETS}/kept`, { body: secret(body, "other") }),
  merge: (body) => patch("merge-patch", body),
  strategic: (body) => patch("strategic-merge-patch", body),
  apply: (body) => patch("apply-patch", secret(body, "kept"), "?fieldManager=me"),
  "apply over others": (body) => patch("apply-patch", secret(body, "kept"), "?fieldManager=other"),
  "JSON patch": (body) =>
    patch(
      "json-patch",
      Object.entries(body).map(([key, value]) => ({
        op: "replace",
        path: `/${key}`,
        value: value as unknown,
      })),
    ),
  "JSON patch that tests": (body) => patch("json-patch", [{ op: "test", path: "/data/kept", value: body }]),
  "JSON patch of odd form": (body) => patch("json-patch", [{ op: "add", path: 1, value: body, odd: body }]),
  "a broken body": (body) =>
    cluster.ask("POST", SECRETS, { body: `${JSON.stringify(secret(body, "made")).slice(0, -1)},"a":` }),
  "a body that is content only": (body) =>
    cluster.ask("POST", SECRETS, { body: JSON.stringify(Object.values(body)[0]) }),
};

/** Bodies that are not objects at all. */
const TEXTS: Readonly<Record<string, () => Promise<Answered>>> = {
  "where JSON is expected": () => cluster.ask("POST", SECRETS, { body: TEXT }),
  "within JSON": () => cluster.ask("POST", SECRETS, { body: `{"data":{"a":${TEXT}}}` }),
  "where JSON of a patch is expected": () => patchText("merge-patch", TEXT),
  "where YAML is expected": () => patchText("apply-patch", `${TEXT}: [${TEXT}`, "?fieldManager=me"),
  "where an object is expected in YAML": () => patchText("apply-patch", TEXT, "?fieldManager=me"),
  "as a tag of YAML": () => patchText("apply-patch", `data: {a: !${TEXT} ${TEXT}}`, "?fieldManager=me"),
  "as an alias of YAML": () => patchText("apply-patch", `data: {a: *${TEXT}}`, "?fieldManager=me"),
  "twice in YAML": () =>
    patchText(
      "apply-patch",
      `apiVersion: v1\nkind: Secret\ndata: {a: ${ENCODED}, a: ${TEXT}}\n`,
      "?fieldManager=me&fieldValidation=Strict",
    ),
  "where protobuf is expected": () =>
    cluster.ask("POST", SECRETS, {
      body: `k8s\0${TEXT}`,
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
    }),
  "as a number beyond all numbers": () => cluster.ask("POST", SECRETS, { body: huge("made") }),
  "as a number beyond all numbers in a patch": () => patchText("merge-patch", huge("kept")),
  "as a number beyond all numbers in an apply": () =>
    patchText("apply-patch", huge("kept"), "?fieldManager=me"),
};

function huge(name: string): string {
  return JSON.stringify(secret({ data: { a: 0 } }, name)).replace('"a":0', `"a":${String(NUMBER)}e400`);
}

function patch(type: string, body: unknown, query = ""): Promise<Answered> {
  return patchText(type, JSON.stringify(body), query);
}

function patchText(type: string, body: string, query = ""): Promise<Answered> {
  const format = type === "apply-patch" ? "yaml" : "json";
  return cluster.ask("PATCH", `${SECRETS}/kept${query}`, {
    body,
    headers: { "content-type": `application/${type}+${format}` },
  });
}

/** Pieces of the content in a text, with the text around them. */
function said(text: string): readonly string[] {
  return HIDDEN.flatMap((hidden) => {
    const at = text.indexOf(hidden);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 150), at + 60)];
  });
}

test.each(Object.entries(WAYS))("no error says what is in a Secret: %s", async (_way, send) => {
  const leaks = new Set<string>();
  let failures = 0;

  for (const body of BODIES) {
    const { code, text } = await send(body);
    if (code < 400) continue;
    failures += 1;
    for (const leak of said(text)) leaks.add(leak);
  }

  expect([...leaks].slice(0, 3)).toEqual([]);
  expect(failures).toBeGreaterThan(0);
});

test.each(Object.entries(TEXTS))("no error says what is in a Secret: content %s", async (_where, send) => {
  const { code, text } = await send();

  expect(code).toBeGreaterThanOrEqual(400);
  expect(said(text)).toEqual([]);
});

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

test.each([
  "int(value) > 0",
  "timestamp(value) > timestamp('2020-01-01T00:00:00Z')",
  "duration(value) > duration('1s')",
  "quantity(value).isInteger()",
  "ip(value).isLoopback()",
  "cidr(value).prefixLength() > 1",
  "url(value).getHost() == ''",
  "semver(value).major() > 1",
  "object.data[value] == b''",
  "timestamp('2020-01-01T00:00:00Z').getHours(value) == 1",
  "'a'.matches(value + '(')",
  "value == 'x'",
])("no policy's error says what is in a Secret: %s", async (expression) => {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    variables: [{ name: "value", expression: "string(object.data.value)" }],
    validations: [{ expression: expression.replaceAll("value", "variables.value") }],
  };
  await cluster.ask("POST", `${ADMISSION}/validatingadmissionpolicies`, {
    body: { metadata: { name: "odd" }, spec },
  });
  const binding = {
    metadata: { name: "odd" },
    spec: { policyName: "odd", validationActions: ["Deny", "Audit"] },
  };
  await cluster.ask("POST", `${ADMISSION}/validatingadmissionpolicybindings`, { body: binding });

  const answer = await cluster.ask("POST", SECRETS, { body: secret({ data: { value: ENCODED } }, "judged") });

  await cluster.ask("DELETE", `${ADMISSION}/validatingadmissionpolicybindings/odd`);
  await cluster.ask("DELETE", `${ADMISSION}/validatingadmissionpolicies/odd`);
  expect(answer).toMatchObject({ code: 422 });
  expect(answer.text).toContain("ValidatingAdmissionPolicy");
  expect(said(answer.text)).toEqual([]);
});

test("no record, log line or metric says what is in a Secret", async () => {
  const metrics = await cluster.ask("GET", "/metrics");
  await cluster.stop();

  const audit = readFileSync(logFile, "utf8");
  expect(audit).toContain('"resource":"secrets"');
  expect(said(audit).slice(0, 3)).toEqual([]);
  expect(said(cluster.logged.join("\n"))).toEqual([]);
  expect(said(metrics.text)).toEqual([]);
});
