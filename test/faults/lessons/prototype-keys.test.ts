/**
 * Names that every JavaScript object inherits are ordinary names wherever a request can bring them: in kinds, fields, expressions, roles,
 * selectors, headers. test/conformance/bad-input.test.ts covers bodies, labels and the four patches.
 */
import { describe, expect, test } from "vitest";
import { TestApi, text, listOf } from "../../api-harness.ts";
import type { Reply } from "../../api-harness.ts";
import { bind } from "../../conformance/admission-policy-fixture.ts";
import { custom, defineKind, made } from "./custom-kind.ts";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
const MAPS = "/api/v1/namespaces/default/configmaps";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const BOB = { as: { user: "bob", groups: [] } };

/** All names as own keys, including `__proto__`, as parsed JSON has them. */
function all(value: string, names: readonly string[] = NAMES): unknown {
  return JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:${value}`).join(",")}}`);
}

async function names(api: TestApi, target: string): Promise<readonly string[]> {
  const { body } = await made(api.send("GET", target));
  return listOf(body["items"]).map((item) => text(item["metadata"]?.["name"]));
}

describe("a kind whose names are inherited by every object", () => {
  test.each(["constructor", "tostring", "valueof", "hasownproperty"])(
    "is like any other: %s",
    async (plural) => {
      await using api = await TestApi.start();
      const collection = `/apis/example.com/v1/namespaces/default/${plural}`;
      const before = await api.send("GET", collection);

      await defineKind(api, { plural, kind: plural });
      await made(api.send("POST", collection, custom(plural, "a")));

      expect(before.code).toBe(404);
      expect(await names(api, collection)).toEqual(["a"]);
      const { body } = await made(api.send("GET", "/apis/example.com/v1"));
      expect(listOf(body["resources"]).map(({ name }) => name)).toEqual([plural]);
      expect((await api.send("GET", "/openapi/v3/apis/example.com/v1")).code).toBe(200);
      expect((await api.send("GET", "/openapi/v2")).code).toBe(200);
      expect((await api.send("GET", `${collection}/a/${plural}`)).code).toBe(404);
    },
  );

  test("and of groups, versions and kinds that are not there, nothing is", async () => {
    await using api = await TestApi.start();
    const targets = NAMES.flatMap((name) => [
      `/api/${name}`,
      `/api/v1/${name}`,
      `/apis/${name}`,
      `/apis/apps/${name}`,
      `/apis/${name}/v1/pods`,
      `/apis/apps/${name}/deployments`,
      `${MAPS}/a/${name}`,
      `/openapi/v3/apis/${name}/v1`,
      `/${name}`,
      `/healthz/${name}`,
      `/metrics/${name}`,
    ]);

    for (const target of targets)
      expect([target, (await api.send("GET", target)).code]).toEqual([target, 404]);
  });
});

describe("fields with such names", () => {
  const FIELD = '{"type":"string","maxLength":50}';
  const ITEM = { type: "object", properties: all(FIELD) };
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: all(FIELD),
        required: ["constructor"],
        "x-kubernetes-validations": [
          {
            rule: "self.constructor != 'bad' && !has(self.toString) && !has(self.valueOf)",
            message: "ruled",
          },
        ],
      },
      open: { type: "object", additionalProperties: { type: "integer" } },
      items: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["constructor"],
        items: { ...ITEM, required: ["constructor"] },
      },
      given: { type: "object", default: {}, properties: all('{"type":"string","default":"d"}') },
    },
  };

  async function started(): Promise<TestApi> {
    const api = await TestApi.start();
    await defineKind(api, {
      plural: "odd",
      schema,
      more: {
        additionalPrinterColumns: [{ name: "constructor", type: "string", jsonPath: ".spec.constructor" }],
        selectableFields: [{ jsonPath: ".spec.constructor" }],
      },
    });
    return api;
  }
  const ODD = "/apis/example.com/v1/namespaces/default/odd";
  const send = (api: TestApi, name: string, fields: string): Promise<Reply> =>
    api.send(
      "POST",
      ODD,
      Buffer.from(`{"apiVersion":"example.com/v1","kind":"odd","metadata":{"name":"${name}"},${fields}}`),
    );

  test("are required, pruned, bounded and ruled as the schema says", async () => {
    await using api = await started();

    const replies = [
      await send(api, "none", '"spec":{}'),
      await send(api, "ruled", '"spec":{"constructor":"bad"}'),
      await send(api, "shown", '"spec":{"constructor":"a","toString":"x"}'),
      await send(api, "long", `"spec":{"constructor":"${"x".repeat(51)}"}`),
      await send(api, "kind", '"spec":{"constructor":"a","__proto__":5}'),
      await send(api, "open", '"spec":{"constructor":"a"},"open":{"__proto__":"no number"}'),
    ];
    const good = await made(
      send(
        api,
        "good",
        '"spec":{"constructor":"a","__proto__":"p","unknown":{}},"open":{"__proto__":1,"toString":2}',
      ),
    );

    expect(replies.map(({ code }) => code)).toEqual([422, 422, 422, 422, 422, 422]);
    expect(text(replies[0]?.body["message"])).toContain("spec.constructor: Required value");
    expect(text(replies[1]?.body["message"])).toContain("ruled");
    expect(good.bytes.toString()).toContain('"spec":{"__proto__":"p","constructor":"a"}');
    expect(good.bytes.toString()).toContain('"open":{"__proto__":1,"toString":2}');
    const given = NAMES.toSorted().map((name) => `"${name}":"d"`);
    expect(good.bytes.toString()).toContain(`"given":{${given.join(",")}}`);
  });

  test("are selected and shown in columns", async () => {
    await using api = await started();
    await made(send(api, "one", '"spec":{"constructor":"a"}'));
    await made(send(api, "two", '"spec":{"constructor":"b"}'));

    const table = await api.send("GET", ODD, undefined, {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
    });

    expect(await names(api, `${ODD}?fieldSelector=spec.constructor%3Db`)).toEqual(["two"]);
    const rows = listOf<{ cells: unknown[] }>(table.body["rows"]);
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["one", "a"],
      ["two", "b"],
    ]);
  });

  test("tell the items of a list apart, and have owners", async () => {
    await using api = await started();
    const apply = (manager: string, value: string): Promise<Reply> =>
      api.send(
        "PATCH",
        `${ODD}/x?fieldManager=${manager}&force=true`,
        Buffer.from(
          `{"apiVersion":"example.com/v1","kind":"odd","metadata":{"name":"x"},"spec":{"constructor":"a"},"items":[{"constructor":"${manager}","__proto__":"${value}"}]}`,
        ),
        { type: "application/apply-patch+yaml" },
      );
    await made(apply("toString", "1"));
    await made(apply("valueOf", "2"));

    const { bytes } = await made(apply("toString", "3"));

    expect(bytes.toString()).toContain(
      '"items":[{"__proto__":"3","constructor":"toString"},{"__proto__":"2","constructor":"valueOf"}]',
    );
    expect(bytes.toString()).toContain('"f:__proto__":{}');
  });
});

describe("expressions over such names", () => {
  test("see what is there and nothing else", async () => {
    await using api = await TestApi.start();
    const none = NAMES.map((name) => `!('${name}' in object.data)`).join(" && ");
    await bind(api, "Validating", {
      spec: { validations: [{ expression: `has(object.data.all) ? true : ${none}`, message: "is there" }] },
      binding: { validationActions: ["Deny"] },
    });
    await bind(api, "Validating", {
      name: "values",
      spec: {
        validations: [
          {
            expression:
              "!has(object.data.all) || (object.data['__proto__'] == 'v' && object.data['constructor'] == 'v' && object.data.size() == 6)",
          },
        ],
      },
      binding: { validationActions: ["Deny"] },
    });
    const map = (name: string, data: unknown): object => ({ metadata: { name }, data });

    const without = await api.send("POST", MAPS, map("without", { a: "b" }));
    const one = await api.send("POST", MAPS, map("one", all('"v"', ["constructor"])));
    const every = await api.send("POST", MAPS, map("every", all('"v"', [...NAMES, "all"])));

    expect([without.code, one.code, every.code]).toEqual([201, 422, 201]);
  });
});

describe("roles over such names", () => {
  async function started(rule: object, who = "bob"): Promise<TestApi> {
    const api = await TestApi.start();
    await made(api.send("POST", `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules: [rule] }));
    await made(
      api.send("POST", `${RBAC}/clusterrolebindings`, {
        metadata: { name: "r" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: who }],
      }),
    );
    return api;
  }

  test("allow those and nothing else", async () => {
    await using api = await started({
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: NAMES,
      verbs: NAMES,
    });

    expect((await api.send("GET", `${MAPS}/a`, undefined, BOB)).code).toBe(403);
    expect((await api.send("GET", `${MAPS}/constructor`, undefined, BOB)).code).toBe(403);
    for (const name of NAMES)
      expect((await api.send(name, `${MAPS}/${name}`, undefined, BOB)).code).toBe(400);
    const review = async (verb: string, name: string): Promise<unknown> => {
      const resourceAttributes = { verb, resource: "configmaps", namespace: "default", name };
      const spec = { user: "bob", resourceAttributes };
      const kind = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
      const target = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      return (await made(api.send("POST", target, { ...kind, spec }))).body["status"]?.["allowed"];
    };
    expect(await review("constructor", "toString")).toBe(true);
    expect(await review("get", "toString")).toBe(false);
    expect(await review("constructor", "other")).toBe(false);
    expect(await review("isPrototypeOf", "toString")).toBe(false);
  });

  test.each(NAMES)("make %s an ordinary name of a user, a group and an extra", async (name) => {
    await using api = await started(
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
      name,
    );
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const headers = {
      "impersonate-user": name,
      "impersonate-group": name,
      [`impersonate-extra-${name.toLowerCase()}`]: "value",
    };

    const as = await made(
      api.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, { headers }),
    );
    const read = await api.send("GET", `${MAPS}/a`, undefined, { headers });
    const bob = await api.send("GET", `${MAPS}/a`, undefined, { ...BOB, headers });

    expect(as.bytes.toString()).toContain(
      `"userInfo":{"extra":{"${name.toLowerCase()}":["value"]},"groups":["${name}","system:authenticated"],"username":"${name}"}`,
    );
    expect([read.code, bob.code]).toEqual([403, 403]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

test("queries with such names change nothing", async () => {
  await using api = await TestApi.start();
  await made(api.send("POST", MAPS, { metadata: { name: "a" } }));

  for (const name of NAMES) {
    expect(await names(api, `${MAPS}?${name}=1&${name}.x=2&${name}[x]=3`)).toEqual(["a"]);
    expect(await names(api, `${MAPS}?labelSelector=${name === "__proto__" ? "a" : name}`)).toEqual([]);
    expect((await api.send("GET", `${MAPS}?fieldSelector=${name}%3Da`)).code).toBe(400);
  }
  expect(({} as { x?: unknown }).x).toBeUndefined();
});
