import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { printTo } from "./print.ts";

test("prints, and goes on when nobody reads any more", async () => {
  const printed: string[] = [];
  const stream = new Writable({
    autoDestroy: false,
    decodeStrings: false,
    write: (text: string, _, done) => {
      printed.push(text);
      done(text === "first" ? undefined : Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    },
  });
  const print = printTo(() => stream);

  print("first");
  print("second");
  // An error that nobody listens for would end the process here.
  await turn();
  print("third");
  await turn();

  expect(printed).toEqual(["first", "second"]);
  expect(stream.errored).toMatchObject({ code: "EPIPE" });
});
