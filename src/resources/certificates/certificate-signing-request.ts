/**
 * CertificateSigningRequest: a request for a certificate. An approver decides about it, and a signer signs
 * it.
 */

import { findRequestProblem } from "../../api/certificates/certificate-request.ts";
import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from "../../api/generated/types/certificates-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import { timeText } from "../../api/values/time.ts";
import { keepConditions, setTransitionTimes } from "../rules/condition-rules.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import { ageText, humanDuration } from "../rules/human-duration.ts";
import { defineKind, type Draft, type Requester, type RuleContext } from "../rules/kind-rules.ts";
import { addNew, checkRequiredChoice } from "../rules/value-rules.ts";
import { findCertificateProblem } from "./certificate-pem.ts";
import { checkSignerName } from "./signer-name.ts";

type Request = CertificateSigningRequest;

const SPEC = fieldPath("spec");
const REQUESTER_FIELDS = ["username", "uid", "groups", "extra"] as const;
type RequesterField = (typeof REQUESTER_FIELDS)[number];
const CONDITIONS = fieldPath("status", "conditions");
const EXPIRATION_SECONDS_MIN = 600;
/** Decisions of an approver: final, and not settable by a signer. */
const DECISIONS = ["Approved", "Denied"];
const FINAL = [...DECISIONS, "Failed"];
const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

export const certificateSigningRequest = defineKind<Request>(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  {
    /** The requester's fields come from authentication and overwrite the body's. */
    prepareCreate(draft, { user }) {
      for (const field of REQUESTER_FIELDS) delete draft.spec[field];
      Object.assign(draft.spec, askedBy(user));
    },

    prepareUpdate(draft, previous) {
      draft.spec = draftCopy(previous.spec);
    },

    prepareStatus(draft, previous, context) {
      // Restores the text of existing decisions. Validation refuses a signer's update that adds or removes
      // one.
      keepConditions(draft.status.conditions ?? [], previous.status.conditions ?? [], DECISIONS);
      setConditionTimes(draft, previous, context);
    },

    validate({ spec }, errors) {
      checkUsages(spec.usages ?? [], errors);
      if (spec.signerName === "kubernetes.io/legacy-unknown") {
        const detail = "the legacy signerName is not allowed via this API version";
        errors.invalid(SPEC.child("signerName"), spec.signerName, detail);
      } else {
        checkSignerName(spec.signerName, SPEC.child("signerName"), errors);
      }
      const { expirationSeconds: seconds = EXPIRATION_SECONDS_MIN } = spec;
      if (seconds < EXPIRATION_SECONDS_MIN) {
        const detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid(SPEC.child("expirationSeconds"), seconds, detail);
      }
    },

    /** Checked on create only: the spec is immutable. */
    validateCreate({ spec }, errors) {
      const problem = findRequestProblem(spec.request);
      if (problem !== undefined) errors.invalid(SPEC.child("request"), spec.request, problem);
    },

    validateStatus(next, previous, errors) {
      checkConditions(next, errors);
      refuseLostConditions(next, previous, errors);
      refuseDecisions(next, previous, errors);
      checkCertificate(next, previous, errors);
    },

    fields: ({ spec }) => ({ "spec.signerName": spec.signerName }),

    cells: (it, now) => [
      it.metadata.name,
      ageText(it, now),
      it.spec.signerName || "<none>",
      it.spec.username ?? "",
      it.spec.expirationSeconds === undefined ? "<none>" : humanDuration(it.spec.expirationSeconds * 1000),
      conditionText(it),
    ],
  },
);

/** Leaves out empty fields, as all stored objects do. */
function askedBy({ name, uid, groups, extra }: Requester): Pick<Request["spec"], RequesterField> {
  return {
    username: name,
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The approval subresource changes only the conditions of the status. */
export function prepareApproval(draft: Draft<Request>, previous: Request, context: RuleContext): void {
  draft.spec = draftCopy(previous.spec);
  const { certificate } = previous.status;
  if (certificate === undefined) delete draft.status.certificate;
  else draft.status.certificate = certificate;
  setConditionTimes(draft, previous, context);
}

export function validateApproval(next: Request, previous: Request, errors: FieldErrors): void {
  checkConditions(next, errors);
  refuseLostConditions(next, previous, errors);
}

function conditionsOf({ status }: Request, wanted: string): readonly CertificateSigningRequestCondition[] {
  return (status.conditions ?? []).filter(({ type }) => type === wanted);
}

function setConditionTimes(draft: Draft<Request>, previous: Request, { now }: RuleContext): void {
  const time = timeText(now);
  const { conditions = [] } = draft.status;
  for (const condition of conditions) condition.lastUpdateTime ??= time;
  setTransitionTimes(conditions, previous.status.conditions ?? [], now);
}

/** An issued certificate is immutable; a new one must parse. */
function checkCertificate({ status }: Request, previous: Request, errors: FieldErrors): void {
  const { certificate = "" } = status;
  const { certificate: before = "" } = previous.status;
  if (certificate === before) return;
  const problem = findCertificateProblem(Buffer.from(certificate, "base64").toString("latin1"));
  if (problem !== undefined) errors.invalid("status.certificate", "<certificate data>", problem);
  if (before !== "")
    errors.forbidden("status.certificate", "updates may not modify existing certificate content");
}

function checkUsages(usages: readonly string[], errors: FieldErrors): void {
  const path = SPEC.child("usages");
  if (usages.length === 0) errors.required(path);
  const seen = new Set<string>();
  for (const [i, usage] of usages.entries()) {
    if (!USAGES.includes(usage)) errors.notSupported(path.index(i), usage, USAGES);
    if (!addNew(seen, usage)) errors.duplicate(path.index(i), usage);
  }
}

/** Reports each decision that follows a contrary one. */
function refuseBoth(conditions: readonly CertificateSigningRequestCondition[], errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const { type } of conditions) {
    if (!DECISIONS.includes(type)) continue;
    seen.add(type);
    if (seen.size > 1)
      errors.invalid(CONDITIONS, type, "Approved and Denied conditions are mutually exclusive");
  }
}

function checkConditions({ status: { conditions = [] } }: Request, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { type, status }] of conditions.entries()) {
    const path = CONDITIONS.index(i);
    if (type === "") errors.required(path.child("type"));
    const among = FINAL.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    checkRequiredChoice({ path: path.child("status"), value: status, among }, errors);
    if (!addNew(seen, type)) errors.duplicate(path.child("type"), type);
  }
  refuseBoth(conditions, errors);
}

function refuseLostConditions(next: Request, previous: Request, errors: FieldErrors): void {
  const kept = new Set((next.status.conditions ?? []).map(({ type }) => type));
  for (const before of previous.status.conditions ?? []) {
    if (!FINAL.includes(before.type) || kept.has(before.type)) continue;
    errors.forbidden(CONDITIONS, `updates may not remove a condition of type ${quoted(before.type)}`);
  }
}

/** Decisions are set through the approval subresource only. */
function refuseDecisions(next: Request, previous: Request, errors: FieldErrors): void {
  for (const type of DECISIONS)
    if (conditionsOf(next, type).length > conditionsOf(previous, type).length)
      errors.forbidden(CONDITIONS, `updates may not add a condition of type ${quoted(type)}`);
}

function conditionText({ status: { conditions = [], certificate } }: Request): string {
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${decision}${has("Failed") ? ",Failed" : ""}${certificate === undefined ? "" : ",Issued"}`;
}
