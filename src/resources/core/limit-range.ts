/** LimitRange: bounds and defaults for the resources of a single pod, container or claim. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { LimitRange, LimitRangeItem } from "../../api/generated/types/core-v1.ts";
import { qualifiedName } from "../../api/values/names.ts";
import { compareQuantities, parseQuantity, quantityToNumber } from "../../api/values/quantity.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import {
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from "../rules/resource-name.ts";
import { addNew } from "../rules/value-rules.ts";

const LIMITS = fieldPath("spec", "limits");
const STANDARD_TYPES = ["Pod", "Container", "PersistentVolumeClaim"];

export const limitRange = defineKind<LimitRange>("v1", "LimitRange", {
  defaults({ spec }) {
    for (const item of spec.limits) {
      if (item.type === "Container") containerDefaults(item);
    }
  },

  validate({ spec }, errors) {
    const types = new Set<string>();
    for (const [i, item] of spec.limits.entries()) {
      const path = LIMITS.index(i);
      checkType(item.type, path.child("type"), errors);
      if (!addNew(types, item.type)) errors.duplicate(path.child("type"), item.type);
      checkNames(item, path, errors);
      for (const name of namesOf(item)) checkOrder(amountsOf(item, name), path, errors);
    }
  },
});

/**
 * The maximum is the default limit; limits are the default request; the minimum is the request without
 * either.
 */
function containerDefaults(item: Draft<LimitRangeItem>): void {
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

function checkType(type: string, path: FieldPath, errors: FieldErrors): void {
  const problems = qualifiedName(type);
  errors.invalidFor(path, type, problems);
  if (problems.length > 0 || type.includes("/") || STANDARD_TYPES.includes(type)) return;
  errors.invalid(path, type, "must be a standard limit type or fully qualified");
}

const LISTS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function checkNames(item: LimitRangeItem, path: FieldPath, errors: FieldErrors): void {
  const isOfPods = item.type === "Pod" || item.type === "Container";
  const check = isOfPods ? checkContainerResourceName : checkResourceName;
  for (const list of LISTS) {
    const isForbidden = item.type === "Pod" && list.startsWith("default");
    if (!isForbidden) {
      for (const name of Object.keys(item[list] ?? {})) check(name, path.child(list).key(name), errors);
    } else if (item[list] !== undefined) {
      errors.forbidden(path.child(list), "may not be specified when `type` is 'Pod'");
    }
  }
  if (item.type === "PersistentVolumeClaim") requireStorageBound(item, path, errors);
}

function requireStorageBound({ min, max }: LimitRangeItem, path: FieldPath, errors: FieldErrors): void {
  if (min?.["storage"] !== undefined || max?.["storage"] !== undefined) return;
  const detail = "either minimum or maximum storage value is required, but neither was provided";
  errors.required(path.child("limits"), detail);
}

function namesOf(item: LimitRangeItem): readonly string[] {
  return [...new Set(LISTS.flatMap((list) => Object.keys(item[list] ?? {})))].toSorted();
}

interface Amounts {
  readonly name: string;
  readonly min: string | undefined;
  readonly max: string | undefined;
  readonly limit: string | undefined;
  readonly request: string | undefined;
  readonly ratio: string | undefined;
}

function amountsOf(item: LimitRangeItem, name: string): Amounts {
  const isPod = item.type === "Pod";
  return {
    name,
    min: item.min?.[name],
    max: item.max?.[name],
    limit: isPod ? undefined : item.default?.[name],
    request: isPod ? undefined : item.defaultRequest?.[name],
    ratio: item.maxLimitRequestRatio?.[name],
  };
}

/** Requires minimum ≤ default request ≤ default limit ≤ maximum. The values in messages equal upstream's. */
function checkOrder(amounts: Amounts, path: FieldPath, errors: FieldErrors): void {
  const { name, min, max, limit, request } = amounts;
  const at = (list: string): FieldPath => path.child(list).key(name);
  if (isGreater(min, max))
    errors.invalid(at("min"), min, `min value ${min} is greater than max value ${max}`);
  if (isGreater(min, request)) {
    errors.invalid(
      at("defaultRequest"),
      request,
      `min value ${min} is greater than default request value ${request}`,
    );
  }
  if (isGreater(request, max)) {
    errors.invalid(
      at("defaultRequest"),
      request,
      `default request value ${request} is greater than max value ${max}`,
    );
  }
  if (isGreater(request, limit)) {
    const detail = `default request value ${request} is greater than default limit value ${limit}`;
    errors.invalid(at("defaultRequest"), request, detail);
  }
  if (isGreater(min, limit)) {
    errors.invalid(at("default"), min, `min value ${min} is greater than default value ${limit}`);
  }
  if (isGreater(limit, max)) {
    errors.invalid(at("default"), max, `default value ${limit} is greater than max value ${max}`);
  }
  checkRatio(amounts, at("maxLimitRequestRatio"), errors);
  const isUnequal = isGreater(limit, request) || isGreater(request, limit);
  if (!isOvercommitAllowed(name) && isUnequal) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.invalid(at("defaultRequest"), request, detail);
  }
}

function checkRatio({ min, max, ratio }: Amounts, path: FieldPath, errors: FieldErrors): void {
  if (ratio === undefined) return;
  if (isGreater("1", ratio)) errors.invalid(path, ratio, `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const most = quantityToNumber(parseQuantity(max)) / quantityToNumber(parseQuantity(min));
  if (quantityToNumber(parseQuantity(ratio)) > most) {
    errors.invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
  }
}

function isGreater(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  return compareQuantities(parseQuantity(left), parseQuantity(right)) > 0;
}
