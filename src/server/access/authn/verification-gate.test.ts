import { describe, expect, test } from "vitest";
import { isApiError } from "../../../api/errors/api-error.ts";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { VerificationGate } from "./verification-gate.ts";

const loop = createRealLoop({ name: "test" });

interface Opened {
  readonly order: readonly string[];
  readonly refused: readonly string[];
  readonly ask: (name: string, share: readonly string[]) => void;
  /** Completes the oldest running verification. */
  readonly end: () => Promise<void>;
}

function open(): Opened {
  const gate = new VerificationGate();
  const order: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const notesOf = (share: readonly string[]): RequestNotes =>
    new RequestNotes({
      signal: new AbortController().signal,
      queueEntry: {
        share,
        isOwnedBy: () => false,
        queueFor: () => undefined,
        noteRefusal: () => undefined,
      },
    });
  return {
    order,
    refused,
    ask(name, share) {
      const verify = (): Promise<void> => {
        order.push(name);
        return new Promise((resolve) => ends.push(resolve));
      };
      gate.run(notesOf(share), verify).catch((error: unknown) => {
        if (isApiError(error, "TooManyRequests")) refused.push(name);
      });
    },
    async end() {
      ends.shift()?.();
      await new Promise<void>((resolve) => loop.post("background", resolve));
    },
  };
}

const RUNNING = 32;

describe("VerificationGate", () => {
  test("verifies a client's token before another client's flood over many connections", async () => {
    const { order, ask, end } = open();
    for (let n = 0; n < 500; n++) ask("flood", ["", "10.0.0.1", String(n)]);
    ask("victim", ["", "10.0.0.2", "1"]);

    await end();
    await end();

    expect(order.slice(RUNNING)).toEqual(["flood", "victim"]);
  });

  test("refuses only the client that fills it", async () => {
    const { order, refused, ask, end } = open();
    for (let n = 0; n < 2000; n++) ask("flood", ["", "10.0.0.1", String(n)]);
    ask("victim", ["", "10.0.0.2", "1"]);
    for (let n = 0; n < 2; n++) await end();

    expect(order.slice(RUNNING)).toContain("victim");
    expect(new Set(refused)).toEqual(new Set(["flood"]));
    expect(refused).toHaveLength(2001 - RUNNING - 1024);
  });
});
