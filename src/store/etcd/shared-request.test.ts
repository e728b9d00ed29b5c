import { describe, expect, test } from "vitest";
import { SharedRequest } from "./shared-request.ts";

interface Sent {
  readonly resolve: (answer: number) => void;
  readonly reject: (error: Error) => void;
}

function arrange(): { request: SharedRequest<number>; sent: Sent[] } {
  const sent: Sent[] = [];
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      sent.push({ resolve, reject });
    });
  return { request: new SharedRequest(ask), sent };
}

describe("SharedRequest", () => {
  test("a caller during a request in flight gets the response to the next one", async () => {
    const { request, sent } = arrange();
    const first = request.answer();
    const second = request.answer();
    const third = request.answer();

    sent[0]?.resolve(1);
    expect(await first).toBe(1);
    expect(sent).toHaveLength(2);
    sent[1]?.resolve(2);

    expect(await Promise.all([second, third])).toEqual([2, 2]);
    expect(sent).toHaveLength(2);
  });

  test("a failed request fails its callers and no later ones", async () => {
    const { request, sent } = arrange();
    const first = request.answer();
    const second = request.answer();

    sent[0]?.reject(new Error("no answer"));
    await expect(first).rejects.toThrow("no answer");
    sent[1]?.resolve(2);

    expect(await second).toBe(2);
  });

  test("a new request is sent once all are answered", async () => {
    const { request, sent } = arrange();
    const first = request.answer();
    sent[0]?.resolve(1);
    await first;

    const second = request.answer();
    sent[1]?.resolve(2);

    expect(await second).toBe(2);
  });
});
