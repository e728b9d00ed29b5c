import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { HttpResponse } from "../request/http.ts";
import { parseRequest } from "../request/parse-request.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { statuszRoute } from "./statusz.ts";

/** The response of a server that has run for an hour, a minute and a second. */
async function ask(accept?: string): Promise<HttpResponse | undefined> {
  const loop = new VirtualLoop({ seed: 1, startAt: Date.UTC(2026, 0, 1) });
  const route = statuszRoute(loop);
  await loop.advance(3_661_000);
  return route({
    request: {
      headers: new Map(accept === undefined ? [] : [["accept", accept]]),
      peer: undefined,
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(new Uint8Array()),
    },
    ...parseRequest("GET", "/statusz"),
    user: undefined,
    notes: new RequestNotes(),
  });
}

function textOf(response: HttpResponse | undefined): string {
  return Buffer.from(response?.body as Uint8Array).toString();
}

describe("/statusz", () => {
  test.each([undefined, "text/plain", "*/*"])(
    "tells people how long the server has run (%s)",
    async (accept) => {
      const text = textOf(await ask(accept));

      expect(text).toContain("kube-apiserver statusz\n");
      expect(text).toContain("\nUp: 1 hr 01 min 01 sec\n");
      expect(text).toContain("\nPaths: /healthz /livez /metrics /readyz /statusz /version\n");
    },
  );

  test("is an object for programs that ask for it", async () => {
    const response = await ask("application/json;as=Statusz;v=v1beta1;g=config.k8s.io");

    expect(response?.headers.get("warning")).toBeUndefined();
    expect(JSON.parse(textOf(response))).toMatchObject({
      kind: "Statusz",
      apiVersion: "config.k8s.io/v1beta1",
      metadata: { name: "kube-apiserver" },
      startTime: "2026-01-01T00:00:00Z",
      uptimeSeconds: 3661,
      binaryVersion: "1.36.4",
      emulationVersion: "1.36",
    });
  });

  test("warns of the first version of the object", async () => {
    const response = await ask("application/yaml;as=Statusz;v=v1alpha1;g=config.k8s.io");

    expect(textOf(response)).toContain("apiVersion: config.k8s.io/v1alpha1\n");
    expect(response?.headers.get("warning")).toMatch(
      /^299 - "This version of the statusz endpoint is deprecated/,
    );
  });

  test.each(["application/json", "application/json;as=Statusz;v=v1;g=config.k8s.io"])(
    "has no other form (%s)",
    async (accept) => {
      await expect(ask(accept)).rejects.toMatchObject({ reason: "NotAcceptable" });
    },
  );
});
