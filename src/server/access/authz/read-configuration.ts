/** Reads an AuthorizationConfiguration (apiserver.config.k8s.io), and refuses an invalid one. */
import { FieldErrors, FieldPath, fieldErrorText } from "../../../api/errors/field-error.ts";
import { parseDuration } from "../../../api/values/time.ts";
import { parseYaml } from "../../../api/yaml/yaml.ts";
import { errorText } from "../../../base/error-text.ts";
import { Fields } from "../config-fields.ts";
import type { AuthorizerOptions, WebhookOptions } from "./authorization-options.ts";
import { compileConditions } from "./webhook/access-conditions.ts";

const GROUP = "apiserver.config.k8s.io";
const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `${GROUP}/${version}`);
const PLAIN = ["Node", "RBAC", "AlwaysAllow", "AlwaysDeny"] as const;
const TYPES = [...PLAIN, "Webhook"];
const LONGEST_TIMEOUT_MS = 30_000;
const AUTHORIZED_TTL = "5m";
const UNAUTHORIZED_TTL = "30s";
const CONDITIONS_MAX = 64;

type PlainType = (typeof PLAIN)[number];

/** A webhook without its address and credentials, which are in a kubeconfig file. */
export interface ConfiguredWebhook extends Omit<WebhookOptions, "url" | "ca" | "pair" | "headers"> {
  readonly type: "Webhook";
  readonly kubeconfigFile: string;
}

export type ConfiguredAuthorizer = Exclude<AuthorizerOptions, { type: "Webhook" }> | ConfiguredWebhook;

/** Throws an Error with one line per problem. */
export function readAuthorizationConfiguration(text: string): readonly ConfiguredAuthorizer[] {
  const errors = new FieldErrors();
  const root = new Fields(parseYaml(Buffer.from(text)).value, new FieldPath(""), errors);
  root.allow(["apiVersion", "kind", "metadata", "authorizers"]);
  if (!VERSIONS.includes(root.text("apiVersion")))
    errors.notSupported("apiVersion", root.text("apiVersion"), VERSIONS);
  if (root.text("kind") !== "AuthorizationConfiguration")
    errors.notSupported("kind", root.text("kind"), ["AuthorizationConfiguration"]);
  const list = root.list("authorizers");
  if (list.length === 0)
    errors.required(root.path("authorizers"), "at least one authorization mode must be defined");
  const seen = new Set<string>();
  const read = list.flatMap((fields) => readAuthorizer(fields, seen));
  if (!errors.isEmpty) throw new Error(errors.found.map(fieldErrorText).join("\n"));
  return read;
}

function isPlain(type: string): type is PlainType {
  return (PLAIN as readonly string[]).includes(type);
}

function readAuthorizer(fields: Fields, seen: Set<string>): readonly ConfiguredAuthorizer[] {
  fields.allow(["type", "name", "webhook"]);
  const type = fields.required("type");
  const name = fields.required("name");
  if (seen.has(`name ${name}`)) fields.errors.duplicate(fields.path("name"), name);
  seen.add(`name ${name}`);
  if (isPlain(type)) {
    if (seen.has(`type ${type}`)) fields.errors.duplicate(fields.path("type"), type);
    seen.add(`type ${type}`);
    if (fields.has("webhook"))
      fields.errors.invalid(fields.path("webhook"), "non-null", "may only be specified when type=Webhook");
    return [{ type }];
  }
  if (type === "Webhook") return [readWebhook(fields.part("webhook"), name)];
  if (type !== "") fields.errors.notSupported(fields.path("type"), type, TYPES);
  return [];
}

function readWebhook(fields: Fields, name: string): ConfiguredWebhook {
  fields.allow([
    "authorizedTTL",
    "cacheAuthorizedRequests",
    "unauthorizedTTL",
    "cacheUnauthorizedRequests",
    "timeout",
    "subjectAccessReviewVersion",
    "matchConditionSubjectAccessReviewVersion",
    "failurePolicy",
    "connectionInfo",
    "matchConditions",
  ]);
  const timeoutMs = readDuration(fields, "timeout", "");
  if (timeoutMs > LONGEST_TIMEOUT_MS)
    fields.errors.invalid(
      fields.path("timeout"),
      fields.text("timeout"),
      "must be less than or equal to 30s",
    );
  return {
    type: "Webhook",
    name,
    version: readChoice(fields, "subjectAccessReviewVersion", ["v1", "v1beta1"]),
    timeoutMs,
    authorizedTtlMs: readTtl(fields, "authorizedTTL", {
      flag: "cacheAuthorizedRequests",
      fallback: AUTHORIZED_TTL,
    }),
    unauthorizedTtlMs: readTtl(fields, "unauthorizedTTL", {
      flag: "cacheUnauthorizedRequests",
      fallback: UNAUTHORIZED_TTL,
    }),
    onFailure:
      readChoice(fields, "failurePolicy", ["NoOpinion", "Deny"]) === "Deny" ? "denied" : "no opinion",
    matchConditions: readConditions(fields),
    kubeconfigFile: readConnection(fields.part("connectionInfo")),
  };
}

function readChoice<T extends string>(fields: Fields, name: string, choices: readonly [T, ...T[]]): T {
  const text = fields.required(name);
  const found = choices.find((choice) => choice === text);
  if (found === undefined && text !== "") fields.errors.notSupported(fields.path(name), text, choices);
  return found ?? choices[0];
}

function readTtl(
  fields: Fields,
  name: string,
  { flag, fallback }: { readonly flag: string; readonly fallback: string },
): number {
  const isOff = fields.has(flag) && !fields.isTrue(flag);
  const ttlMs = readDuration(fields, name, fallback);
  return isOff ? 0 : ttlMs;
}

function readDuration(fields: Fields, name: string, fallback: string): number {
  const given = fields.text(name);
  const text = given === "" ? fallback : given;
  if (text === "") {
    fields.errors.required(fields.path(name));
    return 0;
  }
  try {
    const ms = Number(parseDuration(text) / 1_000_000n);
    if (ms > 0) return ms;
    fields.errors.invalid(fields.path(name), text, "must be greater than zero");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    fields.errors.invalid(fields.path(name), text, error.message);
  }
  return 0;
}

function readConditions(fields: Fields): readonly string[] {
  const conditions = fields.list("matchConditions").map((condition) => {
    condition.allow(["expression"]);
    return condition.required("expression");
  });
  const path = fields.path("matchConditions");
  if (conditions.length > CONDITIONS_MAX) fields.errors.tooMany(path, conditions.length, CONDITIONS_MAX);
  else if (conditions.length > 0) {
    const version = "matchConditionSubjectAccessReviewVersion";
    readChoice(fields, version, ["v1"]);
  }
  for (const [at, expression] of conditions.entries()) {
    try {
      compileConditions([expression]);
    } catch (error) {
      const why = errorText(error);
      fields.errors.invalid(path.index(at).child("expression"), expression, why);
    }
  }
  return conditions;
}

function readConnection(fields: Fields): string {
  fields.allow(["type", "kubeConfigFile"]);
  // InClusterConfig is not supported: the server does not run in a pod.
  readChoice(fields, "type", ["KubeConfigFile"]);
  return fields.required("kubeConfigFile");
}
