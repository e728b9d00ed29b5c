/** Table rows of scales, for every scaled kind. */
import type { Scale } from "../../api/generated/types/autoscaling-v1.ts";
import { ageText } from "../../resources/rules/human-duration.ts";
import type { Tabled } from "./table.ts";

export const SCALE_TABLE: Tabled = {
  facts: { columns: undefined },
  rules: {
    columns: [
      { name: "Name", type: "string", format: "", priority: 0 },
      { name: "Desired", type: "integer", format: "", priority: 0 },
      { name: "Available", type: "integer", format: "", priority: 0 },
      { name: "Age", type: "string", format: "", priority: 0 },
    ],
    cells: (object, now) => {
      const { metadata, spec, status } = object as Scale;
      return [metadata.name ?? "", spec.replicas ?? 0, status.replicas, ageText({ metadata }, now)];
    },
  },
};
