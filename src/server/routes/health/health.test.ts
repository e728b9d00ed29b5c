import { describe, expect, test } from "vitest";
import { parseRequest } from "../../request/parse-request.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { healthRecord } from "./health-record.ts";
import { healthRoute } from "./health.ts";

const good = { name: "ping", check: () => undefined };
const alarm = { name: "space", check: () => "full", isAlarm: true };
const silent = { name: "silent", check: () => undefined, isAlarm: true };
const bad = { name: "store", check: () => "the disk is full" };

const CHECKS = { healthz: [good, bad], livez: [good], readyz: [good, bad] };

async function ask(
  target: string,
  checks = CHECKS,
  record = healthRecord(),
): Promise<readonly [number, string] | undefined> {
  const routes = [healthRoute(checks, record.record), record.route];
  const signal = new AbortController().signal;
  const request = {
    method: "GET",
    target,
    headers: new Map<string, string>(),
    peer: undefined,
    signal,
    readBody: () => Promise.resolve(new Uint8Array()),
  };
  const { info, query } = parseRequest("GET", target);
  const exchange = { request, query, info, user: undefined, notes: new RequestNotes() };
  const [answer] = routes.map((route) => route(exchange)).filter((found) => found !== undefined);
  const response = await answer;
  if (response === undefined) return undefined;
  const { status, body } = response;
  return [status, body instanceof Uint8Array ? Buffer.from(body).toString() : ""];
}

describe("a server's health", () => {
  test.each([
    ["/livez", 200, "ok"],
    ["/livez?verbose", 200, "[+]ping ok\nlivez check passed\n"],
    ["/readyz", 500, "[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n"],
    ["/healthz", 500, "[+]ping ok\n[-]store failed: reason withheld\nhealthz check failed\n"],
    ["/readyz?exclude=store", 200, "ok"],
    ["/readyz?verbose&exclude=store", 200, "[+]ping ok\n[+]store excluded: ok\nreadyz check passed\n"],
    [
      "/livez?verbose=1&exclude=b&exclude=a",
      200,
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n',
    ],
  ])("the endpoint answers %s", async (target, code, text) => {
    expect(await ask(target)).toEqual([code, text]);
  });

  test.each([
    ["/livez/ping?verbose", 200, "ok"],
    ["/readyz/store", 500, "internal server error: the disk is full\n"],
  ])("a single check answers %s", async (target, code, text) => {
    expect(await ask(target)).toEqual([code, text]);
  });

  test("outcomes of checks are counted under /metrics/slis, without those that were excluded", async () => {
    const record = healthRecord();
    await ask("/readyz", CHECKS, record);
    await ask("/readyz?exclude=store", CHECKS, record);

    const [code, text] = (await ask("/metrics/slis", CHECKS, record)) ?? [];

    expect(code).toBe(200);
    expect(text?.split("\n").filter((line) => line.includes("{"))).toEqual([
      'kubernetes_healthcheck{name="ping",type="readyz"} 1',
      'kubernetes_healthcheck{name="store",type="readyz"} 0',
      'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2',
      'kubernetes_healthchecks_total{name="store",status="error",type="readyz"} 1',
    ]);
  });

  test("an alarm is listed while raised and does not fail the endpoint", async () => {
    const checks = { ...CHECKS, readyz: [alarm, silent, good] };
    const listed = "[!]space alarm: reason withheld\n[+]ping ok\nreadyz check passed\n";

    expect(await ask("/readyz", checks)).toEqual([200, "ok"]);
    expect(await ask("/readyz?verbose", checks)).toEqual([200, listed]);
    expect(await ask("/readyz/space", checks)).toEqual([500, "internal server error: full\n"]);
    expect(await ask("/readyz/silent", checks)).toEqual([200, "ok"]);
  });

  test("an unknown check is left to other routes", async () => {
    expect(await ask("/livez/store")).toBeUndefined();
    expect(await ask("/other")).toBeUndefined();
  });
});
