/** The wish for devices that a claim and a template for claims hold. */

import { type FieldErrors, type FieldPath } from "../../api/field-error.ts";
import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  OpaqueDeviceConfiguration,
  ResourceClaimSpec,
} from "../../api/generated/types/resource-v1.ts";
import { dns1123Label, dns1123Subdomain, qualifiedName } from "../../api/names.ts";
import type { Draft } from "../kind-rules.ts";
import { addNew, checkChoice, checkRequiredChoice } from "../value-rules.ts";
import { checkDriver } from "./driver-name.ts";

/** The scheduler's work grows with each of these. */
const LIST_MAX = 32;
const SUBREQUESTS_MAX = 8;
const TOLERATIONS_MAX = 16;
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

export function checkClaimSpec({ devices }: ResourceClaimSpec, path: FieldPath, errors: FieldErrors): void {
  const at = path.child("devices");
  const { requests, constraints = [], config = [] } = devices;
  for (const [name, list] of Object.entries({ requests, constraints, config })) {
    if (list.length > LIST_MAX) errors.tooMany(at.child(name), list.length, LIST_MAX);
  }
  const names = checkRequests(requests, at.child("requests"), errors);
  for (const [i, it] of constraints.entries()) {
    checkConstraint(it, { names, path: at.child("constraints").index(i) }, errors);
  }
  for (const [i, it] of config.entries()) {
    checkNames(it.requests ?? [], { names, path: at.child("config").index(i).child("requests") }, errors);
    checkOpaque(it.opaque, at.child("config").index(i).child("opaque"), errors);
  }
}

/** The names by which the rest of the claim may speak of its requests. */
function checkRequests(
  requests: readonly DeviceRequest[],
  path: FieldPath,
  errors: FieldErrors,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [i, request] of requests.entries()) {
    checkRequest(request, path.index(i), errors);
    if (!addNew(names, request.name)) errors.duplicate(path.index(i).child("name"), request.name);
    for (const { name } of request.firstAvailable ?? []) names.add(`${request.name}/${name}`);
  }
  return names;
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
  const at = path.child("firstAvailable");
  if (firstAvailable.length > SUBREQUESTS_MAX) errors.tooMany(at, firstAvailable.length, SUBREQUESTS_MAX);
  const names = new Set<string>();
  for (const [i, sub] of firstAvailable.entries()) {
    errors.invalidFor(at.index(i).child("name"), sub.name, dns1123Label(sub.name));
    if (!addNew(names, sub.name)) errors.duplicate(at.index(i).child("name"), sub.name);
    checkOne(sub, at.index(i), errors);
  }
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
  if (tolerations.length > TOLERATIONS_MAX) {
    errors.tooMany(path.child("tolerations"), tolerations.length, TOLERATIONS_MAX);
  }
  for (const [i, toleration] of tolerations.entries()) {
    checkToleration(toleration, path.child("tolerations").index(i), errors);
  }
}

function checkToleration(
  { key = "", operator, value = "", effect }: DeviceToleration,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (key !== "") errors.invalidFor(path.child("key"), key, qualifiedName(key));
  checkRequiredChoice({ path: path.child("operator"), value: operator, among: ["Equal", "Exists"] }, errors);
  if (operator === "Exists" && value !== "") {
    errors.invalid(path.child("value"), value, "must be empty for operator `Exists`");
  }
  checkChoice(
    { path: path.child("effect"), value: effect, among: ["NoExecute", "NoSchedule", "None"] },
    errors,
  );
}

/** The expressions themselves are not compiled here. */
export function checkSelectors(
  selectors: readonly DeviceSelector[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (selectors.length > LIST_MAX) errors.tooMany(path, selectors.length, LIST_MAX);
  for (const [i, { cel }] of selectors.entries()) {
    if (cel === undefined) errors.required(path.index(i).child("cel"));
    else if (cel.expression === "") errors.required(path.index(i).child("cel", "expression"));
  }
}

interface NameScope {
  readonly names: ReadonlySet<string>;
  readonly path: FieldPath;
}

function checkConstraint(it: DeviceConstraint, { names, path }: NameScope, errors: FieldErrors): void {
  checkNames(it.requests ?? [], { names, path: path.child("requests") }, errors);
  if (it.matchAttribute === undefined && it.distinctAttribute === undefined) {
    errors.required(path, "exactly one of `matchAttribute`, `distinctAttribute` is required");
  }
}

function checkNames(requests: readonly string[], { names, path }: NameScope, errors: FieldErrors): void {
  for (const [i, request] of requests.entries()) {
    if (names.has(request)) continue;
    errors.invalid(
      path.index(i),
      request,
      "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    );
  }
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
  checkDriver(opaque.driver, path.child("driver"), errors);
  const { parameters } = opaque;
  if (parameters === undefined || parameters === null) errors.required(path.child("parameters"));
}
