import type { StatusAnswer } from "../../request/answer.ts";

/** For what is done by being asked for, and leaves no object to show. */
export function created(): StatusAnswer {
  return {
    type: "status",
    status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  };
}
