/** A Job or a CronJob is suspended, or the schedule of a CronJob cannot be read. */
import { CronJob, Job } from "../../api/generated/types/batch-v1.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, kubectlName } from "./situation.ts";

/** Events about a schedule that never comes. */
const SCHEDULE_EVENTS = new Set([
  "InvalidSchedule",
  "UnParseableCronJobSchedule",
  "UnparseableSchedule",
  "UnknownTimeZone",
  "TooManyMissedTimes",
]);

export const suspendedRule: StuckRule = (situation) => {
  const cron = asKind(situation, CronJob);
  const { suspend } = (cron ?? asKind(situation, Job))?.spec ?? {};
  const name = kubectlName(situation);
  if (suspend === true)
    return {
      blockedBy: "it is suspended (spec.suspend)",
      unblock: [{ command: `kubectl patch ${name} -p '{"spec":{"suspend":false}}'`, effect: "let it run" }],
    };
  const bad = cron && situation.events.find(({ reason }) => SCHEDULE_EVENTS.has(reason ?? ""));
  if (bad === undefined) return undefined;
  return {
    blockedBy: `its schedule starts no Job: ${bad.message ?? bad.reason ?? ""}`,
    unblock: [{ command: `kubectl edit ${name}`, effect: "change spec.schedule or spec.timeZone" }],
  };
};
