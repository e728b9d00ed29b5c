/** Paths and queries of the kubelet's HTTP API for the connections of a pod. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { canonicalTime } from "../../api/values/time.ts";
import { isTrue } from "../request/parse-request.ts";

/** Names of flags towards the kubelet. */
const STREAM_FLAGS = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;

/** `/containerLogs/default/web/main?follow=true`; the query is sorted, as Go writes it. */
export function logPath(pod: Pod, query: URLSearchParams): string {
  const asked = new URLSearchParams();
  for (const name of ["follow", "previous", "timestamps"])
    if (isTrue(query.get(name))) asked.set(name, "true");
  for (const name of ["limitBytes", "sinceSeconds", "tailLines", "stream"]) {
    const value = query.get(name) ?? "";
    if (value !== "") asked.set(name, value);
  }
  const since = query.get("sinceTime") ?? "";
  if (since !== "" && since !== "null") asked.set("sinceTime", canonicalTime(since));
  return withQuery(`/containerLogs/${placeOf(pod)}/${containerOf(pod, query)}`, asked);
}

/** `/exec/default/web/main?command=sh&input=1&output=1&tty=1`. */
export function commandPath(pod: Pod, kind: "exec" | "attach", query: URLSearchParams): string {
  const asked = new URLSearchParams();
  for (const [name, flag] of Object.entries(STREAM_FLAGS)) if (isTrue(query.get(name))) asked.set(flag, "1");
  for (const word of kind === "exec" ? query.getAll("command") : []) asked.append("command", word);
  return withQuery(`/${kind}/${placeOf(pod)}/${containerOf(pod, query)}`, asked);
}

/** `/portForward/default/web?port=80,443`. */
export function portForwardPath(pod: Pod, query: URLSearchParams): string {
  const ports = query.getAll("ports").flatMap((text) => text.split(","));
  const asked = ports.length === 0 ? {} : { port: ports.join(",") };
  return withQuery(`/portForward/${placeOf(pod)}`, new URLSearchParams(asked));
}

function placeOf({ metadata }: Pod): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function containerOf({ spec }: Pod, query: URLSearchParams): string {
  const asked = query.get("container") ?? "";
  return asked === "" ? (spec.containers[0]?.name ?? "") : asked;
}

function withQuery(path: string, query: URLSearchParams): string {
  query.sort();
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
