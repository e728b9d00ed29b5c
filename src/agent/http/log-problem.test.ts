import { expect, test } from "vitest";
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { findLogProblem } from "./log-problem.ts";

type States = Pick<ContainerStatus, "state" | "lastState">;

const ENDED = { terminated: { exitCode: 1, containerID: "simulated://1" } };

function pod(states: States): Pod {
  const status = { name: "app", image: "", imageID: "", ready: false, restartCount: 0, ...states };
  return incomplete<Pod>({ metadata: { name: "web" }, status: { containerStatuses: [status] } });
}

test.each<[States, boolean, string | undefined]>([
  [{ state: { running: {} }, lastState: {} }, false, undefined],
  [{ state: ENDED, lastState: {} }, false, undefined],
  [{ state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ENDED }, false, undefined],
  [{ state: { running: {} }, lastState: ENDED }, true, undefined],
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
  expect(findLogProblem(pod(states), "app", isPrevious)).toBe(problem);
});

test("a container without a status has no log", () => {
  expect(findLogProblem(pod({ state: {}, lastState: {} }), "other", false)).toBe(
    'container "other" in pod "web" is not available',
  );
});
