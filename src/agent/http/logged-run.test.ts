import { expect, test } from "vitest";
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { findLoggedRun } from "./logged-run.ts";

type States = Pick<ContainerStatus, "state" | "lastState">;

const ENDED = { terminated: { exitCode: 1, containerID: "simulated://1" } };

function pod(states: States): Pod {
  const status = { name: "app", image: "", imageID: "", ready: false, restartCount: 3, ...states };
  return incomplete<Pod>({ metadata: { name: "web" }, status: { containerStatuses: [status] } });
}

const IN_BACK_OFF = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ENDED };

test.each<[States, boolean, number]>([
  [{ state: { running: {} }, lastState: {} }, false, 3],
  [{ state: ENDED, lastState: {} }, false, 3],
  [IN_BACK_OFF, false, 3],
  [IN_BACK_OFF, true, 3],
  [{ state: { running: {} }, lastState: ENDED }, true, 2],
  [{ state: ENDED, lastState: ENDED }, true, 2],
])("the log of a container in %j, previous: %s, is that of run %i", (states, isPrevious, attempt) => {
  expect(findLoggedRun(pod(states), "app", isPrevious)).toEqual({ attempt });
});

test.each<[States, boolean, string]>([
  [
    { state: { running: {} }, lastState: {} },
    true,
    'previous terminated container "app" in pod "web" not found',
  ],
  [
    { state: { waiting: { reason: "ErrImagePull" } }, lastState: {} },
    false,
    `container "app" in pod "web" is waiting to start: image can't be pulled`,
  ],
  [
    { state: { waiting: { reason: "ContainerCreating" } }, lastState: {} },
    false,
    'container "app" in pod "web" is waiting to start: ContainerCreating',
  ],
  [
    { state: { terminated: { exitCode: 1 } }, lastState: {} },
    false,
    'container "app" in pod "web" is terminated',
  ],
])("the log of a container in %j, previous: %s, has the problem %s", (states, isPrevious, problem) => {
  expect(findLoggedRun(pod(states), "app", isPrevious)).toEqual({ problem });
});

test("a container without a status has no log", () => {
  expect(findLoggedRun(pod({ state: {}, lastState: {} }), "other", false)).toEqual({
    problem: 'container "other" in pod "web" is not available',
  });
});
