/** PodDisruptionBudget of `policy/v1beta1`: an empty selector selects no pod; in `v1` it selects all. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { LegacyVersion } from "./legacy-version.ts";

/** No pod has this label; the same as upstream's, so that both read the same. */
const NO_POD = { key: "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match", operator: "Exists" };

export const legacyDisruptionBudget: LegacyVersion = {
  convert: (budget: JsonObject) => {
    const { spec } = budget;
    if (!isJsonObject(spec) || !isJsonObject(spec["selector"])) return budget;
    const isEmpty = Object.values(spec["selector"]).every(
      (part) => isJsonObject(part) && Object.keys(part).length === 0,
    );
    return isEmpty ? { ...budget, spec: { ...spec, selector: { matchExpressions: [NO_POD] } } } : budget;
  },
};
