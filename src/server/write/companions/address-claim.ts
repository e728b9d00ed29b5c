/**
 * Allocated addresses: an IPAddress object per address, with the canonical address as its name and its Service as
 * parent.
 */
import type { Service } from "../../../api/generated/types/core-v1.ts";
import type { IPAddress } from "../../../api/generated/types/networking-v1.ts";
import { ipAddressText } from "../../../api/values/ip-address.ts";
import type { IpAddress } from "../../../api/values/ip-address.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import type { Change, Entry, View } from "../../../store/store.ts";
import { encodeObject } from "../../objects/object-encoder.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { findReadable } from "../../objects/stored-object.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Versions } from "../../objects/versions.ts";
import { SERVER_USER } from "../../request/server-user.ts";
import { newObject } from "../revise.ts";
import { track, fieldWriterOf } from "../tracking.ts";

export const SERVICES = "/registry/services/specs/";
const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
const KEEPER_LABEL = "ipaddress.kubernetes.io/managed-by";
/** Upstream's value, so that upstream's repair controller recognizes the addresses of Services. */
const KEEPER = "ipallocator.k8s.io";

export interface ClaimParts {
  readonly loop: Loop;
  readonly registry: Registry;
  readonly versions: Versions;
}

export class AddressClaims {
  readonly #resource: StoredResource;
  readonly #parts: ClaimParts;

  constructor(parts: ClaimParts) {
    this.#resource = requireStored(parts.registry, "networking.k8s.io", "ipaddresses");
    this.#parts = parts;
  }

  key(address: IpAddress): string {
    return keyOf(this.#resource, "", ipAddressText(address));
  }

  find(view: View, address: IpAddress): Entry | undefined {
    return view.get(this.key(address));
  }

  put(address: IpAddress, service: Service): Change {
    const { loop, versions } = this.#parts;
    const now = loop.now();
    const context = { now, user: SERVER_USER, uid: loop.random("uids").uuid() };
    const next = newObject(draftOf(address, service), this.#resource, context);
    const writer = fieldWriterOf(this.#resource, versions, {
      manager: "kube-apiserver",
      subresource: "",
      now,
    });
    const object = track({ live: undefined, next, writer, sentManagedFields: undefined });
    const encoded = encodeObject(versions.stored(object, this.#resource));
    return { type: "put", key: this.key(address), value: encoded.bytes, slot: encoded };
  }
}

/** Whether the address is allocated to this Service. */
export function isClaimOf(entry: Entry, { metadata }: Service): boolean {
  const parent = findParent(entry);
  return parent?.namespace === (metadata.namespace ?? "") && parent.name === metadata.name;
}

/** Whether the address was allocated for a Service. Other IPAddress objects belong to their creators. */
export function isServiceClaim(entry: Entry): boolean {
  return findReadable(entry)?.metadata.labels?.[KEEPER_LABEL] === KEEPER;
}

/** Key of the Service that the IPAddress names as its parent; undefined if it names none. */
export function parentKey(entry: Entry): string | undefined {
  const parent = findParent(entry);
  return parent === undefined ? undefined : `${SERVICES}${parent.namespace}/${parent.name}`;
}

function findParent(entry: Entry): { readonly namespace: string; readonly name: string } | undefined {
  const parentRef = (findReadable(entry) as IPAddress | undefined)?.spec.parentRef;
  const { group = "", resource = "", namespace = "", name = "" } = parentRef ?? {};
  return group === "" && resource === "services" ? { namespace, name } : undefined;
}

function draftOf(address: IpAddress, { metadata }: Service): Draft<ApiObject> {
  const { namespace = "", name } = metadata;
  const draft = {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: {
      name: ipAddressText(address),
      labels: { [FAMILY_LABEL]: address.family, [KEEPER_LABEL]: KEEPER },
    },
    spec: { parentRef: { group: "", resource: "services", namespace, name } },
  };
  return draft;
}
