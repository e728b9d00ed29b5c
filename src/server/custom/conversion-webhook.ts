/**
 * Calls the conversion webhook of a custom kind. From its response the server takes the fields outside metadata,
 * labels and annotations; other metadata cannot change.
 */
import { ApiError } from "../../api/errors/api-error.ts";
import type { CustomResourceConversion } from "../../api/generated/types/apiextensions-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { parseJson } from "../../api/json/json-scan.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { EgressError } from "../egress/egress.ts";
import type { Egress, EgressTarget } from "../egress/egress.ts";
import { restTarget } from "../egress/rest-target.ts";

export interface ConversionParts {
  readonly loop: Loop;
  readonly egress: Egress;
}

/** Converts objects of one kind and one version to another version in one call; keeps their order. */
export type Convert = (objects: readonly ApiObject[], apiVersion: string) => Promise<readonly ApiObject[]>;

/** Upstream's timeout. */
const TIMEOUT_MS = 30_000;
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
/** Supported versions of ConversionReview, the preferred one first. */
const REVIEW_VERSIONS = ["v1", "v1beta1"] as const;

export function conversionWebhook(conversion: CustomResourceConversion, parts: ConversionParts): Convert {
  return (objects, apiVersion) => ask(objects, apiVersion, { conversion, parts });
}

interface Webhook {
  readonly conversion: CustomResourceConversion;
  readonly parts: ConversionParts;
}

async function ask(
  objects: readonly ApiObject[],
  apiVersion: string,
  webhook: Webhook,
): Promise<readonly ApiObject[]> {
  const [first] = objects;
  if (first === undefined) return [];
  const fail = (why: string): ApiError =>
    new ApiError(
      "InternalError",
      `conversion webhook for ${first.apiVersion}, Kind=${first.kind} failed: ${why}`,
    );
  const uid = webhook.parts.loop.random("conversion-reviews").uuid();
  const answer = await call(reviewOf({ uid, objects, apiVersion }, webhook), webhook, fail);
  const found = convertedObjects(answer, uid, fail);
  if (found.length !== objects.length) {
    throw fail(`webhook returned ${found.length} objects, expected ${objects.length}`);
  }
  return objects.map((object, at) => restored(found[at], object, { apiVersion, fail, at }));
}

interface Question {
  readonly uid: string;
  readonly objects: readonly ApiObject[];
  readonly apiVersion: string;
}

function reviewOf({ uid, objects, apiVersion }: Question, { conversion }: Webhook): JsonObject {
  const known = conversion.webhook?.conversionReviewVersions ?? [];
  const version = REVIEW_VERSIONS.find((each) => known.includes(each)) ?? "v1";
  return {
    kind: "ConversionReview",
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects },
  };
}

async function call(
  review: JsonObject,
  { conversion, parts }: Webhook,
  fail: (why: string) => ApiError,
): Promise<JsonObject> {
  const { clientConfig } = conversion.webhook ?? {};
  const ca = clientConfig?.caBundle;
  try {
    const reply = await parts.egress.call({
      target: restTarget(targetOf(conversion)),
      trust: { ca: ca === undefined || ca === "" ? undefined : Buffer.from(ca, "base64").toString() },
      method: "POST",
      path: `?timeout=${TIMEOUT_MS / 1000}s`,
      headers: { "content-type": "application/json", accept: "application/json" },
      body: Buffer.from(stringifyJson(review)),
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: REPLY_BYTES_MAX,
      signal: new AbortController().signal,
      isRepeatable: true,
    });
    if (reply.status !== 200) throw fail(`the server answered with status code ${reply.status}`);
    const { value } = parseJson(reply.body);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof EgressError || error instanceof SyntaxError) throw fail(error.message);
    throw error;
  }
  throw fail("the answer is no object");
}

function targetOf({ webhook }: CustomResourceConversion): EgressTarget {
  const { url, service } = webhook?.clientConfig ?? {};
  if (service === undefined) return { type: "url", url: url ?? "" };
  const { namespace, name, port = 443, path = "" } = service;
  return { type: "service", namespace, name, port, path };
}

function convertedObjects(
  answer: JsonObject,
  uid: string,
  fail: (why: string) => ApiError,
): readonly unknown[] {
  const { response } = answer;
  if (!isJsonObject(response)) throw fail("no response provided");
  if (response["uid"] !== uid) throw fail(`expected response.uid="${uid}"`);
  const result = isJsonObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success") {
    const message = result["message"];
    throw fail(
      typeof message === "string" && message !== "" ? message : 'response.result.status was not "Success"',
    );
  }
  const objects = response["convertedObjects"];
  return Array.isArray(objects) ? objects : [];
}

interface Expected {
  readonly apiVersion: string;
  readonly fail: (why: string) => ApiError;
  readonly at: number;
}

const IDENTITY = ["name", "namespace", "uid"] as const;

/** Restores the metadata that a conversion must not change. A response for another object is refused. */
function restored(found: unknown, original: ApiObject, { apiVersion, fail, at }: Expected): ApiObject {
  const problem = (what: string): ApiError => fail(`invalid converted object at index ${at}: ${what}`);
  if (!isJsonObject(found)) throw problem("no object");
  if (found["apiVersion"] !== apiVersion) throw problem(`must have apiVersion ${apiVersion}`);
  if (found["kind"] !== original.kind) throw problem(`must have kind ${original.kind}`);
  const metadata = isJsonObject(found["metadata"]) ? found["metadata"] : {};
  for (const field of IDENTITY) {
    if ((metadata[field] ?? "") !== (original.metadata[field] ?? ""))
      throw problem(`must have the same ${field}`);
  }
  const { labels: _, annotations: __, ...kept } = original.metadata;
  const { labels, annotations } = metadata;
  const next = {
    ...kept,
    ...(isJsonObject(labels) && { labels }),
    ...(isJsonObject(annotations) && { annotations }),
  };
  return { ...found, metadata: next } as ApiObject;
}
