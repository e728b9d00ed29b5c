import { once } from "node:events";
import { Writable } from "node:stream";
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
  const failed = once(stream, "error");
  print("second");
  await failed.catch(() => undefined);
  print("third");

  expect(printed).toEqual(["first", "second"]);
});
