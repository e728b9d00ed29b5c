import { expect, test } from "vitest";
import { toStatus } from "../../api/errors/api-error.ts";
import { StoreError } from "../../store/store-error.ts";
import { toApiError } from "./store-errors.ts";

test.each(["Unavailable", "OutcomeUnknown", "Closed"] as const)(
  "the store error %s becomes a 503 with a retry time",
  (code) => {
    const error = toApiError(new StoreError(code, "etcd is away"), { group: "", resource: "pods" }, "a");

    expect(toStatus(error)).toMatchObject({
      code: 503,
      reason: "ServiceUnavailable",
      message: "etcd is away",
      details: { retryAfterSeconds: 1 },
    });
  },
);
