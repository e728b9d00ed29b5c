/**
 * ComponentStatus: health of a control plane component. The server computes it on each request and never
 * stores it.
 */

import type { ComponentStatus } from "../../api/generated/types/core-v1.ts";
import { defineKind } from "../rules/kind-rules.ts";

export const componentStatus = defineKind<ComponentStatus>("v1", "ComponentStatus", {
  cells({ metadata, conditions = [] }) {
    const health = conditions.find(({ type }) => type === "Healthy");
    if (health === undefined) return [metadata.name, "Unknown", "", ""];
    const { status, message = "", error = "" } = health;
    return [metadata.name, status === "True" ? "Healthy" : "Unhealthy", message, error];
  },
});
