import { describe, expect, test } from "vitest";
import { SharedQuestion } from "./shared-question.ts";

interface Sent {
  readonly resolve: (answer: number) => void;
  readonly reject: (error: Error) => void;
}

function questions(): { question: SharedQuestion<number>; sent: Sent[] } {
  const sent: Sent[] = [];
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      sent.push({ resolve, reject });
    });
  return { question: new SharedQuestion(ask), sent };
}

describe("SharedQuestion", () => {
  test("a caller during a request in flight gets the response to the next one", async () => {
    const { question, sent } = questions();
    const first = question.answer();
    const second = question.answer();
    const third = question.answer();

    sent[0]?.resolve(1);
    expect(await first).toBe(1);
    expect(sent).toHaveLength(2);
    sent[1]?.resolve(2);

    expect(await Promise.all([second, third])).toEqual([2, 2]);
    expect(sent).toHaveLength(2);
  });

  test("a failed request fails its callers and no later ones", async () => {
    const { question, sent } = questions();
    const first = question.answer();
    const second = question.answer();

    sent[0]?.reject(new Error("no answer"));
    await expect(first).rejects.toThrow("no answer");
    sent[1]?.resolve(2);

    expect(await second).toBe(2);
  });

  test("a new request is sent once all are answered", async () => {
    const { question, sent } = questions();
    const first = question.answer();
    sent[0]?.resolve(1);
    await first;

    const second = question.answer();
    sent[1]?.resolve(2);

    expect(await second).toBe(2);
  });
});
