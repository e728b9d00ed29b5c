import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { makeAuthority, serve } from "../../src/server/egress/fixture.ts";
import { hasCondition, TestApi, text, until, watchEvents, listOf } from "../api-harness.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const V1 = "/apis/example.com/v1/namespaces/default/gauges";
const V2 = "/apis/example.com/v2/namespaces/default/gauges";

/** v1 keeps a range as one string, v2 as two numbers. */
interface Gauge {
  apiVersion: string;
  metadata: { name: string; uid?: string; labels?: Record<string, string> };
  spec: { range?: string; low?: number; high?: number };
}

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: Gauge[] };
}

/** Conversion webhook of the kind's author, with the reviews that it got. */
interface Author {
  readonly reviews: Review["request"][];
  answer: (request: Review["request"]) => Said | Promise<Said>;
}

interface Said {
  readonly status: number;
  readonly response: unknown;
}

const version = (name: string, properties: object, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties } },
    },
  },
  selectableFields: name === "v2" ? [{ jsonPath: ".spec.low" }] : [],
});

function definition(clientConfig: object): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "gauges.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "gauges", singular: "gauge", kind: "Gauge", listKind: "GaugeList" },
      versions: [
        version("v1", { range: { type: "string" } }, true),
        version("v2", { low: { type: "integer" }, high: { type: "integer" } }, false),
      ],
      conversion: {
        strategy: "Webhook",
        webhook: { conversionReviewVersions: ["v1"], clientConfig },
      },
    },
  };
}

function converted(gauge: Gauge, apiVersion: string): Gauge {
  const { low = 0, high = 0, range = "0-0" } = gauge.spec;
  const [first = "0", last = "0"] = range.split("-");
  const spec =
    apiVersion === "example.com/v1"
      ? { range: `${low}-${high}` }
      : { low: Number(first), high: Number(last) };
  return { ...gauge, apiVersion, spec };
}

function success({ uid, objects, desiredAPIVersion }: Review["request"]): Said {
  const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion));
  return { status: 200, response: { uid, convertedObjects, result: { status: "Success" } } };
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

async function startAuthor(): Promise<StartedAuthor> {
  const authority = await makeAuthority("author");
  const author: Author = { reviews: [], answer: success };
  const { port } = await serve(await authority.leaf(["127.0.0.1"]), (request, response) => {
    void read(request).then(async (body) => {
      const review = JSON.parse(body) as Review;
      author.reviews.push(review.request);
      const { status, response: answer } = await author.answer(review.request);
      response.writeHead(status, { "content-type": "application/json", location: "https://127.0.0.1:1/" });
      response.end(
        JSON.stringify({ kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", response: answer }),
      );
    });
  });
  const caBundle = Buffer.from(authority.cert).toString("base64");
  return Object.assign(author, { clientConfig: { url: `https://127.0.0.1:${port}/convert`, caBundle } });
}

interface StartedAuthor extends Author {
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
}

interface World {
  readonly api: TestApi;
  readonly author: StartedAuthor;
}

async function withGauges(run: (world: World) => Promise<void>): Promise<void> {
  await using api = await TestApi.start();
  const author = await startAuthor();
  const made = await api.send("POST", DEFINITIONS, definition(author.clientConfig));
  expect(made.code).toBe(201);
  await until(api, `${DEFINITIONS}/gauges.example.com`, hasCondition("Established"));
  await run({ api, author });
}

const gauge = (apiVersion: string, spec: object, name = "a"): object => ({
  apiVersion,
  kind: "Gauge",
  metadata: { name },
  spec,
});

describe("a kind whose versions its author converts", () => {
  test("is stored in one version and shown in each", () =>
    withGauges(async ({ api }) => {
      const made = await api.send("POST", V2, gauge("example.com/v2", { low: 1, high: 5 }));
      const old = await api.send("GET", `${V1}/a`);

      expect(made).toMatchObject({
        code: 201,
        body: { apiVersion: "example.com/v2", spec: { low: 1, high: 5 } },
      });
      expect(old).toMatchObject({
        code: 200,
        body: { apiVersion: "example.com/v1", spec: { range: "1-5" } },
      });
      expect(old.body["metadata"]?.["uid"]).toEqual(made.body["metadata"]?.["uid"]);
    }));

  test("keeps certificates by which its author can be known", () =>
    withGauges(async ({ api, author }) => {
      const path = `${DEFINITIONS}/gauges.example.com`;
      const bundle = (caBundle: string): object => ({
        spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
      });
      const { caBundle } = author.clientConfig;

      const broken = await api.send("PATCH", path, bundle("Cg=="), MERGE);
      const twice = Buffer.concat([Buffer.from(caBundle, "base64"), Buffer.from(caBundle, "base64")]);
      const grown = await api.send("PATCH", path, bundle(twice.toString("base64")), MERGE);

      expect(broken).toMatchObject({ code: 422, body: { reason: "Invalid" } });
      expect(text(broken.body["message"])).toContain(
        "unable to load root certificates: unable to parse bytes as PEM block",
      );
      expect(grown.code).toBe(200);
    }));

  test("is changed through each version", () =>
    withGauges(async ({ api }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "2-3" }));

      const patched = await api.send("PATCH", `${V2}/a`, { spec: { high: 9 } }, MERGE);
      const applied = await api.send(
        "PATCH",
        `${V2}/a?fieldManager=me&force=true`,
        gauge("example.com/v2", { low: 4 }),
        {
          type: "application/apply-patch+yaml",
        },
      );

      expect(patched).toMatchObject({ code: 200, body: { spec: { low: 2, high: 9 } } });
      expect(applied).toMatchObject({ code: 200, body: { spec: { low: 4, high: 9 } } });
      expect((await api.send("GET", `${V1}/a`)).body["spec"]).toEqual({ range: "4-9" });
    }));

  test("is listed with one question, and none once the answer is known", () =>
    withGauges(async ({ api, author }) => {
      for (const name of ["a", "b", "c"]) {
        await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }, name));
      }
      author.reviews.length = 0;

      const first = await api.send("GET", V2);
      const again = await api.send("GET", V2);

      expect(first.body["items"]).toMatchObject([
        { spec: { low: 1 } },
        { spec: { low: 1 } },
        { spec: { low: 1 } },
      ]);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      expect(author.reviews.map(({ objects }) => objects.length)).toEqual([3]);
    }));

  test("is selected by fields of the version that is asked for", () =>
    withGauges(async ({ api }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }, "a"));
      await api.send("POST", V1, gauge("example.com/v1", { range: "7-8" }, "b"));

      const { body } = await api.send("GET", `${V2}?fieldSelector=spec.low%3D7`);

      expect(body["items"]).toMatchObject([{ metadata: { name: "b" } }]);
    }));

  test("is watched in the version that is asked for", () =>
    withGauges(async ({ api }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }, "a"));
      const ending = new AbortController();
      const watching = await api.raw("GET", `${V2}?watch=1`, undefined, { signal: ending.signal });
      const seen: unknown[] = [];
      for await (const { type, object } of watchEvents(watching)) {
        seen.push([type, text(object["metadata"]?.["name"]), object["spec"]]);
        if (seen.length === 1) await api.send("POST", V1, gauge("example.com/v1", { range: "3-4" }, "b"));
        if (seen.length === 2) await api.send("DELETE", `${V1}/a`);
        if (seen.length === 3) ending.abort();
      }

      expect(seen).toEqual([
        ["ADDED", "a", { low: 1, high: 2 }],
        ["ADDED", "b", { low: 3, high: 4 }],
        ["DELETED", "a", { low: 1, high: 2 }],
      ]);
    }));

  test("keeps its identity and may change labels", () =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      author.answer = (request) => {
        const { status, response } = success(request);
        const { convertedObjects } = response as { convertedObjects: Gauge[] };
        const changed = convertedObjects.map((object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { by: "author" }, finalizers: ["no/way"], generation: 99 },
        }));
        return { status, response: { ...(response as object), convertedObjects: changed } };
      };

      const { body } = await api.send("GET", `${V2}/a`);

      expect(body["metadata"]).toMatchObject({ labels: { by: "author" }, generation: 1 });
      expect(body["metadata"]).not.toHaveProperty("finalizers");
    }));

  test.each([
    [
      "another name",
      (object: Gauge) => ({ ...object, metadata: { ...object.metadata, name: "x" } }),
      "must have the same name",
    ],
    [
      "another version",
      (object: Gauge) => ({ ...object, apiVersion: "example.com/v9" }),
      "must have apiVersion example.com/v2",
    ],
  ])("that comes back with %s is refused", (_, change, why) =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      author.answer = ({ uid, objects, desiredAPIVersion }) => ({
        status: 200,
        response: {
          uid,
          convertedObjects: objects.map((object) => change(converted(object, desiredAPIVersion))),
          result: { status: "Success" },
        },
      });

      const { code, body } = await api.send("GET", `${V2}/a`);

      expect(code).toBe(500);
      expect(text(body["message"])).toContain("conversion webhook for example.com/v1, Kind=Gauge failed: ");
      expect(text(body["message"])).toContain(why);
    }),
  );

  test.each([
    [
      "says that it failed",
      { status: 200, response: { result: { status: "Failed", message: "too wide" } } },
      "too wide",
    ],
    ["points elsewhere", { status: 302, response: {} }, "status code 302"],
  ])("shows why when its author %s, and stays as it was", (_, { status, response }, why) =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      author.answer = ({ uid }) => ({ status, response: { uid, ...response } });

      const shown = await api.send("GET", `${V2}/a`);
      const changed = await api.send("PATCH", `${V2}/a`, { spec: { low: 2 } }, MERGE);
      const listed = await api.send("GET", V2);

      expect([shown.code, changed.code, listed.code]).toEqual([500, 500, 500]);
      expect(text(shown.body["message"])).toContain(why);
      expect((await api.send("GET", `${V1}/a`)).body["spec"]).toEqual({ range: "1-2" });
    }),
  );

  test("shows its metadata and goes away without its author", () =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      author.answer = () => ({ status: 500, response: {} });
      const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

      const metadata = await api.send("GET", V2, undefined, { accept });
      await api.send("DELETE", `${DEFINITIONS}/gauges.example.com`);
      await until(api, `${DEFINITIONS}/gauges.example.com`, (object) => object === undefined);

      expect(metadata).toMatchObject({ code: 200, body: { items: [{ metadata: { name: "a" } }] } });
      expect((await api.send("GET", `${V1}/a`)).code).toBe(404);
    }));

  test("that cannot be converted hides no change of another object", () =>
    withGauges(async ({ api, author }) => {
      const storage = [false, true].map((value, at) => ({
        op: "replace",
        path: `/spec/versions/${String(at)}/storage`,
        value,
      }));
      const type = "application/json-patch+json";
      await api.send("PATCH", `${DEFINITIONS}/gauges.example.com`, storage, { type });
      await api.send("POST", V2, gauge("example.com/v2", { low: 1, high: 2 }));
      await api.send("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "b" } });
      author.answer = () => ({ status: 500, response: {} });

      const { code, body } = await api.send("GET", "/apis/causes.setpoint.dev/v1/namespaces/default/changes");

      const changes = listOf<{ object: { name: string }; fields?: unknown }>(body["items"]);
      const fieldsOf = (name: string): unknown => changes.find(({ object }) => object.name === name)?.fields;
      expect([code, fieldsOf("a"), fieldsOf("b")]).toEqual([200, undefined, expect.any(Array)]);
    }));

  test("retries on the newest object when another writer was faster than its author", () =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      let raced: Promise<ReplyOf> | undefined;
      author.answer = (request) => {
        raced ??= api.send("PATCH", `${V1}/a`, { metadata: { labels: { fast: "yes" } } }, MERGE);
        return success(request);
      };

      const patched = await api.send("PATCH", `${V2}/a`, { spec: { high: 9 } }, MERGE);
      await raced;

      expect(patched.code).toBe(200);
      expect((await api.send("GET", `${V1}/a`)).body).toMatchObject({
        metadata: { labels: { fast: "yes" } },
        spec: { range: "1-9" },
      });
    }));

  test("is converted alone when it is listed by its name", () =>
    withGauges(async ({ api, author }) => {
      for (const name of ["a", "b", "c"])
        await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }, name));

      const { body } = await api.send("GET", `${V2}?fieldSelector=metadata.name%3Da`);

      expect(listOf<Gauge>(body["items"]).map(({ spec }) => spec)).toEqual([{ low: 1, high: 2 }]);
      expect(author.reviews.flatMap(({ objects }) => objects.map(({ metadata }) => metadata.name))).toEqual([
        "a",
      ]);
    }));

  /** More writes than the server caches conversions of replaced objects. */
  const WRITES = 2100;

  async function replaceAll(api: TestApi): Promise<void> {
    await api.send("PATCH", `${V1}/a`, { spec: { range: "8-9" } }, MERGE);
    for (let count = 0; count < WRITES; count += 1)
      await api.send("PATCH", `${V1}/b`, { spec: { range: `${String(count)}-9999` } }, MERGE);
  }

  test("is listed as it was, however much is written while its author thinks", () =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      await api.send("POST", V1, gauge("example.com/v1", { range: "3-4" }, "b"));
      author.answer = async (request) => {
        if (author.reviews.length === 1) await replaceAll(api);
        return success(request);
      };

      const { code, body } = await api.send("GET", V2);

      expect([code, listOf<Gauge>(body["items"]).map(({ spec }) => spec)]).toEqual([
        200,
        [
          { low: 1, high: 2 },
          { low: 3, high: 4 },
        ],
      ]);
    }));

  test("is watched, however much is written while its author thinks", () =>
    withGauges(async ({ api, author }) => {
      await api.send("POST", V1, gauge("example.com/v1", { range: "1-2" }));
      await api.send("POST", V1, gauge("example.com/v1", { range: "3-4" }, "b"));
      author.answer = async (request) => {
        if (author.reviews.length === 1) await replaceAll(api);
        return success(request);
      };
      const ending = new AbortController();
      const options = { signal: ending.signal };
      const watching = await api.raw("GET", `${V2}?watch=1&timeoutSeconds=60`, undefined, options);

      const seen: unknown[] = [];
      for await (const { type, object } of watchEvents(watching)) {
        seen.push([type, object["spec"] ?? object["message"]]);
        if (seen.length === 3) ending.abort();
      }

      expect(seen.slice(0, 3)).toEqual([
        ["ADDED", { low: 1, high: 2 }],
        ["ADDED", { low: 3, high: 4 }],
        ["MODIFIED", { low: 8, high: 9 }],
      ]);
    }));
});

const MERGE = { type: "application/merge-patch+json" };
type ReplyOf = Awaited<ReturnType<TestApi["send"]>>;
