import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { shutdownSignal } from "./shutdown-signal.ts";

test.each(["SIGINT", "SIGTERM", "SIGHUP"])("%s ends the program", (name) => {
  const source = new EventEmitter();
  const signal = shutdownSignal(source);
  expect(signal.aborted).toBe(false);

  source.emit(name);

  expect(signal.aborted).toBe(true);
});

test("a second Ctrl-C gets the default; SIGTERM and SIGHUP may arrive twice", () => {
  const source = new EventEmitter();
  shutdownSignal(source);

  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) source.emit(name);

  expect(source.listenerCount("SIGINT")).toBe(0);
  expect(source.listenerCount("SIGTERM")).toBe(1);
  expect(source.listenerCount("SIGHUP")).toBe(1);
});
