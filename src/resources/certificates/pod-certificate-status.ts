/** Status of a PodCertificateRequest: a signer sets it once, and it agrees with the issued certificate. */

import type { KeyObject, X509Certificate } from "node:crypto";
import { pemBlocks } from "../../api/certificates/pem.ts";
import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { PodCertificateRequest } from "../../api/generated/types/certificates-v1beta1.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { isSameKey } from "../../base/keys/same-key.ts";
import { checkConditions, keepConditions, setTransitionTimes } from "../rules/condition-rules.ts";
import type { Draft, RuleContext } from "../rules/kind-rules.ts";
import { invalidWithoutValue, isSame } from "../rules/value-rules.ts";
import { findCertificate } from "./certificate-pem.ts";
import { findKey } from "./possession-proof.ts";

type Request = PodCertificateRequest;

const STATUS = fieldPath("status");
const CONDITIONS = STATUS.child("conditions");
const CHAIN = STATUS.child("certificateChain");
const FINAL = ["Issued", "Denied", "Failed"];
const CHAIN_MAX_BYTES = 100 * 1024;
const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;

/** Keeps final conditions as they are. A condition without a transition time gets the current time. */
export function prepareStatus(draft: Draft<Request>, previous: Request, { now }: RuleContext): void {
  const { conditions = [] } = draft.status;
  const { conditions: before = [] } = previous.status;
  keepConditions(conditions, before, FINAL);
  setTransitionTimes(conditions, before, now);
}

export function checkStatus(next: Request, previous: Request, errors: FieldErrors): void {
  const { conditions = [], ...others } = next.status;
  checkDecision(conditions, errors);
  checkConditions(conditions, CONDITIONS, errors);
  if (!errors.isEmpty) return;
  if (decisionOf(previous) !== undefined) {
    if (!isSame(next.status, previous.status))
      invalidWithoutValue(
        STATUS,
        "immutable after PodCertificateRequest is issued, denied, or failed",
        errors,
      );
    return;
  }
  const decision = decisionOf(next);
  if (decision === "Issued") return checkIssued(next, errors);
  if (decision !== undefined && Object.keys(others).length > 0)
    invalidWithoutValue(
      STATUS,
      "non-condition status fields must be empty when denying or failing the PodCertificateRequest",
      errors,
    );
  if (decision === undefined && !isSame(next.status, previous.status))
    invalidWithoutValue(
      STATUS,
      'status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
      errors,
    );
}

function decisionOf({ status }: Request): string | undefined {
  return status.conditions?.find(({ type }) => FINAL.includes(type))?.type;
}

function checkDecision(conditions: readonly Condition[], errors: FieldErrors): void {
  for (const [i, { type, status }] of conditions.entries()) {
    // Upstream's path has the index as a child: `conditions.[0]`.
    const at = CONDITIONS.child(`[${String(i)}]`);
    if (!FINAL.includes(type)) errors.notSupported(at.child("type"), type, FINAL);
    else if (status !== "True") errors.notSupported(at.child("status"), status, ["True"]);
    if (i > 0 && FINAL.includes(type))
      errors.invalid(
        at.child("type"),
        type,
        'There may be at most one condition with type "Issued", "Denied", or "Failed"',
      );
  }
}

function checkIssued({ spec, status }: Request, errors: FieldErrors): void {
  const { certificateChain: chain = "" } = status;
  if (Buffer.byteLength(chain) > CHAIN_MAX_BYTES) return errors.tooLong(CHAIN, CHAIN_MAX_BYTES);
  const [leaf, problem] = readChain(chain, findKey(spec));
  if (leaf === undefined) return errors.invalid(CHAIN, chain, problem);
  const { notBefore, notAfter, beginRefreshAt } = status;
  if (notBefore === undefined)
    errors.required(STATUS.child("notBefore"), "must be present and consistent with the issued certificate");
  if (notAfter === undefined)
    errors.required(STATUS.child("notAfter"), "must be present and consistent with the issued certificate");
  if (beginRefreshAt === undefined)
    errors.required(
      STATUS.child("beginRefreshAt"),
      "must be present and in the range [notbefore+10min, notafter-10min]",
    );
  if (notBefore === undefined || notAfter === undefined || beginRefreshAt === undefined) return;
  checkTimes(
    leaf,
    { notBefore, notAfter, beginRefreshAt, maxSeconds: spec.maxExpirationSeconds ?? 0 },
    errors,
  );
}

/** The first certificate of the chain, or the reason why the chain is unusable. */
function readChain(
  chain: string,
  wanted: KeyObject | undefined,
): readonly [X509Certificate | undefined, string] {
  const blocks = [...pemBlocks(chain)];
  const [first] = blocks;
  if (first === undefined)
    return [undefined, "issued certificate chain must contain at least one certificate"];
  if (blocks.some(({ label }) => label !== "CERTIFICATE"))
    return [undefined, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"];
  const leaf = findCertificate(first.bytes);
  if (leaf === undefined) return [undefined, "leaf certificate does not parse as valid X.509"];
  if (wanted === undefined || !isSameKey(leaf.publicKey, wanted))
    return [undefined, "leaf certificate was not issued to the requested public key"];
  if (blocks.some(({ bytes }) => findCertificate(bytes) === undefined))
    return [undefined, "intermediate certificate does not parse as valid X.509"];
  return [leaf, ""];
}

interface Times {
  readonly notBefore: string;
  readonly notAfter: string;
  readonly beginRefreshAt: string;
  readonly maxSeconds: number;
}

function checkTimes(leaf: X509Certificate, times: Times, errors: FieldErrors): void {
  const { notBefore, notAfter, beginRefreshAt, maxSeconds } = times;
  const [begin, end] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  if (Date.parse(notBefore) !== begin)
    return errors.invalid(
      STATUS.child("notBefore"),
      notBefore,
      "must be set to the NotBefore time encoded in the leaf certificate",
    );
  if (Date.parse(notAfter) !== end)
    return errors.invalid(
      STATUS.child("notAfter"),
      notAfter,
      "must be set to the NotAfter time encoded in the leaf certificate",
    );
  const lifeMs = end - begin;
  if (lifeMs < HOUR_MS)
    return errors.invalid(CHAIN, lifeMs * 1e6, "leaf certificate lifetime must be >= 1 hour");
  if (lifeMs > maxSeconds * 1000)
    return errors.invalid(
      CHAIN,
      lifeMs * 1e6,
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${String(maxSeconds)})`,
    );
  checkRefresh(beginRefreshAt, { begin, end }, errors);
}

function checkRefresh(
  beginRefreshAt: string,
  { begin, end }: { readonly begin: number; readonly end: number },
  errors: FieldErrors,
): void {
  const path = STATUS.child("beginRefreshAt");
  const at = Date.parse(beginRefreshAt);
  if (at < begin + TEN_MINUTES_MS)
    errors.invalid(path, beginRefreshAt, "must be at least 10 minutes after status.notBefore");
  else if (at > end - TEN_MINUTES_MS)
    errors.invalid(path, beginRefreshAt, "must be at least 10 minutes before status.notAfter");
}
