/** Everything that a frame is drawn from. */
import type { ClusterModel } from "./cluster-model.ts";
import type { Layout } from "./layout.ts";
import type { Glyphs } from "./pod-marks.ts";
import type { View } from "./view.ts";

/** Facts that the screen shows beside the objects of the cluster. */
export interface Surroundings {
  readonly glyphs: Glyphs;
  /** Elapsed time. */
  readonly now: number;
  /** Name of the cluster. */
  readonly title: string;
  /** Undefined where the server has no such metrics. */
  readonly passesPerSecond: number | undefined;
  readonly notConverged: number | undefined;
  /** Why the screen may be out of date; undefined while all watches are open. */
  readonly trouble: string | undefined;
  /** Whether the first state has arrived. */
  readonly hasSynced: boolean;
}

export interface Picture {
  readonly model: ClusterModel;
  readonly view: View;
  readonly layout: Layout;
  readonly around: Surroundings;
}
