/** Normalizes the scores of all plugins to whole numbers from 0 to 100, before weighting. */

import type { Scorer } from "./scheduler-plugin.ts";

export const SCORE_MAX = 100;

/** Changes the first `count` scores. */
export function normalizeScores(scores: Float64Array, count: number, normal: Scorer["normal"]): void {
  if (normal === "none") return;
  if (typeof normal === "function") return normal(scores, count);
  let most = 0;
  for (let i = 0; i < count; i++) most = Math.max(most, scores[i] ?? 0);
  for (let i = 0; i < count; i++) {
    const share = most === 0 ? 0 : Math.floor((SCORE_MAX * (scores[i] ?? 0)) / most);
    scores[i] = normal === "reversed" ? SCORE_MAX - share : share;
  }
}
