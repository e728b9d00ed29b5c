import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../api/json-object.ts";
import { VirtualLoop } from "../../base/virtual-loop.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import { makeTokenKeys } from "../pki/token-keys.ts";
import { RequestNotes } from "../request-notes.ts";
import { tokenIssuer } from "../subresources/token-issuer.ts";
import { accountTokens } from "./account-tokens.ts";

const NOW_S = 1_767_225_600; // 2026-01-01
const ROBOT = "system:serviceaccount:default:robot";
const issuer = tokenIssuer(makeTokenKeys);
const account = { metadata: { name: "robot", namespace: "default", uid: "u1" } };

/** What is noted when a token with these claims is shown where these objects are. */
function show(
  claims: JsonObject,
  objects: Readonly<Record<string, unknown>> = {},
): { type: string | undefined; annotations: Readonly<Record<string, string>> } {
  const token = issuer.sign(claims);
  const notes = new RequestNotes();
  const loop = new VirtualLoop({ seed: 1, startAt: NOW_S * 1000 });
  const known: Readonly<Record<string, unknown>> = { "serviceaccounts/robot": account, ...objects };
  const kind = accountTokens({
    loop,
    tokens: issuer,
    objects: (resource, _, name) => known[`${resource}/${name}`] as ApiObject | undefined,
  });
  const found = kind.find(token, issuer.audiences, notes);
  const type = found instanceof Promise ? undefined : found?.type;
  return { type, annotations: Object.fromEntries(notes.annotations) };
}

function boundClaims(more: JsonObject): JsonObject {
  const own = { namespace: "default", serviceaccount: { name: "robot", uid: "u1" }, ...more };
  return { iss: issuer.issuer, sub: ROBOT, aud: [...issuer.audiences], "kubernetes.io": own };
}

describe("what is noted of a pod's token", () => {
  test("that it should have been renewed, once it should", () => {
    expect(show(boundClaims({ warnafter: NOW_S - 90 }))).toEqual({
      type: "bearer",
      annotations: {
        "authentication.k8s.io/stale-token": `subject: ${ROBOT}, seconds after warning threshold: 90`,
      },
    });
  });

  test.each([{ warnafter: NOW_S }, { warnafter: 0 }, {}])("is nothing before that: %j", (more) => {
    expect(show(boundClaims(more))).toEqual({ type: "bearer", annotations: {} });
  });
});
