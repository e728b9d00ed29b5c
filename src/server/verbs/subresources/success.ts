import type { StatusAnswer } from "../../request/answer.ts";

/** Answer of an action without an object to show. */
export function created(): StatusAnswer {
  return {
    type: "status",
    status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  };
}
