/** Malformed requests get a Status that names the fault, change nothing, and delay no other request. */
import { describe, expect, test } from "vitest";
import { encodeObject } from "../../src/api/protobuf/envelope.ts";
import { findKindSchema } from "../../src/api/schema/built-in-schema.ts";
import { TestApi, listOf } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";
import { FuzzRun } from "./fuzz-requests.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const JSON_TYPE = "application/json";
const YAML = "application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY = "application/apply-patch+yaml";
/** The promise is 100 ms; the rest allows for a busy machine. */
const SLOWEST_MS = 200;

interface BadRequest {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string | Uint8Array;
  readonly type?: string;
  readonly accept?: string;
}

type Row = readonly [
  title: string,
  request: BadRequest,
  code: number,
  reason: string,
  message: string | RegExp,
];

/** A server that holds the ConfigMap `a`. */
async function started(): Promise<TestApi> {
  const api = await TestApi.start();
  await api.send("POST", MAPS, { metadata: { name: "a" }, data: { k: "v" } });
  return api;
}

function send(api: TestApi, { method = "POST", target = MAPS, body, ...rest }: BadRequest): Promise<Reply> {
  return api.send(method, target, typeof body === "string" ? Buffer.from(body) : body, rest);
}

function refusals(what: string, rows: readonly Row[]): void {
  describe(what, () => {
    for (const [title, request, code, reason, message] of rows) {
      test(title, async () => {
        await using api = await started();
        const before = api.store.view.revision;

        const reply = await send(api, request);

        expect([reply.code, reply.body["reason"]]).toEqual([code, reason]);
        expect(reply.body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code });
        if (typeof message === "string") expect(reply.body["message"]).toBe(message);
        else expect(reply.body["message"]).toMatch(message);
        expect(api.store.view.revision).toBe(before);
      });
    }
  });
}

function nested(levels: number): string {
  return `{"metadata":{"name":"x"},"data":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
}

const UNRECOGNIZED = /^the object provided is unrecognized \(must be of type ConfigMap\): /;

refusals("a malformed body is refused:", [
  ["JSON that ends early", { body: "{" }, 400, "BadRequest", UNRECOGNIZED],
  ["nothing", { body: "" }, 400, "BadRequest", UNRECOGNIZED],
  ["a list", { body: "[]" }, 400, "BadRequest", UNRECOGNIZED],
  [
    "null",
    { body: "null" },
    422,
    "Invalid",
    /: metadata\.name: Required value: name or generateName is required$/,
  ],
  ["YAML that ends early", { body: "a: [", type: YAML }, 400, "BadRequest", /: yaml: line 1: /],
  ["YAML that is a list", { body: "- a", type: YAML }, 400, "BadRequest", UNRECOGNIZED],
  ["no protobuf", { body: "nope", type: PROTOBUF }, 400, "BadRequest", /expected prefix \[107 56 115 0\]$/],
  ["broken protobuf", { body: "k8s\0\xff\xff\xff", type: PROTOBUF }, 400, "BadRequest", UNRECOGNIZED],
  [
    "invalid UTF-8",
    { body: Buffer.from('{"metadata":{"name":"x"},"data":{"a":"\xff\xfe"}}', "latin1") },
    400,
    "BadRequest",
    /invalid UTF-8 in JSON \(.* \.\.\.\)$/,
  ],
  [
    "invalid UTF-8 in YAML",
    { body: Buffer.from("a: \xff", "latin1"), type: YAML },
    400,
    "BadRequest",
    /UTF-8/,
  ],
]);

refusals("a body of the wrong shape is refused:", [
  [
    "a number for a text",
    { body: '{"metadata":{"name":"x"},"data":{"a":1}}' },
    400,
    "BadRequest",
    /json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    "a text for a number",
    { target: DEPLOYMENTS, body: '{"metadata":{"name":"x"},"spec":{"replicas":"three"}}' },
    400,
    "BadRequest",
    /cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32$/,
  ],
  [
    "more than an int32",
    { target: DEPLOYMENTS, body: '{"spec":{"replicas":3000000000}}' },
    400,
    "BadRequest",
    /int32$/,
  ],
  [
    "a fraction",
    { target: DEPLOYMENTS, body: '{"spec":{"replicas":1.5}}' },
    400,
    "BadRequest",
    /number 1\.5 into/,
  ],
  [
    "more than a float64",
    { target: DEPLOYMENTS, body: '{"spec":{"replicas":1e400}}' },
    400,
    "BadRequest",
    /1e400/,
  ],
  [
    "more than an int64",
    { target: DEPLOYMENTS, body: '{"metadata":{"generation":9223372036854775808}}' },
    400,
    "BadRequest",
    /of type int64$/,
  ],
  ["a text for an object", { body: '{"metadata":"x"}' }, 400, "BadRequest", /of type v1\.ObjectMeta$/],
  [
    "no time",
    { body: '{"metadata":{"creationTimestamp":"yesterday"}}' },
    400,
    "BadRequest",
    /parsing time "yesterday"/,
  ],
  [
    "another kind",
    { body: '{"kind":"Secret","apiVersion":"v1"}' },
    400,
    "BadRequest",
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    "another version",
    { body: '{"kind":"ConfigMap","apiVersion":"v2"}' },
    400,
    "BadRequest",
    "the API version in the data (v2) does not match the expected API version (v1)",
  ],
  [
    "a kind that is no text",
    { body: '{"kind":{"toString":1}}' },
    400,
    "BadRequest",
    /cannot unmarshal object into Go struct field \.kind of type string/,
  ],
  [
    "several problems at once",
    { target: DEPLOYMENTS, body: '{"metadata":{"name":"X_y","labels":{"-a":"b c"}},"spec":{"replicas":-1}}' },
    422,
    "Invalid",
    /^Deployment\.apps "X_y" is invalid: \[metadata\.name: .*metadata\.labels: .*spec\.replicas: .*spec\.selector: /,
  ],
]);

refusals("a strict server names everything it does not understand:", [
  [
    "unknown and repeated fields of JSON",
    {
      target: `${DEPLOYMENTS}?fieldValidation=Strict`,
      body: '{"metadata":{"name":"x"},"spec":{"x":1,"replicas":1,"replicas":2}}',
    },
    400,
    "BadRequest",
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.x", duplicate field "spec.replicas"',
  ],
  [
    "all in the order of the body, and what is unknown only as that",
    {
      target: `${DEPLOYMENTS}?fieldValidation=Strict`,
      body: '{"metadata":{"name":"a","name":"x","y":1},"spec":{"x":{"z":1,"z":2},"x":2,"replicas":1,"replicas":2}}',
    },
    400,
    "BadRequest",
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: duplicate field "metadata.name", unknown field "metadata.y", unknown field "spec.x", duplicate field "spec.replicas"',
  ],
  [
    "repeated keys of YAML before unknown ones",
    {
      target: `${MAPS}?fieldValidation=Strict`,
      body: "metadata: {name: x}\nzz: 1\nb: 1\ndata:\n  foo: b\n  foo: c\n",
      type: YAML,
    },
    400,
    "BadRequest",
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 6: key "foo" already set in map, unknown field "b", unknown field "zz"',
  ],
  [
    "a wrong type in an apply, in its own words",
    patch(
      APPLY,
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}\n",
      "?fieldManager=me&fieldValidation=Strict",
    ),
    400,
    "BadRequest",
    "failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .data.a: expected string, got int64",
  ],
  [
    "repeated keys of what is applied",
    {
      method: "PATCH",
      target: `${MAPS}/a?fieldValidation=Strict&fieldManager=me`,
      body: "apiVersion: v1\nkind: ConfigMap\ndata:\n  foo: b\n  foo: c\n",
      type: APPLY,
    },
    400,
    "BadRequest",
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key "foo" already set in map',
  ],
  [
    "repeated keys of YAML, with their line",
    {
      target: `${MAPS}?fieldValidation=Strict`,
      body: "metadata: {name: x}\ndata:\n  foo: b\n  foo: c\n",
      type: YAML,
    },
    400,
    "BadRequest",
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 4: key "foo" already set in map',
  ],
]);

refusals("what is too large is refused:", [
  [
    "a body",
    { body: `{"data":{"a":"${"x".repeat(3 << 20)}"}}` },
    413,
    "RequestEntityTooLarge",
    /limit is 3145728$/,
  ],
  [
    "an object",
    {
      target: DEPLOYMENTS,
      body: JSON.stringify({
        metadata: { name: "x" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b", args: ["x".repeat(1_600_000)] }] },
          },
        },
      }),
    },
    413,
    "RequestEntityTooLarge",
    /limit is 1572864$/,
  ],
  [
    "annotations",
    { body: `{"metadata":{"name":"x","annotations":{"a":"${"x".repeat(300_000)}"}}}` },
    422,
    "Invalid",
    /262144/,
  ],
  ["nesting", { body: nested(600) }, 400, "BadRequest", /nested deeper than 500 levels \(.* \.\.\.\)$/],
  [
    "nesting without an end",
    { body: "[".repeat(3_000_000) },
    400,
    "BadRequest",
    /nested deeper than 500 levels \(.* \.\.\.\)$/,
  ],
  ["nesting in YAML", { body: "[".repeat(100_000), type: YAML }, 400, "BadRequest", UNRECOGNIZED],
  ["nesting in YAML by blocks", { body: "- ".repeat(50_000), type: YAML }, 400, "BadRequest", UNRECOGNIZED],
  [
    "too many values",
    { body: `[${"0,".repeat(1_000_000)}0]` },
    413,
    "RequestEntityTooLarge",
    /^Request entity too large: more than 200000 tokens$/,
  ],
  [
    "YAML aliases of aliases",
    {
      body: ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefgh".split("").map(laughs)].join("\n"),
      type: YAML,
    },
    400,
    "BadRequest",
    /too many YAML aliases \(.* \.\.\.\)$/,
  ],
]);

/** `b: &b [*a,*a,…]` */
function laughs(name: string): string {
  const previous = String.fromCharCode(name.charCodeAt(0) - 1);
  return `${name}: &${name} [${Array(9).fill(`*${previous}`).join(",")}]`;
}

refusals("a path that leads nowhere is refused:", [
  [
    "an unknown resource",
    { method: "GET", target: "/api/v1/nonsense" },
    404,
    "NotFound",
    /could not find the requested/,
  ],
  [
    "an unknown version",
    { method: "GET", target: "/apis/apps/v2/deployments" },
    404,
    "NotFound",
    /could not find/,
  ],
  ["an unknown subresource", { method: "GET", target: `${MAPS}/a/none` }, 404, "NotFound", /could not find/],
  [
    "a node in a namespace",
    { method: "GET", target: "/api/v1/namespaces/default/nodes" },
    404,
    "NotFound",
    /could not find/,
  ],
  [
    "an object without its namespace",
    { method: "GET", target: "/api/v1/pods/x" },
    404,
    "NotFound",
    /could not find/,
  ],
  ["a method that means nothing", { method: "BREW" }, 405, "MethodNotAllowed", /does not allow this method/],
  [
    "a method of every object",
    { method: "constructor" },
    400,
    "BadRequest",
    /^invalid method "constructor"$/,
  ],
  [
    "PUT of a collection",
    { method: "PUT", body: "{}" },
    405,
    "MethodNotAllowed",
    /does not allow this method/,
  ],
  ["a broken escape", { method: "GET", target: `${MAPS}/%zz` }, 400, "BadRequest", /^invalid path/],
  [
    "a way out of its folder",
    { method: "GET", target: `${MAPS}/%2e%2e%2f..%2fsecrets` },
    400,
    "BadRequest",
    /^invalid path/,
  ],
  [
    "keys of every object in a group",
    { method: "GET", target: "/apis/apps/__proto__/toString" },
    404,
    "NotFound",
    /could not/,
  ],
]);

test.each([
  ["an unknown group", "/apis/none/v1/pods"],
  ["keys of every object", "/apis/constructor/__proto__/toString"],
])("a path that leads nowhere in the API gets a page: %s", async (_, target) => {
  await using api = await TestApi.start();

  const { code, bytes } = await api.send("GET", target);

  expect([code, String(bytes)]).toEqual([404, "404 page not found\n"]);
});

refusals("a name that does not fit is refused:", [
  [
    "none, where a kind's rules look at it",
    { target: "/apis/scheduling.k8s.io/v1/priorityclasses", body: '{"value":1}' },
    422,
    "Invalid",
    /metadata\.name: Required value: name or generateName is required/,
  ],
  [
    "none",
    { body: "{}" },
    422,
    "Invalid",
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  ],
  [
    "another than the URL's",
    { method: "PUT", target: `${MAPS}/a`, body: '{"metadata":{"name":"b"}}' },
    400,
    "BadRequest",
    "the name of the object (b) does not match the name on the URL (a)",
  ],
  [
    "none on an update",
    { method: "PUT", target: `${MAPS}/a`, body: "{}" },
    400,
    "BadRequest",
    /name must be provided$/,
  ],
  [
    "another namespace than the URL's",
    { body: '{"metadata":{"name":"x","namespace":"other"}}' },
    400,
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "another namespace than the URL's on an update",
    { method: "PUT", target: `${MAPS}/a`, body: '{"metadata":{"name":"a","namespace":"other"}}' },
    400,
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "a name that is a path",
    { body: '{"metadata":{"name":"../x"}}' },
    422,
    "Invalid",
    /metadata\.name: Invalid value: "\.\.\/x"/,
  ],
  [
    "a name with a zero byte",
    { body: '{"metadata":{"name":"a\\u0000b"}}' },
    422,
    "Invalid",
    /metadata\.name/,
  ],
]);

refusals("a media type that is not understood is refused:", [
  [
    "text",
    { body: "{}", type: "text/plain" },
    415,
    "UnsupportedMediaType",
    /accepted media types include: application\/json/,
  ],
  [
    "CBOR",
    { body: "{}", type: "application/cbor" },
    415,
    "UnsupportedMediaType",
    /^the body of the request was in an unknown/,
  ],
  [
    "JSON as a patch",
    { method: "PATCH", target: `${MAPS}/a`, body: "{}" },
    415,
    "UnsupportedMediaType",
    /json-patch\+json/,
  ],
  [
    "text as delete options",
    { method: "DELETE", target: `${MAPS}/a`, body: "{}", type: "text/plain" },
    415,
    "UnsupportedMediaType",
    /unknown format/,
  ],
  [
    "an answer in CBOR",
    { body: '{"metadata":{"name":"x"}}', accept: "application/cbor" },
    406,
    "NotAcceptable",
    /^only the following media types/,
  ],
  [
    "an answer in HTML",
    { body: '{"metadata":{"name":"x"}}', accept: "text/html" },
    406,
    "NotAcceptable",
    /^only the following media types/,
  ],
]);

function query(text: string, method = "GET"): BadRequest {
  return method === "GET"
    ? { method, target: `${MAPS}?${text}` }
    : { method, target: `${MAPS}?${text}`, body: '{"metadata":{"name":"x"}}' };
}

function deletion(text: string): BadRequest {
  return { method: "DELETE", target: `${MAPS}/a?${text}` };
}

refusals("a query that makes no sense is refused:", [
  [
    "a limit in words",
    query("limit=abc"),
    400,
    "BadRequest",
    'strconv.ParseInt: parsing "abc": invalid syntax',
  ],
  ["an endless limit", query("limit=99999999999999999999"), 400, "BadRequest", /value out of range$/],
  [
    "a resourceVersion in words",
    query("resourceVersion=abc"),
    400,
    "BadRequest",
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [
    "a watch from a resourceVersion in words",
    query("watch=1&resourceVersion=abc"),
    400,
    "BadRequest",
    'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [
    "a limit that is empty",
    query("limit="),
    400,
    "BadRequest",
    'strconv.ParseInt: parsing "": invalid syntax',
  ],
  ["a negative resourceVersion", query("resourceVersion=-1"), 400, "BadRequest", /invalid syntax$/],
  ["a timeout in words", query("watch=1&timeoutSeconds=x"), 400, "BadRequest", /invalid syntax$/],
  [
    "a broken label selector",
    query("labelSelector=a%3D%3D%3Db"),
    400,
    "BadRequest",
    /^unable to parse requirement/,
  ],
  ["a broken field selector", query("fieldSelector=nonsense"), 400, "BadRequest", /^invalid selector/],
  [
    "an unknown field",
    query("fieldSelector=constructor%3Dx"),
    400,
    "BadRequest",
    /not a known field selector/,
  ],
  [
    "another dry run",
    query("dryRun=maybe", "POST"),
    422,
    "Invalid",
    'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["maybe"]: supported values: "All"',
  ],
  [
    "another field validation",
    query("fieldValidation=x", "POST"),
    422,
    "Invalid",
    /fieldValidation: Unsupported value: "x"/,
  ],
  [
    "a long field manager",
    query(`fieldManager=${"x".repeat(129)}`, "POST"),
    422,
    "Invalid",
    /fieldManager: Too long: may not be more than 128 bytes$/,
  ],
  [
    "a field manager one cannot print",
    query("fieldManager=a%00", "POST"),
    422,
    "Invalid",
    /invalid character U\+0000 \(at position 1\)$/,
  ],
  ["a grace period in words", deletion("gracePeriodSeconds=x"), 400, "BadRequest", /invalid syntax$/],
  [
    "another propagation",
    deletion("propagationPolicy=x"),
    422,
    "Invalid",
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
  ],
  [
    "two propagations",
    deletion("propagationPolicy=Orphan&orphanDependents=true"),
    422,
    "Invalid",
    /cannot be both set$/,
  ],
  [
    "another kind of delete options",
    { ...deletion(""), body: '{"kind":"Pod","apiVersion":"v1"}' },
    400,
    "BadRequest",
    /^no kind "Pod" is registered for version "v1"/,
  ],
  [
    "delete options of the wrong shape",
    { ...deletion(""), body: '{"preconditions":{"uid":5}}' },
    400,
    "BadRequest",
    /Preconditions\.preconditions\.uid/,
  ],
]);

function patch(type: string, body: string, options = ""): BadRequest {
  return { method: "PATCH", target: `${MAPS}/a${options}`, type, body };
}

const BAD_OPTIONS = `fieldManager=${"x".repeat(129)}&dryRun=maybe&fieldValidation=x`;
const BAD_OPTIONS_TEXT =
  'fieldManager: Too long: may not be more than 128 bytes, dryRun: Unsupported value: ["maybe"]: supported values: "All", ' +
  'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"';
const NO_MATCH =
  "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";

refusals("of a query with several mistakes all are told:", [
  [
    "a list",
    query("continue=xyz&resourceVersion=abc&resourceVersionMatch=Bad&sendInitialEvents=true"),
    422,
    "Invalid",
    `ListOptions.meta.k8s.io "" is invalid: [${NO_MATCH}, resourceVersionMatch: Unsupported value: "Bad": supported values: "Exact", "NotOlderThan", "", sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]`,
  ],
  [
    "a watch",
    query("watch=1&continue=xyz&resourceVersion=abc&resourceVersionMatch=Exact&sendInitialEvents=false"),
    422,
    "Invalid",
    `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan", ${NO_MATCH}]`,
  ],
  [
    "what cannot go together before a field that the kind has not",
    query("fieldSelector=x%3D1&sendInitialEvents=true"),
    422,
    "Invalid",
    /sendInitialEvents is forbidden for list$/,
  ],
  [
    "a create",
    query(BAD_OPTIONS, "POST"),
    422,
    "Invalid",
    `CreateOptions.meta.k8s.io "" is invalid: [${BAD_OPTIONS_TEXT}]`,
  ],
  [
    "an update, and before its body",
    { method: "PUT", target: `${MAPS}/a?${BAD_OPTIONS}`, body: "{" },
    422,
    "Invalid",
    `UpdateOptions.meta.k8s.io "" is invalid: [${BAD_OPTIONS_TEXT}]`,
  ],
  [
    "a patch",
    patch(MERGE, "{}", `?force=false&${BAD_OPTIONS}`),
    422,
    "Invalid",
    `PatchOptions.meta.k8s.io "" is invalid: [force: Forbidden: may not be specified for non-apply patch, ${BAD_OPTIONS_TEXT}]`,
  ],
  [
    "a deletion",
    deletion("propagationPolicy=x&dryRun="),
    422,
    "Invalid",
    'DeleteOptions.meta.k8s.io "" is invalid: [propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil", dryRun: Unsupported value: [""]: supported values: "All"]',
  ],
  [
    "an apply",
    patch(APPLY, "{}", "?dryRun=maybe"),
    422,
    "Invalid",
    'PatchOptions.meta.k8s.io "" is invalid: [fieldManager: Required value: is required for apply patch, dryRun: Unsupported value: ["maybe"]: supported values: "All"]',
  ],
]);

refusals("a patch of a scale is held to the same options:", [
  [
    "an apply without a manager",
    { method: "PATCH", target: `${DEPLOYMENTS}/a/scale`, type: APPLY, body: "{}" },
    422,
    "Invalid",
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  ],
  [
    "a type that is none, before its options",
    { method: "PATCH", target: `${DEPLOYMENTS}/a/scale?force=true`, type: JSON_TYPE, body: "{}" },
    415,
    "UnsupportedMediaType",
    /^the body of the request was in an unknown format/,
  ],
]);

const OPERATIONS = JSON.stringify(
  Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/k", value: "v" })),
);
/** Each operation doubles the value. */
const DOUBLINGS = JSON.stringify(
  Array.from({ length: 40 }, (_, n) => ({ op: "copy", from: "/metadata", path: `/metadata/x${String(n)}` })),
);

refusals("a patch that cannot be is refused:", [
  ["broken", patch(MERGE, "{"), 400, "BadRequest", /^error decoding patch: /],
  ["a list as a merge patch", patch(MERGE, "[]"), 400, "BadRequest", /cannot unmarshal array/],
  ["a number as a strategic patch", patch(STRATEGIC, "5"), 400, "BadRequest", /cannot unmarshal number/],
  [
    "one that leaves an object of another kind",
    patch(MERGE, '{"kind":"Pod"}'),
    422,
    "Invalid",
    /^ "" is invalid: patch: Invalid value: .*converting \(v1\.Pod\) to \(core\.ConfigMap\): unknown conversion$/,
  ],
  [
    "one that leaves a value of another type",
    patch(STRATEGIC, '{"data":{"k":1}}'),
    422,
    "Invalid",
    /^ "" is invalid: patch: Invalid value: "map\[data:map\[k:1\]\]": cannot convert int64 to string$/,
  ],
  [
    "one that leaves a text in place of a map",
    patch(STRATEGIC, '{"data":"x"}'),
    422,
    "Invalid",
    /^ "" is invalid: patch: Invalid value: "map\[data:x\]": cannot restore map from string$/,
  ],
  [
    "a strict one with a key twice, before what the object has not",
    patch(MERGE, '{"data":{"x":"1","x":"2"},"y":1}', "?fieldValidation=Strict"),
    422,
    "Invalid",
    /: strict decoding error: duplicate field "data\.x", unknown field "y"$/,
  ],
  [
    "a strict strategic one with a key twice",
    patch(STRATEGIC, '{"data":{"x":"1","x":"2"}}', "?fieldValidation=Strict"),
    422,
    "Invalid",
    /: strict decoding error: duplicate field "data\.x"$/,
  ],
  [
    "a strict JSON patch with members that operations have not, or twice",
    patch(
      JSON_PATCH,
      '[{"op":"add","path":"/data/x","value":"1","foo":1},{"op":"add","path":"/y","path":"/z","value":1}]',
      "?fieldValidation=Strict",
    ),
    422,
    "Invalid",
    /: strict decoding error: json patch unknown field "\[0\]\.foo", json patch duplicate field "\[1\]\.path", unknown field "z"$/,
  ],
  ["an object as a JSON patch", patch(JSON_PATCH, "{}"), 400, "BadRequest", /cannot unmarshal object/],
  ["an unknown operation", patch(JSON_PATCH, '[{"op":"fly"}]'), 422, "Invalid", /rejected our request/],
  [
    "a test that fails",
    patch(JSON_PATCH, '[{"op":"test","path":"/data/k","value":"w"}]'),
    422,
    "Invalid",
    /rejected our request/,
  ],
  [
    "into every object",
    patch(JSON_PATCH, '[{"op":"add","path":"/__proto__/x","value":5}]'),
    422,
    "Invalid",
    /rejected/,
  ],
  [
    "into every constructor",
    patch(JSON_PATCH, '[{"op":"add","path":"/constructor/prototype/x","value":5}]'),
    422,
    "Invalid",
    /rejected/,
  ],
  [
    "too many operations",
    patch(JSON_PATCH, OPERATIONS),
    413,
    "RequestEntityTooLarge",
    /maximum operations in a JSON patch is 10000, got 10001$/,
  ],
  ["copies of copies", patch(JSON_PATCH, DOUBLINGS), 422, "Invalid", /rejected our request/],
  [
    "another name",
    patch(MERGE, '{"metadata":{"name":"b"}}'),
    400,
    "BadRequest",
    /does not match the name on the URL \(a\)$/,
  ],
  [
    "another kind",
    patch(MERGE, '{"kind":"Secret"}'),
    422,
    "Invalid",
    /: converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/,
  ],
  [
    "a kind that does not exist",
    patch(MERGE, '{"kind":"Nothing"}'),
    422,
    "Invalid",
    /: no kind "Nothing" is registered for version "v1" in scheme "[^"]*"$/,
  ],
  [
    "a kind that is no text",
    patch(MERGE, '{"kind":5}'),
    422,
    "Invalid",
    /: couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field \.kind of type string$/,
  ],
  [
    "a kind that is no text",
    patch(STRATEGIC, '{"kind":5}'),
    422,
    "Invalid",
    /: cannot convert int64 to string$/,
  ],
  [
    "another uid",
    patch(MERGE, '{"metadata":{"uid":"b"}}'),
    422,
    "Invalid",
    /metadata\.uid: Invalid value: "b": field is immutable$/,
  ],
  [
    "another uid in an apply",
    patch(
      APPLY,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"b"}}',
      "?fieldManager=me",
    ),
    422,
    "Invalid",
    /metadata\.uid: Invalid value: "b": field is immutable$/,
  ],
  [
    "a time of deletion",
    patch(MERGE, '{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}'),
    422,
    "Invalid",
    /metadata\.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable$/,
  ],
  ["a wrong type", patch(STRATEGIC, '{"data":5}'), 422, "Invalid", /cannot restore map from int64$/],
  [
    "an unknown directive",
    patch(STRATEGIC, '{"$patch":"fly"}'),
    400,
    "BadRequest",
    /^unknown patch type in \$patch/,
  ],
  [
    "force without apply",
    patch(MERGE, "{}", "?force=true"),
    422,
    "Invalid",
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  ],
  [
    "apply without a manager",
    patch(APPLY, "apiVersion: v1\nkind: ConfigMap"),
    422,
    "Invalid",
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  ],
  [
    "apply without a kind",
    patch(APPLY, "data: {}", "?fieldManager=me"),
    400,
    "BadRequest",
    /^invalid object type/,
  ],
  [
    "apply with managed fields",
    patch(APPLY, "apiVersion: v1\nkind: ConfigMap\nmetadata: {managedFields: [{}]}", "?fieldManager=me"),
    400,
    "BadRequest",
    "metadata.managedFields must be nil",
  ],
]);

describe("keys that every JavaScript object has are ordinary data", () => {
  const DATA = '{"__proto__":"p","constructor":"c","toString":"t","hasOwnProperty":"h"}';

  test.each([
    ["JSON", JSON_TYPE, `{"metadata":{"name":"x"},"data":${DATA}}`],
    ["YAML", YAML, `metadata: {name: x}\ndata: ${DATA}`],
  ])("when they come as %s", async (_, type, body) => {
    await using api = await started();

    const created = await send(api, { body, type });
    const read = await api.send("GET", `${MAPS}/x`);

    expect(created.code).toBe(201);
    expect(read.bytes.toString()).toContain(
      '"data":{"__proto__":"p","constructor":"c","hasOwnProperty":"h","toString":"t"}',
    );
    expect(Object.hasOwn({}, "p")).toBe(false);
  });

  test.each([
    ["a merge patch", MERGE, '{"data":{"__proto__":"p","constructor":"c"}}'],
    ["a strategic patch", STRATEGIC, '{"data":{"__proto__":"p","constructor":"c"}}'],
    [
      "a JSON patch",
      JSON_PATCH,
      '[{"op":"add","path":"/data/__proto__","value":"p"},{"op":"add","path":"/data/constructor","value":"c"}]',
    ],
    ["an apply", APPLY, '{"apiVersion":"v1","kind":"ConfigMap","data":{"__proto__":"p","constructor":"c"}}'],
  ])("when %s brings them", async (_, type, body) => {
    await using api = await started();

    const reply = await send(api, patch(type, body, "?fieldManager=me"));
    const again = await send(
      api,
      patch(MERGE, '{"__proto__":{"polluted":true},"metadata":{"__proto__":{"polluted":true}}}'),
    );

    expect([reply.code, again.code]).toEqual([200, 200]);
    expect(again.bytes.toString()).toContain('"data":{"__proto__":"p","constructor":"c","k":"v"}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("and match no selector that asks for them on objects without", async () => {
    await using api = await started();
    await send(api, { body: '{"metadata":{"name":"x","labels":{"constructor":"c"}}}' });
    const names = async (selector: string): Promise<readonly unknown[]> => {
      const { body } = await api.send("GET", `${MAPS}?labelSelector=${encodeURIComponent(selector)}`);
      return listOf(body["items"]).map((item) => item["metadata"]?.["name"]);
    };

    expect(await names("constructor")).toEqual(["x"]);
    expect(await names("constructor=c")).toEqual(["x"]);
    expect(await names("!constructor")).toEqual(["a"]);
    expect(await names("toString")).toEqual([]);
    expect(await names("hasOwnProperty notin (x)")).toEqual(["a", "x"]);
  });
});

describe("whole numbers beyond 2^53 stay exact", () => {
  const REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions";
  const BODY = '{"metadata":{"name":"x"},"revision":9007199254740993,"data":{"least":-9223372036854775808}}';

  test("in fields, in raw extensions, and through every representation", async () => {
    await using api = await TestApi.start();

    const created = await api.send("POST", REVISIONS, Buffer.from(BODY));
    const accepts = [JSON_TYPE, YAML];
    const texts = await Promise.all(
      accepts.map(async (accept) =>
        (await api.send("GET", `${REVISIONS}/x`, undefined, { accept })).bytes.toString(),
      ),
    );
    const protobuf = await api.send("GET", `${REVISIONS}/x`, undefined, { accept: PROTOBUF });
    await api.send("DELETE", `${REVISIONS}/x`);
    const again = await api.send("POST", REVISIONS, withoutVersion(protobuf.bytes), { type: PROTOBUF });

    for (const text of [created.bytes.toString(), ...texts, again.bytes.toString()]) {
      expect(text).toContain("9007199254740993");
      expect(text).toContain("-9223372036854775808");
    }
  });

  test.each([
    ["a merge patch", MERGE, '{"revision":9007199254740995}'],
    ["a JSON patch", JSON_PATCH, '[{"op":"replace","path":"/revision","value":9007199254740995}]'],
    ["a patch of something else", MERGE, '{"metadata":{"labels":{"a":"b"}}}'],
  ])("through %s", async (_, type, body) => {
    await using api = await TestApi.start();
    await api.send("POST", REVISIONS, Buffer.from(BODY));

    const { code, bytes } = await api.send("PATCH", `${REVISIONS}/x`, Buffer.from(body), { type });

    expect(code).toBe(200);
    expect(bytes.toString()).toMatch(/"revision":900719925474099[35]/);
    expect(bytes.toString()).toContain('"least":-9223372036854775808');
  });

  /** A create takes no resourceVersion. */
  function withoutVersion(bytes: Buffer): Uint8Array {
    const schema = findKindSchema("apps/v1", "ControllerRevision");
    if (schema === undefined) throw new Error("there is no schema of ControllerRevision");
    expect(bytes.includes("9223372036854775808")).toBe(true);
    const data = { least: -9223372036854775808n };
    const kind = { apiVersion: "apps/v1", kind: "ControllerRevision" };
    return encodeObject(schema, { ...kind, metadata: { name: "x" }, data, revision: 9007199254740993n });
  }
});

describe("random requests", () => {
  test.each([1, 2, 3])("with seed %d are answered in time, and never by an internal error", async (seed) => {
    await using api = await started();
    const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
    await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr);
    const run = new FuzzRun(seed);

    const failures: unknown[] = [];
    for (let round = 0; round < 1500; round++) {
      const request = run.next();
      const { wrong, tookMs } = await run.answer(api, request);
      // A slow request is slow twice; a busy machine is not.
      const isSlow = tookMs > SLOWEST_MS && (await run.answer(api, request)).tookMs > SLOWEST_MS;
      if (wrong !== undefined || isSlow) failures.push({ wrong, tookMs, request });
    }

    expect(failures.slice(0, 3)).toEqual([]);
    expect((await api.send("GET", "/livez/ping")).code).toBe(200);
  });
});
