/**
 * A request has one meaning. However it is written, a user with a small role gets only the objects that the role names, and changes
 * nothing: with odd methods, old path forms, empty segments, escapes, dots, and contradicting queries.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { TestApi, text } from "../../api-harness.ts";
import { made } from "./custom-kind.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CORE = "/api/v1";
const MAPS = `${CORE}/namespaces/default/configmaps`;
const BOB = { user: "bob", groups: ["system:authenticated"] };

/** Bob may get and list one ConfigMap by name, and has the roles of every user. */
async function started(): Promise<TestApi> {
  const api = await TestApi.start(["default", "other"]);
  for (const name of ["mine", "theirs"]) {
    await made(api.send("POST", MAPS, { metadata: { name } }));
    await made(api.send("POST", `${CORE}/namespaces/other/configmaps`, { metadata: { name } }));
  }
  const rules = [
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get", "list"] },
  ];
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" };
  await made(api.send("POST", `${RBAC}/namespaces/default/roles`, { metadata: { name: "r" }, rules }));
  const binding = { metadata: { name: "r" }, roleRef, subjects };
  await made(api.send("POST", `${RBAC}/namespaces/default/rolebindings`, binding));
  return api;
}

interface Shown {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly items?: readonly Shown[];
}

function isMine({ metadata = {} }: Shown): boolean {
  return metadata.name === "mine" && metadata.namespace === "default";
}

/** Whether Bob may have the response. */
function isAllowed({ kind, items, ...object }: Shown): boolean {
  if (kind === "ConfigMap") return isMine(object);
  return kind === "ConfigMapList" && (items ?? []).every(isMine);
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "LIST", "TRACE"];
const WORDS = [
  "api",
  "apis",
  "v1",
  "namespaces",
  "default",
  "other",
  "configmaps",
  "mine",
  "theirs",
  "watch",
  "proxy",
];
const ODD = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2f",
  "%ff",
  "%",
  "mine%2ftheirs",
  "m%69ne",
  "mine%00",
  "status",
  "mine ",
  "%77atch",
];
const HEADS = [
  MAPS,
  `${MAPS}/`,
  `${CORE}/`,
  `${CORE}/watch/namespaces/default/configmaps`,
  `${CORE}/proxy/`,
  `/${MAPS}`,
  "/",
];
const NAMES = ["mine", "theirs", "mine%2Cmetadata.name%3Dtheirs", "mine%2Fx", "", "mine%20"];

const parts = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...WORDS) }, fc.constantFrom(...ODD)),
  { maxLength: 4 },
);
const terms = fc.array(
  fc.oneof(
    fc.constantFrom(...NAMES).map((name) => `fieldSelector=metadata.name%3D${name}`),
    fc.constantFrom(
      "fieldSelector=",
      "fieldSelector=metadata.name!%3Dmine",
      "labelSelector=a",
      "limit=x",
      "%zz",
      ";",
    ),
  ),
  { maxLength: 3 },
);
const requests = fc.record({
  method: fc.constantFrom(...METHODS),
  target: fc
    .tuple(fc.constantFrom(...HEADS), parts, terms)
    .map(
      ([head, rest, query]) => `${head}${rest.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    ),
});

test("a request that was not allowed shows nothing and changes nothing, however it is written", async () => {
  await using api = await started();
  const revision = api.store.view.revision;
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "mine" }, data: { a: "b" } };
  const seen = new Set<string>();

  await fc.assert(
    fc.asyncProperty(requests, async ({ method, target }) => {
      const isRead = method === "GET" || method === "HEAD";
      const reply = await api.send(method, target, isRead ? undefined : body, {
        as: BOB,
        type: method === "PATCH" ? "application/apply-patch+yaml" : "application/json",
      });
      seen.add(`${String(reply.code)} ${text(reply.body["kind"])}`);
      if (reply.code < 300)
        expect([method, target, isAllowed(reply.body as Shown)]).toEqual([method, target, true]);
      expect([method, target, api.store.view.revision]).toEqual([method, target, revision]);
    }),
    { numRuns: 5000, seed: 4 },
  );

  // The requests include some that are allowed.
  expect([...seen]).toEqual(
    expect.arrayContaining(["200 ConfigMap", "200 ConfigMapList", "403 Status", "400 Status"]),
  );
});
