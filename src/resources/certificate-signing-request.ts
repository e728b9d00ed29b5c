/** CertificateSigningRequest: a wish for a certificate, which somebody approves and somebody else signs. */

import { type FieldErrors, type FieldPath, fieldPath } from "../api/field-error.ts";
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from "../api/generated/types/certificates-v1.ts";
import { quoted } from "../api/message-text.ts";
import { formatTime } from "../api/time.ts";
import { findCertificateProblem } from "./certificate-pem.ts";
import { draftCopy } from "./draft-copy.ts";
import { ageText, humanDuration } from "./human-duration.ts";
import { defineKind, type Draft, type Requester, type RuleContext } from "./kind-rules.ts";
import { checkSignerName } from "./signer-name.ts";
import { addNew, checkRequiredChoice, isSame } from "./value-rules.ts";

type Request = CertificateSigningRequest;

const SPEC = fieldPath("spec");
const REQUESTER_FIELDS = ["username", "uid", "groups", "extra"] as const;
type RequesterField = (typeof REQUESTER_FIELDS)[number];
const CONDITIONS = fieldPath("status", "conditions");
const EXPIRATION_SECONDS_MIN = 600;
/** Decisions of the approver, which nobody takes back and no signer makes. */
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
    /** Who asks is what authentication found, whatever the body says. */
    prepareCreate(draft, { user }) {
      for (const field of REQUESTER_FIELDS) delete draft.spec[field];
      Object.assign(draft.spec, askedBy(user));
    },

    prepareUpdate(draft, previous) {
      draft.spec = draftCopy(previous.spec);
    },

    prepareStatus(draft, previous, context) {
      keepDecisions(draft, previous);
      setConditionTimes(draft, previous, context);
    },

    validate({ spec }, errors) {
      checkPem(spec.request, errors);
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

    validateStatus(next, previous, errors) {
      checkConditions(next, errors);
      checkCertificate(next, previous, errors);
      refuseLostConditions(next, previous, errors);
      const { certificate: before } = previous.status;
      if (before !== undefined && next.status.certificate !== before) {
        errors.forbidden("status.certificate", "updates may not modify existing certificate content");
      }
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

/** Fields that hold nothing are left out, as in every stored object. */
function askedBy({ name, uid, groups, extra }: Requester): Pick<Request["spec"], RequesterField> {
  return {
    username: name,
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The approval subresource changes conditions, and nothing else of status. */
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

/** A signer's update of the status cannot approve. */
function keepDecisions(draft: Draft<Request>, previous: Request): void {
  const isDecision = ({ type }: CertificateSigningRequestCondition): boolean => DECISIONS.includes(type);
  const decided = draftCopy((previous.status.conditions ?? []).filter(isDecision));
  const others = (draft.status.conditions ?? []).filter((condition) => !isDecision(condition));
  if (decided.length + others.length > 0) draft.status.conditions = [...decided, ...others];
  else delete draft.status.conditions;
}

function setConditionTimes(draft: Draft<Request>, previous: Request, { now }: RuleContext): void {
  const time = formatTime(BigInt(now) * 1000n);
  for (const condition of draft.status.conditions ?? []) {
    condition.lastUpdateTime ??= time;
    const before = previous.status.conditions?.find(({ type }) => type === condition.type);
    const isSameState = before?.status === condition.status;
    condition.lastTransitionTime ??= (isSameState ? before.lastTransitionTime : undefined) ?? time;
  }
}

const PEM_BEGIN = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/;
const PEM_ENDS = ["-----END CERTIFICATE REQUEST-----", "-----END NEW CERTIFICATE REQUEST-----"];

/** From the first beginning to the last end: a regular expression of both would look for the end from each beginning. */
function checkPem(request: string, errors: FieldErrors): void {
  const text = Buffer.from(request, "base64").toString("latin1");
  const begin = PEM_BEGIN.exec(text);
  const end = Math.max(...PEM_ENDS.map((line) => text.lastIndexOf(line)));
  if (begin !== null && end > begin.index + begin[0].length) return;
  errors.invalid(SPEC.child("request"), request, "PEM block type must be CERTIFICATE REQUEST");
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

function checkConditions({ status: { conditions = [] } }: Request, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { type, status }] of conditions.entries()) {
    const path = CONDITIONS.index(i);
    if (type === "") errors.required(path.child("type"));
    const among = FINAL.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    checkRequiredChoice({ path: path.child("status"), value: status, among }, errors);
    if (!addNew(seen, type)) errors.duplicate(path.child("type"), type);
  }
  if (DECISIONS.every((type) => seen.has(type))) {
    const at: FieldPath = CONDITIONS.index(conditions.findLastIndex(({ type }) => DECISIONS.includes(type)));
    errors.invalid(
      at.child("type"),
      conditions.at(-1)?.type,
      "Approved and Denied conditions are mutually exclusive",
    );
  }
}

/** What was taken once stays as it is. */
function checkCertificate(
  { status: next }: Request,
  { status: previous }: Request,
  errors: FieldErrors,
): void {
  const { certificate = "" } = next;
  if (certificate === (previous.certificate ?? "")) return;
  const problem = findCertificateProblem(Buffer.from(certificate, "base64").toString("latin1"));
  if (problem !== undefined) errors.invalid("status.certificate", "<certificate data>", problem);
}

function refuseLostConditions(next: Request, previous: Request, errors: FieldErrors): void {
  for (const before of previous.status.conditions ?? []) {
    if (!FINAL.includes(before.type)) continue;
    const after = next.status.conditions?.find(({ type }) => type === before.type);
    if (isSame(after?.type, before.type)) continue;
    errors.forbidden(CONDITIONS, `updates may not remove a condition of type ${quoted(before.type)}`);
  }
}

function conditionText({ status: { conditions = [], certificate } }: Request): string {
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${decision}${has("Failed") ? ",Failed" : ""}${certificate === undefined ? "" : ",Issued"}`;
}
