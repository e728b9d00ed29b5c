import { expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { ConfigReference, ConfigState } from "./config-needs.ts";
import { beginPreparation, isPrepared, nextStepAt, stepPreparation } from "./pod-preparation.ts";

const NOTHING: ReadonlySet<string> = new Set();
const FOUND: ConfigState = { type: "found", keys: NOTHING, binaryKeys: NOTHING };
const MISSING: ConfigState = { type: "missing" };

function podWith(spec: object): Pod {
  return { metadata: { namespace: "default", name: "web" }, spec } as Pod;
}

const pod = podWith({
  containers: [{ name: "c", volumeMounts: [{ name: "conf", mountPath: "/conf" }] }],
  volumes: [{ name: "conf", configMap: { name: "settings" } }],
  imagePullSecrets: [{ name: "registry" }],
});

test("preparation looks up pull secrets after all volumes, and accepts missing ones", () => {
  const asked: string[] = [];
  const known = new Map<string, ConfigState>();
  const findConfig = ({ name }: ConfigReference): ConfigState | undefined => {
    asked.push(name);
    return known.get(name);
  };

  const open = stepPreparation(beginPreparation(pod, 0), findConfig, 0);
  known.set("settings", MISSING);
  const failed = stepPreparation(open.preparation, findConfig, 0);
  known.set("settings", FOUND);
  const early = stepPreparation(failed.preparation, findConfig, 400);
  expect([open, failed, early].map(({ warnings }) => warnings.map(({ reason }) => reason))).toEqual([
    [],
    ["FailedMount"],
    [],
  ]);
  expect(nextStepAt(early.preparation, 400)).toBe(500);
  expect(new Set(asked)).toEqual(new Set(["settings"]));

  const waiting = stepPreparation(early.preparation, findConfig, 500);
  expect(isPrepared(waiting.preparation)).toBe(false);
  known.set("registry", MISSING);
  const last = stepPreparation(waiting.preparation, findConfig, 500);
  expect(isPrepared(last.preparation)).toBe(true);
  expect(last.warnings.map(({ reason }) => reason)).toEqual(["FailedToRetrieveImagePullSecret"]);
});

test("a pod without dependencies is prepared from the start", () => {
  expect(isPrepared(beginPreparation(podWith({ containers: [{ name: "c" }] }), 0))).toBe(true);
});
