/** Issues tokens of service accounts: `serviceaccounts/NAME/token`. Nothing is stored. */
import { conflict, invalid, notFound } from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type { TokenRequest } from "../../../api/generated/types/authentication-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import { textClaim } from "../../access/authn/jwt.ts";
import type { TokenIssuer } from "../../access/authn/token-issuer.ts";
import type { Admission } from "../../admission/admission.ts";
import { callPass } from "../../admission/admission.ts";
import { groupResource } from "../../objects/registry.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { readObject } from "../../write/incoming.ts";
import type { WriteCall } from "../../write/write-call.ts";
import type { TokenBindingParts } from "./token-binding.ts";
import { boundTo, isForTokenSecret } from "./token-binding.ts";

export interface TokenParts extends TokenBindingParts {
  readonly loop: Loop;
  /** Issuer of service account tokens. */
  readonly tokens: TokenIssuer;
  readonly admission: Pick<Admission, "pass">;
}

const API_VERSION = "authentication.k8s.io/v1";
const KIND = "TokenRequest";

const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

export async function createToken(call: WriteCall<StoredResource>, verbParts: TokenParts): Promise<Answer> {
  const { resource } = call;
  const schema = requestSchema();
  const { object } = await readObject(call, { apiVersion: API_VERSION, kind: KIND, schema });
  checkPlace(object, call);
  const pass = callPass({ call, verbParts }, "CREATE");
  const draft = (pass === undefined ? object : await pass.admit(object)) as Draft<TokenRequest>;
  const account = await readAccount(resource, call, verbParts);
  checkUid(draft, account);
  const now = verbParts.loop.now();
  fillIn(draft, { account, now, audiences: verbParts.tokens.audiences });
  checkSpec(draft);
  shorten(draft, call, verbParts);
  const bound = boundTo(draft.spec.boundObjectRef, { account, verbParts });
  const life = lifeOf(draft, bound, verbParts);
  const claims = {
    ...claimsOf(draft, account, { now, seconds: life.seconds }),
    ...identity({ account, bound, verbParts, warnAfter: secondsOf(now) + life.warnAfterSeconds }),
  };
  call.notes.annotate("authentication.kubernetes.io/issued-credential-id", `JTI=${textClaim(claims, "jti")}`);
  draft.status = {
    token: verbParts.tokens.sign(claims),
    expirationTimestamp: timeText(now + draft.spec.expirationSeconds * 1000),
  };
  return { type: "object", code: 201, object: inNormalForm(draft, schema) };
}

function requestSchema(): StructSchema {
  const schema = findKindSchema(API_VERSION, KIND);
  if (schema === undefined) throw new Error("the published API has no TokenRequest");
  return schema;
}

function inNormalForm(draft: Draft<TokenRequest>, schema: StructSchema): ApiObject {
  return toNormalForm(schema, draft).value as ApiObject;
}

function checkPlace({ metadata }: ApiObject, { info }: Call): void {
  const errors = new FieldErrors();
  const { name = info.name, namespace = info.namespace } = metadata;
  if (name !== info.name) {
    errors.invalid("metadata.name", name, "must match the service account name if specified");
  }
  if (namespace !== info.namespace) {
    errors.invalid("metadata.namespace", namespace, "must match the service account namespace if specified");
  }
  refuse(errors, info.name);
}

async function readAccount(
  resource: StoredResource,
  { info }: Call,
  { store, versions }: TokenParts,
): Promise<ApiObject> {
  const entry = (await store.fresh()).get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound(groupResource(resource), info.name);
  return versions.entry(entry, resource);
}

/** A request that names an earlier account of the same name gets no token. */
function checkUid({ metadata }: ApiObject, account: ApiObject): void {
  const { name = "", uid = "" } = account.metadata;
  const { uid: requested = "" } = metadata;
  if (requested === "" || requested === uid) return;
  const why = `the UID in the token request (${requested}) does not match the UID of the service account (${uid})`;
  throw conflict({ group: "authentication.k8s.io", resource: KIND }, name, why);
}

interface Completion {
  readonly account: ApiObject;
  readonly now: number;
  readonly audiences: readonly string[];
}

function fillIn(draft: Draft<TokenRequest>, { account, now, audiences }: Completion): void {
  const { name, namespace, uid } = account.metadata;
  Object.assign(draft.metadata, { name, namespace, uid });
  draft.metadata.creationTimestamp = timeText(now);
  const { spec } = draft;
  if (spec.audiences.length === 0) spec.audiences = [...audiences];
  spec.expirationSeconds ??= DEFAULT_SECONDS;
}

function checkSpec({ spec }: TokenRequest): void {
  const errors = new FieldErrors();
  const { expirationSeconds } = spec;
  if (expirationSeconds < MIN_SECONDS) {
    errors.invalid(
      "spec.expirationSeconds",
      expirationSeconds,
      "may not specify a duration less than 10 minutes",
    );
  }
  if (expirationSeconds > MAX_SECONDS) {
    errors.invalid(
      "spec.expirationSeconds",
      expirationSeconds,
      "may not specify a duration larger than 2^32 seconds",
    );
  }
  refuse(errors, "");
}

/**
 * Shortens the lifetime to the configured maximum and warns the client. A token bound to a token Secret keeps its lifetime: no
 * component would renew it.
 */
function shorten({ spec }: Draft<TokenRequest>, { info, notes }: Call, verbParts: TokenParts): void {
  const { maxSeconds } = verbParts.tokens;
  if (maxSeconds === undefined || spec.expirationSeconds <= maxSeconds) return;
  if (isForTokenSecret(spec.boundObjectRef, { namespace: info.namespace, verbParts })) return;
  notes.warn(
    `requested expiration of ${String(spec.expirationSeconds)} seconds shortened to ${String(maxSeconds)} seconds`,
  );
  spec.expirationSeconds = maxSeconds;
}

/** Lifetime that admission requests for the token of each pod. */
const PROJECTED_SECONDS = 3607;
const YEAR_SECONDS = 365 * 24 * 3600;

interface TokenLife {
  readonly seconds: number;
  /** Age after which the use of the token is logged as stale. NaN for a token that need not be renewed. */
  readonly warnAfterSeconds: number;
}

/** Extends the token of a pod, as upstream: programs that read it once must not fail after an hour. It still ends with the pod. */
function lifeOf({ spec }: TokenRequest, bound: JsonObject, { tokens }: TokenParts): TokenLife {
  const { expirationSeconds: seconds, audiences } = spec;
  const isProjected = seconds === PROJECTED_SECONDS && bound["pod"] !== undefined;
  const isForServer = audiences.every((audience) => tokens.audiences.includes(audience));
  if (!isProjected || !isForServer) return { seconds, warnAfterSeconds: Number.NaN };
  return { seconds: YEAR_SECONDS, warnAfterSeconds: seconds };
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

function refuse(errors: FieldErrors, name: string): void {
  if (!errors.isEmpty) throw invalid({ group: "authentication.k8s.io", kind: KIND }, name, errors.found);
}

function claimsOf(
  { spec }: TokenRequest,
  { metadata }: ApiObject,
  { now, seconds }: { readonly now: number; readonly seconds: number },
): JsonObject {
  const issuedAt = secondsOf(now);
  return {
    aud: spec.audiences,
    exp: issuedAt + seconds,
    iat: issuedAt,
    nbf: issuedAt,
    sub: `system:serviceaccount:${metadata.namespace ?? ""}:${metadata.name ?? ""}`,
  };
}

interface Identity {
  readonly account: ApiObject;
  /** Objects that the token is bound to. */
  readonly bound: JsonObject;
  readonly verbParts: TokenParts;
  readonly warnAfter: number;
}

function identity({ account, bound, verbParts, warnAfter }: Identity): JsonObject {
  const { namespace, name, uid } = account.metadata;
  return {
    iss: verbParts.tokens.issuer,
    jti: verbParts.loop.random("token-ids").uuid(),
    "kubernetes.io": {
      namespace,
      ...bound,
      serviceaccount: { name, uid },
      ...(!Number.isNaN(warnAfter) && { warnafter: warnAfter }),
    },
  };
}
