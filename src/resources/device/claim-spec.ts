/** Defaults and validation of a device request spec, which ResourceClaim and ResourceClaimTemplate share. */

import { type FieldErrors, type FieldPath } from "../../api/errors/field-error.ts";
import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  ExactDeviceRequest,
  OpaqueDeviceConfiguration,
  ResourceClaimSpec,
} from "../../api/generated/types/resource-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { checkChoice } from "../rules/value-rules.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";
import { checkSelectorExpression } from "./device-selector.ts";
import { checkFullAttributeName } from "./driver-name.ts";
import { checkList } from "./list-rules.ts";
import { checkToleration } from "./taint-rules.ts";

/** Upper bounds of the lists, because the scheduler's work grows with each. */
const LIST_MAX = 32;
const SUBREQUESTS_MAX = 8;
const TOLERATIONS_MAX = 16;
const PARAMETERS_MAX_BYTES = 10 * 1024;
const MODES = ["All", "ExactCount"];

export function claimSpecDefaults({ devices }: Draft<ResourceClaimSpec>): void {
  for (const { exactly, firstAvailable = [] } of devices.requests) {
    for (const request of exactly === undefined ? firstAvailable : [exactly, ...firstAvailable]) {
      request.allocationMode ??= "ExactCount";
      if (request.allocationMode === "ExactCount") request.count ??= 1;
      for (const toleration of request.tolerations ?? []) toleration.operator ??= "Equal";
    }
  }
}

export function checkClaimSpec(spec: ResourceClaimSpec, path: FieldPath, errors: FieldErrors): void {
  const at = path.child("devices");
  const { requests, constraints = [], config = [] } = spec.devices;
  const names = requestNames(spec);
  checkList(
    requests,
    {
      path: at.child("requests"),
      max: LIST_MAX,
      check: (request, place) => checkRequest(request, place, errors),
      keyOf: ({ name }) => name,
    },
    errors,
  );
  checkList(
    constraints,
    {
      path: at.child("constraints"),
      max: LIST_MAX,
      check: (constraint, place) => checkConstraint(constraint, { names, path: place }, errors),
    },
    errors,
  );
  checkList(
    config,
    {
      path: at.child("config"),
      max: LIST_MAX,
      check: (it, place) => {
        checkRequestNames(it.requests ?? [], { names, path: place.child("requests") }, errors);
        checkOpaque(it.opaque, place.child("opaque"), errors);
      },
    },
    errors,
  );
}

/**
 * Names of requests and of their alternatives (`request/alternative`). Constraints and configuration refer to
 * them.
 */
export function requestNames({ devices }: ResourceClaimSpec): ReadonlySet<string> {
  return new Set(
    devices.requests.flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((alternative) => `${name}/${alternative.name}`),
    ]),
  );
}

function checkRequest(
  { name, exactly, firstAvailable = [] }: DeviceRequest,
  path: FieldPath,
  errors: FieldErrors,
): void {
  errors.invalidFor(path.child("name"), name, dns1123Label(name));
  const hasList = firstAvailable.length > 0;
  if (hasList && exactly !== undefined) {
    errors.invalid(
      path,
      undefined,
      "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
    );
    return;
  }
  if (!hasList && exactly === undefined) {
    errors.required(path, "exactly one of `exactly` or `firstAvailable` is required");
  }
  if (exactly !== undefined) checkOne(exactly, path.child("exactly"), errors);
  const check = (alternative: DeviceSubRequest, at: FieldPath): void => {
    errors.invalidFor(at.child("name"), alternative.name, dns1123Label(alternative.name));
    checkOne(alternative, at, errors);
  };
  const at = path.child("firstAvailable");
  checkList(firstAvailable, { path: at, max: SUBREQUESTS_MAX, check, keyOf: (it) => it.name }, errors);
}

function checkOne(it: ExactDeviceRequest | DeviceSubRequest, path: FieldPath, errors: FieldErrors): void {
  const { deviceClassName, allocationMode, count = 0, selectors = [], tolerations = [] } = it;
  if (deviceClassName === "") errors.required(path.child("deviceClassName"));
  else errors.invalidFor(path.child("deviceClassName"), deviceClassName, dns1123Subdomain(deviceClassName));
  checkSelectors(selectors, path.child("selectors"), errors);
  checkChoice({ path: path.child("allocationMode"), value: allocationMode, among: MODES }, errors);
  if (allocationMode === "All" && count !== 0) {
    errors.invalid(path.child("count"), count, "must not be specified when allocationMode is 'All'");
  }
  if (allocationMode === "ExactCount" && count <= 0) {
    errors.invalid(path.child("count"), count, "must be greater than zero");
  }
  checkTolerations(tolerations, path.child("tolerations"), errors);
}

export function checkTolerations(
  tolerations: NonNullable<ExactDeviceRequest["tolerations"]>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const check = (it: (typeof tolerations)[number], at: FieldPath): void => checkToleration(it, at, errors);
  checkList(tolerations, { path, max: TOLERATIONS_MAX, check }, errors);
}

export function checkSelectors(
  selectors: readonly DeviceSelector[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  const check = ({ cel }: DeviceSelector, at: FieldPath): void => {
    if (cel === undefined) errors.required(at.child("cel"));
    else checkSelectorExpression(cel.expression, at.child("cel", "expression"), errors);
  };
  checkList(selectors, { path, max: LIST_MAX, check }, errors);
}

export interface NameScope {
  readonly names: ReadonlySet<string>;
  readonly path: FieldPath;
}

function checkConstraint(it: DeviceConstraint, { names, path }: NameScope, errors: FieldErrors): void {
  const { requests = [], matchAttribute, distinctAttribute } = it;
  checkRequestNames(requests, { names, path: path.child("requests") }, errors);
  if (matchAttribute !== undefined) {
    checkFullAttributeName(matchAttribute, path.child("matchAttribute"), errors);
  } else if (distinctAttribute !== undefined) {
    checkFullAttributeName(distinctAttribute, path.child("distinctAttribute"), errors);
  } else {
    // Upstream reports this text when neither field is set, and no error when both are.
    const detail = `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`;
    errors.required(path, detail);
  }
}

export function checkRequestNames(
  requests: readonly string[],
  { names, path }: NameScope,
  errors: FieldErrors,
): void {
  const check = (name: string, at: FieldPath): void => checkRequestName(name, { names, path: at }, errors);
  checkList(requests, { path, max: LIST_MAX, check, keyOf: (name) => name }, errors);
}

export function checkRequestName(name: string, { names, path }: NameScope, errors: FieldErrors): void {
  const parts = name.split("/");
  if (parts.length <= 2) {
    for (const part of parts) errors.invalidFor(path, part, dns1123Label(part));
  }
  if (names.has(name)) return;
  errors.invalid(
    path,
    name,
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
  );
}

export function checkOpaque(
  opaque: OpaqueDeviceConfiguration | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (opaque === undefined) {
    errors.required(path);
    return;
  }
  checkDriverName(opaque.driver, path.child("driver"), errors);
  const { parameters } = opaque;
  if (parameters === undefined || parameters === null) errors.required(path.child("parameters"));
  else checkForeignData(parameters, path.child("parameters"), errors);
}

/** Parameters for a driver: any JSON object up to the size limit. */
export function checkForeignData(data: unknown, path: FieldPath, errors: FieldErrors): void {
  if (Buffer.byteLength(stringifyJson(data)) > PARAMETERS_MAX_BYTES) {
    errors.tooLong(path, PARAMETERS_MAX_BYTES);
  } else if (!isJsonObject(data)) errors.invalid(path, "<value omitted>", "must be a valid JSON object");
}
