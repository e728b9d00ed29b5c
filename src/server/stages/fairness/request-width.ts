/** Number of seats that a request takes: one, or more when it returns many objects. */
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import type { Registry } from "../../objects/registry.ts";
import { isStored } from "../../objects/registry.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { Exchange } from "../../request/exchange.ts";
import { isTrue } from "../../request/parse-request.ts";
import type { ResourceRequest } from "../../request/request-info.ts";

/** As in kube-apiserver. */
const OBJECTS_PER_SEAT = 100;
const SEATS_MAX = 10;
/** Part of a level's seats for one request, so that a few requests do not fill it. */
const LEVEL_PART_MAX = 0.15;

export interface WidthParts {
  readonly store: Store;
  readonly registry: Registry;
}

/** `levelSeats` is the nominal number of the level's seats. */
export function widthOf({ info, query }: Exchange, levelSeats: number, parts: WidthParts): number {
  if (info.type === "other" || info.name !== "") return 1;
  if (info.verb !== "list" && !showsPast(info, query)) return 1;
  const most = Math.min(SEATS_MAX, Math.max(1, Math.ceil(levelSeats * LEVEL_PART_MAX)));
  const count = Math.min(countOf(info, parts), limitOf(query));
  return Math.max(1, Math.min(most, Math.ceil(count / OBJECTS_PER_SEAT)));
}

/** Whether a watch starts with all existing objects. */
export function showsPast({ verb }: ResourceRequest, query: URLSearchParams): boolean {
  if (verb !== "watch") return false;
  const asked = query.get("sendInitialEvents");
  const version = query.get("resourceVersion") ?? "";
  return asked === null ? version === "" || version === "0" : isTrue(asked);
}

function countOf(info: ResourceRequest, { store, registry }: WidthParts): number {
  const resource = registry.find(info);
  if (resource === undefined || !isStored(resource)) return 1;
  const prefix = prefixOf(resource, info.namespace);
  return store.view.count(prefix, prefixEnd(prefix));
}

function limitOf(query: URLSearchParams): number {
  const limit = query.size === 0 ? 0 : Number(query.get("limit") ?? 0);
  return limit > 0 ? limit : Infinity;
}
