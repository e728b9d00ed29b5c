/** States of kinds that tell them neither by a phase nor by one condition: Node, Service, Lease. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type { Node, Service } from "../../api/generated/types/core-v1.ts";
import { durationText } from "../text/duration-text.ts";
import { findCondition, sinceOf } from "./conditions.ts";
import type { ObjectState } from "./state.ts";

const LEASE_SECONDS = 15;

export function nodeState(object: ApiObject): ObjectState | undefined {
  if (object.kind !== "Node" || object.apiVersion !== "v1") return undefined;
  const ready = findCondition(object, "Ready");
  const isReady = ready?.status === "True";
  const cordoned = (object as Node).spec.unschedulable === true ? "cordoned, " : "";
  return { text: `${cordoned}${isReady ? "ready" : "not ready"}`, isSettled: isReady, since: sinceOf(ready) };
}

/** A load balancer is made by a controller outside of the cluster; other Services have no state. */
export function serviceState(object: ApiObject): ObjectState | undefined {
  if (object.kind !== "Service" || object.apiVersion !== "v1") return undefined;
  const { spec, status } = object as Service;
  if (spec.type !== "LoadBalancer") return undefined;
  if ((status.loadBalancer?.ingress ?? []).length > 0)
    return { text: "has its load balancer", isSettled: true, since: undefined };
  return {
    text: "without a load balancer",
    isSettled: false,
    since: Date.parse(object.metadata.creationTimestamp ?? ""),
  };
}

export function leaseState(object: ApiObject, now: number): ObjectState | undefined {
  if (object.kind !== "Lease" || !object.apiVersion.startsWith("coordination.k8s.io/")) return undefined;
  const {
    holderIdentity = "",
    renewTime = "",
    leaseDurationSeconds = LEASE_SECONDS,
  } = (object as Lease).spec;
  if (holderIdentity === "") return { text: "held by no process", isSettled: false, since: undefined };
  const silentMs = now - Date.parse(renewTime);
  const renewed = Number.isNaN(silentMs) ? "never renewed" : `last renewed ${durationText(silentMs)} ago`;
  const isHeld = silentMs <= leaseDurationSeconds * 1000;
  return {
    text: isHeld ? `held by ${holderIdentity}, ${renewed}` : `expired: ${holderIdentity} held it, ${renewed}`,
    isSettled: isHeld,
    since: undefined,
  };
}
