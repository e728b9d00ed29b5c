/** Prefers nodes that have the pod's images. An image on few nodes counts less, as it would attract all pods to them. */

import { SCORE_MAX } from "../framework/normal-score.ts";
import type { PluginFactory } from "../framework/scheduler-plugin.ts";

const MEGABYTE = 1024 * 1024;
/** Sizes up to this score 0. */
const BYTES_MIN = 23 * MEGABYTE;
/** Upper bound per container; larger images score no more. */
const BYTES_MAX = 1000 * MEGABYTE;

export const imageLocality: PluginFactory = ({ snapshot }) => ({
  name: "ImageLocality",
  scope: "cluster",
  queueingHints: {},
  score({ pod }) {
    const { images } = pod.shape;
    const spread = images.flatMap((name) => {
      const count = snapshot.imageNodes.get(name);
      return count === undefined ? [] : [{ name, share: count / snapshot.size }];
    });
    if (spread.length === 0) return undefined;
    const most = BYTES_MAX * images.length;
    return {
      normal: "none",
      score(node) {
        let sum = 0;
        for (const { name, share } of spread) sum += Math.floor((node.images.get(name) ?? 0) * share);
        const bytes = Math.min(most, Math.max(BYTES_MIN, sum));
        return Math.floor((SCORE_MAX * (bytes - BYTES_MIN)) / (most - BYTES_MIN));
      },
    };
  },
});
