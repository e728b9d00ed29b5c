import { describe, expect, test } from "vitest";
import * as errors from "./api-error.ts";
import { ApiError, isApiError, toStatus } from "./api-error.ts";
import { FieldErrors } from "./field-error.ts";

const pods = { group: "", resource: "pods" };
const deployments = { group: "apps", resource: "deployments" };
const pod = { group: "", kind: "Pod" };

function fieldErrors(add: (list: FieldErrors) => void): FieldErrors["found"] {
  const list = new FieldErrors();
  add(list);
  return list.found;
}

describe("api errors", () => {
  test.each([
    [errors.notFound(pods, "x"), 404, "NotFound", 'pods "x" not found'],
    [errors.notFound(deployments, "x"), 404, "NotFound", 'deployments.apps "x" not found'],
    [errors.unknownResource(), 404, "NotFound", "the server could not find the requested resource"],
    [errors.alreadyExists(pods, "x"), 409, "AlreadyExists", 'pods "x" already exists'],
    [
      errors.generateNameConflict(errors.alreadyExists(pods, "x-bcdfg")),
      409,
      "AlreadyExists",
      'pods "x-bcdfg" already exists, the server was not able to generate a unique name for the object',
    ],
    [
      errors.conflict(pods, "x"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods "x": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      errors.conflict(deployments, "x", "StorageError"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on deployments.apps "x": StorageError',
    ],
    [errors.forbidden(pods, "x", "no"), 403, "Forbidden", 'pods "x" is forbidden: no'],
    [errors.forbidden(pods, "", "no"), 403, "Forbidden", "pods is forbidden: no"],
    [errors.forbidden({ group: "", resource: "" }, "", "no"), 403, "Forbidden", "forbidden: no"],
    [errors.badRequest("no"), 400, "BadRequest", "no"],
    [errors.unauthorized(), 401, "Unauthorized", "Unauthorized"],
    [
      errors.methodNotAllowed(),
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    [
      errors.methodNotSupported(deployments, "create"),
      405,
      "MethodNotAllowed",
      'create is not supported on resources of kind "deployments.apps"',
    ],
    [
      errors.notAcceptable(["application/json", "application/yaml"]),
      406,
      "NotAcceptable",
      "only the following media types are accepted: application/json, application/yaml",
    ],
    [
      errors.unsupportedMediaType(["application/json"]),
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json",
    ],
    [
      errors.requestEntityTooLarge("limit is 3145728"),
      413,
      "RequestEntityTooLarge",
      "Request entity too large: limit is 3145728",
    ],
    [errors.expired("too old"), 410, "Expired", "too old"],
    [errors.gone("gone"), 410, "Gone", "gone"],
    [errors.tooManyRequests("slow down", 1), 429, "TooManyRequests", "slow down"],
    [errors.timeout("request did not complete", 0), 504, "Timeout", "Timeout: request did not complete"],
    [
      errors.tooLargeResourceVersion(9n, 3n),
      504,
      "Timeout",
      "Timeout: Too large resource version: 9, current: 3",
    ],
    [
      errors.serverTimeout(pods, "create"),
      500,
      "ServerTimeout",
      "The create operation against pods could not be completed at this time, please try again.",
    ],
    [errors.serviceUnavailable("no agent"), 503, "ServiceUnavailable", "no agent"],
    [errors.internalError(new Error("boom")), 500, "InternalError", "Internal error occurred: boom"],
  ])("%s", (error, ...expected) => {
    expect([error.code, error.reason, error.message]).toEqual(expected);
  });

  test("one field error follows the name, several stand in brackets without repeats", () => {
    const one = fieldErrors((list) => list.required("spec.containers"));
    const three = fieldErrors((list) => {
      list.required("spec.a");
      list.invalid("spec.b", "x", "must be y");
      list.required("spec.a");
    });

    expect(errors.invalid(pod, "x", one).message).toBe('Pod "x" is invalid: spec.containers: Required value');
    expect(errors.invalid({ group: "apps", kind: "Deployment" }, "x", three).message).toBe(
      'Deployment.apps "x" is invalid: [spec.a: Required value, spec.b: Invalid value: "x": must be y]',
    );
    expect(errors.invalid(pod, "x", []).message).toBe('Pod "x" is invalid');
  });

  test("an invalid object's Status names every field", () => {
    const error = errors.invalid(
      pod,
      "x",
      fieldErrors((list) => list.required("spec.containers", "at least one")),
    );

    expect(JSON.stringify(toStatus(error))).toBe(
      JSON.stringify({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: 'Pod "x" is invalid: spec.containers: Required value: at least one',
        reason: "Invalid",
        details: {
          name: "x",
          kind: "Pod",
          causes: [
            {
              reason: "FieldValueRequired",
              message: "Required value: at least one",
              field: "spec.containers",
            },
          ],
        },
        code: 422,
      }),
    );
  });

  test("a Status omits empty members but keeps empty details", () => {
    expect(toStatus(errors.badRequest("no"))).not.toHaveProperty("details");
    expect(toStatus(errors.unknownResource()).details).toEqual({});
    expect(toStatus(errors.notFound(pods, "x")).details).toEqual({ name: "x", kind: "pods" });
  });

  test("an expired list carries the continue token", () => {
    expect(toStatus(errors.expired("too old", "token")).metadata).toEqual({ continue: "token" });
  });

  test("a read at a future revision tells the client when to retry", () => {
    expect(toStatus(errors.tooLargeResourceVersion(9, 3)).details).toEqual({
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    });
  });

  test("any other error becomes an internal error", () => {
    const cause = new TypeError("x is not a function");

    expect(toStatus(cause)).toMatchObject({
      reason: "InternalError",
      code: 500,
      message: "Internal error occurred: x is not a function",
      details: { causes: [{ message: "x is not a function" }] },
    });
    expect(errors.internalError(cause).cause).toBe(cause);
  });

  test("isApiError tests class and reason", () => {
    const error: unknown = errors.conflict(pods, "x");

    expect(isApiError(error)).toBe(true);
    expect(isApiError(error, "Conflict")).toBe(true);
    expect(isApiError(error, "AlreadyExists")).toBe(false);
    expect(isApiError(new Error("x"))).toBe(false);
    expect(new ApiError("Gone", "x", { cause: error }).cause).toBe(error);
  });
});
