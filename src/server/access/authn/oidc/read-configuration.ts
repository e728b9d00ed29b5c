/** Reads an AuthenticationConfiguration (apiserver.config.k8s.io), and refuses an invalid one. */
import { X509Certificate } from "node:crypto";
import { FieldErrors, FieldPath, fieldErrorText } from "../../../../api/errors/field-error.ts";
import { parseYaml } from "../../../../api/yaml/yaml.ts";
import { Fields } from "../../config-fields.ts";
import type { AnonymousRule } from "../anonymous.ts";
import { compileOverClaims, compileOverUser, TEXTS } from "./claim-mapping.ts";
import { ALGORITHMS, discoveryUrlOf } from "./configuration.ts";
import type {
  AuthenticationConfiguration,
  ClaimRule,
  ExpressionRule,
  JwtIssuer,
  JwtRules,
  MappedText,
} from "./configuration.ts";

const GROUP = "apiserver.config.k8s.io";
const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `${GROUP}/${version}`);
/** Upstream's limit. */
const AUTHENTICATORS_MAX = 64;

/** `ownIssuers` are the issuers of service account tokens, which are authenticated separately. */
export function readAuthenticationConfiguration(
  text: string,
  ownIssuers: readonly string[],
): AuthenticationConfiguration {
  const errors = new FieldErrors();
  const root = new Fields(parseYaml(Buffer.from(text)).value, new FieldPath(""), errors);
  root.allow(["apiVersion", "kind", "metadata", "jwt", "anonymous"]);
  if (!VERSIONS.includes(root.text("apiVersion")))
    errors.notSupported("apiVersion", root.text("apiVersion"), VERSIONS);
  if (root.text("kind") !== "AuthenticationConfiguration")
    errors.notSupported("kind", root.text("kind"), ["AuthenticationConfiguration"]);
  const list = root.list("jwt");
  if (list.length > AUTHENTICATORS_MAX) errors.tooMany(root.path("jwt"), list.length, AUTHENTICATORS_MAX);
  const taken = new Set(ownIssuers);
  const jwt = list.map((fields) => readJwt(fields, taken));
  const anonymous = readAnonymous(root);
  if (!errors.isEmpty) throw new Error(errors.found.map(fieldErrorText).join("\n"));
  return { jwt, anonymous };
}

function readAnonymous(root: Fields): AnonymousRule | undefined {
  const fields = root.find("anonymous");
  if (fields === undefined) return undefined;
  fields.allow(["enabled", "conditions"]);
  const enabled = fields.isTrue("enabled");
  const paths = fields.list("conditions").map((condition) => {
    condition.allow(["path"]);
    return condition.required("path");
  });
  if (!enabled && paths.length > 0)
    fields.errors.invalid(
      fields.path("conditions"),
      paths,
      "enabled should be set to true when conditions are defined",
    );
  return { enabled, paths };
}

function readJwt(fields: Fields, taken: Set<string>): JwtRules {
  fields.allow(["issuer", "claimValidationRules", "claimMappings", "userValidationRules"]);
  const mappings = fields.part("claimMappings");
  mappings.allow(["username", "groups", "uid", "extra"]);
  const claimRules = fields.list("claimValidationRules").map(readClaimRule);
  const username = readMapping(mappings.part("username"), "required prefix");
  const extra = mappings.list("extra").map(readExtra);
  const seen = new Set<string>();
  for (const [at, { key }] of extra.entries()) {
    if (seen.has(key)) fields.errors.duplicate(mappings.path("extra").index(at).child("key"), key);
    seen.add(key);
  }
  requireVerification({ username, claimRules, extra }, mappings);
  return {
    issuer: readIssuer(fields.part("issuer"), taken),
    algorithms: ALGORITHMS,
    claimRules,
    username: username ?? { type: "claim", claim: "sub", prefix: "" },
    groups: readOptional(mappings.find("groups"), "required prefix"),
    uid: readOptional(mappings.find("uid"), "no prefix"),
    extra,
    userRules: fields.list("userValidationRules").map(readUserRule),
  };
}

function readIssuer(fields: Fields, taken: Set<string>): JwtIssuer {
  fields.allow([
    "url",
    "discoveryURL",
    "audiences",
    "audienceMatchPolicy",
    "certificateAuthority",
    "egressSelectorType",
  ]);
  const { errors } = fields;
  const url = fields.required("url");
  checkUrl(fields, "url");
  if (url !== "" && taken.has(url))
    errors.invalid(fields.path("url"), url, "URL must not overlap with disallowed issuers");
  taken.add(url);
  const discoveryUrl = fields.text("discoveryURL");
  if (discoveryUrl !== "") checkUrl(fields, "discoveryURL");
  if (discoveryUrl !== "" && discoveryUrl.replace(/\/$/, "") === url.replace(/\/$/, ""))
    errors.invalid(fields.path("discoveryURL"), discoveryUrl, "discoveryURL must be different from URL");
  const audiences = fields.texts("audiences");
  checkAudiences(fields, audiences);
  const ca = fields.text("certificateAuthority");
  if (ca !== "" && !isCertificate(ca))
    errors.invalid(
      fields.path("certificateAuthority"),
      "<omitted>",
      "data does not contain any valid RSA or ECDSA certificates",
    );
  return {
    url,
    discoveryUrl: discoveryUrl === "" ? discoveryUrlOf(url) : discoveryUrl,
    audiences,
    ca: ca === "" ? undefined : ca,
  };
}

function checkAudiences(fields: Fields, audiences: readonly string[]): void {
  const { errors } = fields;
  if (audiences.length === 0) errors.required(fields.path("audiences"), "at least one audience is required");
  for (const [at, audience] of audiences.entries())
    if (audience === "") errors.required(fields.path("audiences").index(at), "audience can't be empty");
  if (new Set(audiences).size < audiences.length)
    errors.invalid(fields.path("audiences"), audiences, "must be unique");
  const policy = fields.text("audienceMatchPolicy");
  if (audiences.length > 1 && policy !== "MatchAny")
    errors.invalid(
      fields.path("audienceMatchPolicy"),
      policy,
      "audienceMatchPolicy must be set to MatchAny for multiple audiences",
    );
  else if (policy !== "" && policy !== "MatchAny")
    errors.notSupported(fields.path("audienceMatchPolicy"), policy, ["MatchAny"]);
}

function checkUrl(fields: Fields, name: string): void {
  const text = fields.text(name);
  const problem = findUrlProblem(text);
  if (problem !== undefined) fields.errors.invalid(fields.path(name), text, problem);
}

/** The URL must identify one issuer, and TLS must prove that the issuer answers. */
export function findUrlProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "URL is not valid";
  }
  if (url.protocol !== "https:") return "URL scheme must be https";
  if (url.username !== "" || url.password !== "") return "URL must not contain a username or password";
  if (url.search !== "") return "URL must not contain a query";
  return url.hash === "" ? undefined : "URL must not contain a fragment";
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== "";
  } catch {
    return false;
  }
}

function readClaimRule(fields: Fields): ClaimRule {
  fields.allow(["claim", "requiredValue", "expression", "message"]);
  const { errors } = fields;
  const claim = fields.text("claim");
  const expression = fields.text("expression");
  if ((claim === "") === (expression === ""))
    errors.required(fields.path("claim"), "exactly one of claim or expression is required");
  if (claim !== "" && fields.text("message") !== "")
    errors.invalid(fields.path("message"), fields.text("message"), "message can't be set when claim is set");
  if (expression === "") return { type: "value", claim, value: fields.text("requiredValue") };
  if (fields.text("requiredValue") !== "")
    errors.invalid(
      fields.path("requiredValue"),
      fields.text("requiredValue"),
      "requiredValue can't be set when expression is set",
    );
  compile(fields, "expression", () => compileOverClaims(expression, ["bool"]));
  return { type: "expression", expression, message: fields.text("message") };
}

function readUserRule(fields: Fields): ExpressionRule {
  fields.allow(["expression", "message"]);
  const expression = fields.required("expression");
  compile(fields, "expression", () => compileOverUser(expression));
  return { expression, message: fields.text("message") };
}

type PrefixRule = "required prefix" | "no prefix";

function readOptional(fields: Fields | undefined, rule: PrefixRule): MappedText | undefined {
  return fields === undefined ? undefined : readMapping(fields, rule);
}

function readMapping(fields: Fields, rule: PrefixRule): MappedText | undefined {
  fields.allow(rule === "no prefix" ? ["claim", "expression"] : ["claim", "expression", "prefix"]);
  const { errors } = fields;
  const claim = fields.text("claim");
  const expression = fields.text("expression");
  if (claim === "" && expression === "" && !fields.has("prefix") && rule === "no prefix") return undefined;
  if ((claim === "") === (expression === "")) {
    errors.required(fields.path(), "exactly one of claim or expression is required");
    return undefined;
  }
  if (expression !== "") {
    if (fields.has("prefix"))
      errors.invalid(
        fields.path("prefix"),
        fields.text("prefix"),
        "prefix can't be set when expression is set",
      );
    compile(fields, "expression", () => compileOverClaims(expression, TEXTS));
    return { type: "expression", expression };
  }
  if (rule === "required prefix" && !fields.has("prefix"))
    errors.required(
      fields.path("prefix"),
      "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
    );
  return { type: "claim", claim, prefix: fields.text("prefix") };
}

const EXTRA_KEY = /^(?<domain>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/[^\s]+$/;
const OWN_DOMAIN = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

function readExtra(fields: Fields): { readonly key: string; readonly valueExpression: string } {
  fields.allow(["key", "valueExpression"]);
  const { errors } = fields;
  const key = fields.required("key");
  const { domain } = EXTRA_KEY.exec(key)?.groups ?? {};
  if (key !== key.toLowerCase()) errors.invalid(fields.path("key"), key, "must be lowercase");
  else if (domain === undefined)
    errors.invalid(fields.path("key"), key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else if (OWN_DOMAIN.test(domain))
    errors.invalid(
      fields.path("key"),
      key,
      "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use",
    );
  const valueExpression = fields.required("valueExpression");
  compile(fields, "valueExpression", () => compileOverClaims(valueExpression, TEXTS));
  return { key, valueExpression };
}

function compile(fields: Fields, name: string, make: () => unknown): void {
  if (fields.text(name) === "") return;
  try {
    make();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    fields.errors.invalid(fields.path(name), fields.text(name), `compilation failed: ${error.message}`);
  }
}

interface Verified {
  readonly username: MappedText | undefined;
  readonly claimRules: readonly ClaimRule[];
  readonly extra: JwtRules["extra"];
}

/** A username from an unverified email address would let users choose their name. */
function requireVerification({ username, claimRules, extra }: Verified, mappings: Fields): void {
  if (username?.type !== "expression" || !/\bclaims\.\??email\b(?!_)/.test(username.expression)) return;
  const others = [
    username.expression,
    ...claimRules.flatMap((rule) => (rule.type === "expression" ? [rule.expression] : [])),
    ...extra.map(({ valueExpression }) => valueExpression),
  ];
  if (others.some((expression) => /\bclaims\.\??email_verified\b/.test(expression))) return;
  mappings.errors.invalid(
    mappings.path("username").child("expression"),
    username.expression,
    "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
  );
}
