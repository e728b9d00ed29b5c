/** Parses the options of a container's log from the query of a request. */
import { findInstant } from "../../api/values/time.ts";
import type { LogView } from "../runtime-handler.ts";

/** Message of the kubelet, or the options. */
export type ParsedLogQuery =
  | { readonly isPrevious: boolean; readonly view: LogView }
  | { readonly status: 400 | 422; readonly problem: string };

/** Texts that Go parses as true. */
const TRUE = /^(?:1|t|true)$/i;
const STREAMS = ["All", "Stdout", "Stderr"] as const;

/** `now` in milliseconds since the epoch. */
export function parseLogQuery(given: URLSearchParams, now: number): ParsedLogQuery {
  const isOn = (name: string): boolean => TRUE.test(given.get(name) ?? "");
  const tailLines = numberIn(given, "tailLines");
  const limitBytes = numberIn(given, "limitBytes");
  const sinceMs = findSince(given, now);
  const stream = STREAMS.find((each) => each === (given.get("stream") ?? "All"));
  if ([tailLines, limitBytes, sinceMs].includes("bad"))
    return { status: 400, problem: "Unable to decode query." };
  if (isBelow(tailLines, 0) || isBelow(limitBytes, 1) || stream === undefined || hasBadSince(given))
    return { status: 422, problem: "Invalid request." };
  return {
    isPrevious: isOn("previous"),
    view: {
      follow: isOn("follow"),
      timestamps: isOn("timestamps"),
      tailLines: known(tailLines),
      sinceMs: known(sinceMs),
      limitBytes: known(limitBytes),
      stream,
    },
  };
}

type Amount = number | "bad" | undefined;

function numberIn(given: URLSearchParams, name: string): Amount {
  const text = given.get(name) ?? "";
  if (text === "") return undefined;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : "bad";
}

/** A time of the epoch. */
function findSince(given: URLSearchParams, now: number): Amount {
  const seconds = numberIn(given, "sinceSeconds");
  if (seconds !== undefined) return seconds === "bad" ? "bad" : now - seconds * 1000;
  const text = given.get("sinceTime") ?? "";
  if (text === "") return undefined;
  const instantUs = findInstant(text);
  return instantUs === undefined ? "bad" : Number(instantUs / 1000n);
}

/** At most one of the two, and at least one second. */
function hasBadSince(given: URLSearchParams): boolean {
  const isSecondsGiven = (given.get("sinceSeconds") ?? "") !== "";
  return isSecondsGiven && ((given.get("sinceTime") ?? "") !== "" || Number(given.get("sinceSeconds")) < 1);
}

function isBelow(amount: Amount, least: number): boolean {
  return typeof amount === "number" && amount < least;
}

function known(amount: Amount): number | undefined {
  return typeof amount === "number" ? amount : undefined;
}
