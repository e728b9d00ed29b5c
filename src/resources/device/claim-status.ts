/**
 * Validates the status of a ResourceClaim: its allocation, its consumers, and the statuses of its devices.
 */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  AllocatedDeviceStatus,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimStatus,
} from "../../api/generated/types/resource-v1.ts";
import { interfaceAddress } from "../../api/values/ip-address.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { checkNodeSelector } from "../node/node-selector-rules.ts";
import { checkConditions } from "../rules/condition-rules.ts";
import { checkRequiredChoice, firstByText, isSame } from "../rules/value-rules.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";
import { deviceKey } from "./allocated-devices.ts";
import { checkBindingConditions } from "./binding-conditions.ts";
import {
  checkForeignData,
  checkOpaque,
  checkRequestName,
  checkRequestNames,
  checkTolerations,
  type NameScope,
  requestNames,
} from "./claim-spec.ts";
import { checkPoolName } from "./driver-name.ts";
import { checkList } from "./list-rules.ts";

const CONSUMERS_MAX = 256;
const RESULTS_MAX = 32;
/** Sum of the limits of a class and a claim. */
const CONFIG_MAX = 64;
const CONDITIONS_MAX = 8;
const ADDRESSES_MAX = 16;
const INTERFACE_NAME_MAX_BYTES = 256;
const HARDWARE_ADDRESS_MAX_BYTES = 128;
const UUID_LENGTH = 36;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function checkConsumers(next: ResourceClaim, previous: ResourceClaim, errors: FieldErrors): void {
  const path = "status.reservedFor";
  const users = next.status.reservedFor ?? [];
  if (users.length === 0) return;
  if (next.status.allocation === undefined) {
    errors.forbidden(path, "may not be specified when `allocated` is not set");
    return;
  }
  if (next.metadata.deletionTimestamp === undefined) return;
  const before = previous.status.reservedFor ?? [];
  const known = firstByText(before, ({ uid }) => uid);
  if (users.every((user) => isSame(user, known.get(user.uid)))) return;
  errors.forbidden(
    path,
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
  );
}

export function checkConsumerList(
  { reservedFor = [] }: ResourceClaimStatus,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkList(
    reservedFor,
    {
      path,
      max: CONSUMERS_MAX,
      check: (consumer, at) => {
        for (const field of ["resource", "name", "uid"] as const) {
          if (consumer[field] === "") errors.required(at.child(field));
        }
      },
      keyOf: ({ uid }) => uid,
    },
    errors,
  );
}

/** An allocation is validated once and is immutable. To change it, the claim is first deallocated. */
export function checkAllocation(
  next: ResourceClaim,
  { previous, path }: { readonly previous: ResourceClaim; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  const { allocation } = next.status;
  const before = previous.status.allocation;
  if (allocation === undefined) return;
  if (before !== undefined) {
    errors.immutable(path, allocation, before);
    return;
  }
  const names = requestNames(next.spec);
  const { results = [], config = [] } = allocation.devices;
  const check = (result: DeviceRequestAllocationResult, at: FieldPath): void =>
    checkResult(result, { names, path: at }, errors);
  checkList(results, { path: path.child("devices", "results"), max: RESULTS_MAX, check }, errors);
  const checkOne = (it: DeviceAllocationConfiguration, at: FieldPath): void =>
    checkConfiguration(it, { names, path: at }, errors);
  checkList(config, { path: path.child("devices", "config"), max: CONFIG_MAX, check: checkOne }, errors);
  const { nodeSelector } = allocation;
  if (nodeSelector === undefined) return;
  checkNodeSelector(nodeSelector, { path: path.child("nodeSelector"), values: "strict" }, errors);
}

function checkResult(
  result: DeviceRequestAllocationResult,
  { names, path }: NameScope,
  errors: FieldErrors,
): void {
  checkRequestName(result.request, { names, path: path.child("request") }, errors);
  checkDeviceName(result, path, errors);
  checkBindingConditions(result, path, errors);
  checkTolerations(result.tolerations ?? [], path.child("tolerations"), errors);
  checkShare(result.shareID, path.child("shareID"), errors);
}

function checkConfiguration(
  { source, requests = [], opaque }: DeviceAllocationConfiguration,
  { names, path }: NameScope,
  errors: FieldErrors,
): void {
  const among = ["FromClaim", "FromClass"];
  checkRequiredChoice({ path: path.child("source"), value: source, among }, errors);
  checkRequestNames(requests, { names, path: path.child("requests") }, errors);
  checkOpaque(opaque, path.child("opaque"), errors);
}

interface NamedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

function checkDeviceName({ driver, pool, device }: NamedDevice, path: FieldPath, errors: FieldErrors): void {
  checkDriverName(driver, path.child("driver"), errors);
  checkPoolName(pool, path.child("pool"), errors);
  errors.invalidFor(path.child("device"), device, dns1123Label(device));
}

/** The share of a device that several claims use. */
function checkShare(id: string | undefined, path: FieldPath, errors: FieldErrors): void {
  if (id === undefined || UUID.test(id)) return;
  errors.invalid(path, id, shareProblem(id));
}

function shareProblem(id: string): string {
  if (id.length !== UUID_LENGTH) return `error validating uid: invalid UUID length: ${id.length}`;
  if (!UUID.test(id.toLowerCase())) return "error validating uid: invalid UUID format";
  return "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
}

function shareKey(device: NamedDevice): string {
  return device.shareID === undefined ? deviceKey(device) : `${deviceKey(device)}/${device.shareID}`;
}

export function checkDeviceStatuses(
  { devices = [], allocation }: ResourceClaimStatus,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const allocated = new Set((allocation?.devices.results ?? []).map(shareKey));
  const check = (device: AllocatedDeviceStatus, at: FieldPath): void => {
    checkDeviceName(device, at, errors);
    checkShare(device.shareID, at.child("shareID"), errors);
    if (!allocated.has(shareKey(device))) {
      const body = `Invalid value: ${shareKey(device)}: must be an allocated device in the claim`;
      errors.append([{ type: "FieldValueInvalid", field: at.toString(), body }]);
    }
    checkDeviceStatus(device, at, errors);
  };
  checkList(devices, { path, max: Infinity, check, keyOf: shareKey }, errors);
}

function checkDeviceStatus(
  { conditions, data, networkData }: AllocatedDeviceStatus,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (conditions.length > CONDITIONS_MAX) {
    errors.tooMany(path.child("conditions"), conditions.length, CONDITIONS_MAX);
  }
  checkConditions(conditions, path.child("conditions"), errors);
  if (data !== undefined && data !== null) checkForeignData(data, path.child("data"), errors);
  if (networkData !== undefined) checkNetworkData(networkData, path.child("networkData"), errors);
}

function checkNetworkData(
  { interfaceName = "", hardwareAddress = "", ips = [] }: NetworkDeviceData,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (Buffer.byteLength(interfaceName) > INTERFACE_NAME_MAX_BYTES) {
    errors.tooLong(path.child("interfaceName"), INTERFACE_NAME_MAX_BYTES);
  }
  if (Buffer.byteLength(hardwareAddress) > HARDWARE_ADDRESS_MAX_BYTES) {
    errors.tooLong(path.child("hardwareAddress"), HARDWARE_ADDRESS_MAX_BYTES);
  }
  const check = (ip: string, at: FieldPath): void => errors.invalidFor(at, ip, interfaceAddress(ip));
  checkList(ips, { path: path.child("ips"), max: ADDRESSES_MAX, check, keyOf: (ip) => ip }, errors);
}
