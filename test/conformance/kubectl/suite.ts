/** Arguments of a group of kubectl tests. */
import type { test } from "vitest";
import type { Kubectl } from "./kubectl.ts";

export interface Suite {
  /** kubectl in a namespace that no other test uses; callable only during a test. */
  readonly namespace: () => Kubectl;
  /** A test that needs this minor version of kubectl; older ones, for example Debian's, skip it. */
  readonly since: (minor: number) => ReturnType<typeof test.skipIf>;
}
