import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { printTo, wantsColours } from "./print.ts";

test("printing goes on without error after the reader has left", async () => {
  const printed: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (text: string, _, done) => {
      printed.push(text);
      done(text === "first" ? undefined : Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    },
  });
  // Runs after the stream's error event, which would end the process without a listener.
  const closed = new Promise((resolve) => stream.on("close", resolve));
  const print = printTo(() => stream);

  print("first");
  print("second");
  await closed;
  print("third");

  expect(printed).toEqual(["first", "second"]);
  expect(stream.errored).toMatchObject({ code: "EPIPE" });
});

test.each([
  [true, {}, true],
  [true, { NO_COLOR: "" }, true],
  [true, { NO_COLOR: "1" }, false],
  [true, { TERM: "dumb" }, false],
  [false, {}, false],
])("a terminal (%j) with %j gets colours: %j", (isTTY, env, expected) => {
  expect(wantsColours({ isTTY }, env)).toBe(expected);
});
