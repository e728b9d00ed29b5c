/** Validates conditions of the type `metav1.Condition`, which newer kinds share. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { conditionReason, qualifiedName } from "../../api/values/names.ts";
import { timeText } from "../../api/values/time.ts";
import { draftCopy } from "./draft-copy.ts";
import type { Draft } from "./kind-rules.ts";
import { addNew, checkChoice, firstByText } from "./value-rules.ts";

const STATUSES = ["False", "True", "Unknown"];
const REASON_MAX_BYTES = 1024;
const MESSAGE_MAX_BYTES = 32 * 1024;

/** Restores conditions of these types, unless their number has changed. */
export function keepConditions<T extends { readonly type: string }>(
  conditions: Draft<T>[],
  previous: readonly T[],
  types: readonly string[],
): void {
  for (const wanted of types) {
    const before = previous.filter(({ type }) => type === wanted);
    const places = [...conditions.keys()].filter((at) => conditions[at]?.type === wanted);
    if (places.length !== before.length) continue;
    for (const [i, condition] of before.entries()) conditions[places[i] ?? 0] = draftCopy(condition);
  }
}

interface Timed {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

/** Sets missing transition times: the previous time when the status is unchanged, else the current time. */
export function setTransitionTimes(
  conditions: Timed[],
  previous: readonly Readonly<Timed>[],
  now: number,
): void {
  const time = timeText(now);
  const untimed = conditions.filter(({ lastTransitionTime }) => lastTransitionTime === undefined);
  if (untimed.length === 0) return;
  const known = firstByText(previous, ({ type }) => type);
  for (const condition of untimed) {
    const before = known.get(condition.type);
    const isSameState = before?.status === condition.status;
    condition.lastTransitionTime = (isSameState ? before.lastTransitionTime : undefined) ?? time;
  }
}

export function checkConditions(
  conditions: readonly Condition[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  const types = new Set<string>();
  for (const [i, condition] of conditions.entries()) {
    const at = path.index(i);
    if (!addNew(types, condition.type)) errors.duplicate(at.child("type"), condition.type);
    checkCondition(condition, at, errors);
  }
}

function checkCondition(condition: Condition, path: FieldPath, errors: FieldErrors): void {
  const { type, status, observedGeneration = 0, reason, message } = condition;
  errors.invalidFor(path.child("type"), type, qualifiedName(type));
  checkChoice({ path: path.child("status"), value: status, among: STATUSES }, errors);
  if (observedGeneration < 0) {
    errors.invalid(
      path.child("observedGeneration"),
      observedGeneration,
      "must be greater than or equal to zero",
    );
  }
  // The type requires the field, but a null in the request removes it.
  const { lastTransitionTime }: Partial<Condition> = condition;
  if (lastTransitionTime === undefined) errors.required(path.child("lastTransitionTime"), "must be set");
  if (reason === "") errors.required(path.child("reason"), "must be set");
  else errors.invalidFor(path.child("reason"), reason, conditionReason(reason));
  checkLength(reason, { path: path.child("reason"), maxBytes: REASON_MAX_BYTES }, errors);
  checkLength(message, { path: path.child("message"), maxBytes: MESSAGE_MAX_BYTES }, errors);
}

interface LengthLimit {
  readonly path: FieldPath;
  readonly maxBytes: number;
}

function checkLength(text: string, { path, maxBytes }: LengthLimit, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > maxBytes) errors.tooLong(path, maxBytes);
}
