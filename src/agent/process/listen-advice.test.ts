import { expect, test } from "vitest";
import { findListenAdvice } from "./listen-advice.ts";

test.each([
  "Error: listen EADDRINUSE: address already in use :::8080",
  "2026/05/01 12:00:00 listen tcp :8080: bind: address already in use",
  "OSError: [Errno 98] Address already in use",
  "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
  "java.net.BindException: Address already in use (Bind failed)",
  "Error: listen EACCES: permission denied 0.0.0.0:80",
  "listen tcp :80: bind: permission denied",
])("a program that ends with %j is told of $PORT", (line) => {
  expect(findListenAdvice(`starting\n${line}\n`, new Map([[8080, 38_121]]))).toBe(
    "could not listen on its port: pods on this node share the machine's network. Let the program listen on $PORT, " +
      "a free port (38121 for 8080), or run setpoint as root on Linux, or where a normal user may make namespaces, " +
      "with util-linux and iproute2 installed, to give pods networks of their own",
  );
});

test("a pod without declared ports is told to declare them", () => {
  expect(findListenAdvice("EADDRINUSE", new Map())).toContain("Declare the port under ports");
});

test.each(["", "permission denied: /etc/shadow", "listen on 8080\nEACCES: /tmp/x", "address in use"])(
  "the output %j tells of no failed bind",
  (output) => {
    expect(findListenAdvice(output, new Map([[80, 1]]))).toBeUndefined();
  },
);
