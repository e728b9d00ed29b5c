/** A pod as one cell of a terminal: its phase as a letter or a colour. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";

export type CellStyle = "colour" | "plain";

type Look = "ready" | "starting" | "failing" | "ending" | "done";

const LETTERS: Readonly<Record<Look, string>> = {
  ready: "R",
  starting: "s",
  failing: "F",
  ending: "x",
  done: "d",
};

const COLOURS: Readonly<Record<Look, number>> = {
  ready: 32,
  starting: 33,
  failing: 31,
  ending: 35,
  done: 90,
};

export function cellOf(pod: Pod, style: CellStyle): string {
  const look = lookOf(pod);
  return style === "plain" ? LETTERS[look] : `\u001b[${String(COLOURS[look])}m■\u001b[0m`;
}

function lookOf({ metadata, status }: Pod): Look {
  if (metadata.deletionTimestamp !== undefined) return "ending";
  if (status?.phase === "Succeeded") return "done";
  if (status?.phase === "Failed" || isFailing(status)) return "failing";
  const isReady = status?.conditions?.some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
  return isReady === true ? "ready" : "starting";
}

function isFailing(status: Pod["status"]): boolean {
  const reasons = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason ?? "") ?? [];
  return reasons.some((reason) => /BackOff|Err/.test(reason));
}
