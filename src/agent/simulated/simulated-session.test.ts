import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { answeredSession } from "./simulated-session.ts";

const ANSWER = { stdout: "out\n", stderr: "err\n", exitCode: 2 };
const BOTH = { stdin: true, stdout: true, stderr: true, tty: false };

test("an answered command has its output on the streams that the client asked for", async () => {
  const { stdin, stdout, stderr, ended } = answeredSession(ANSWER, BOTH);

  expect([stdout && (await text(stdout)), stderr && (await text(stderr))]).toEqual(["out\n", "err\n"]);
  expect([stdin?.writable, await ended]).toEqual([true, { type: "exited", exitCode: 2 }]);
});

test("a terminal shows output and errors together, with carriage returns", async () => {
  const { stdout, stderr } = answeredSession(ANSWER, { ...BOTH, tty: true });

  expect([stdout && (await text(stdout)), stderr]).toEqual(["out\r\nerr\r\n", undefined]);
});
