/** What a group of claims about kubectl gets to work with. */
import type { test } from "vitest";
import type { Kubectl } from "./kubectl.ts";

export interface Suite {
  /** kubectl in a namespace that no other test uses; only while a test runs. */
  readonly namespace: () => Kubectl;
  /** A test of what kubectl can do since this minor version; older ones, such as Debian's, skip it. */
  readonly since: (minor: number) => ReturnType<typeof test.skipIf>;
}
