import { describe, expect, test } from "vitest";
import { findScripted, parseExecScript, parsePorts } from "./exec-script.ts";

describe("a script of answers to commands", () => {
  const script = parseExecScript(
    [
      "hostname: web-0",
      "nginx -t: { stderr: syntax is ok, exitCode: 0 }",
      "'*': { stderr: not found, exitCode: 127 }",
    ].join("\n"),
  );

  test.each([
    [["hostname"], { stdout: "web-0\n", stderr: "", exitCode: 0 }],
    [["nginx", "-t"], { stdout: "", stderr: "syntax is ok\n", exitCode: 0 }],
    [["sh", "-c", "nginx -t"], { stdout: "", stderr: "syntax is ok\n", exitCode: 0 }],
    [["ls"], { stdout: "", stderr: "not found\n", exitCode: 127 }],
  ])("answers %j", (words, answer) => {
    expect(findScripted(script, words)).toEqual(answer);
  });

  test.each(["[]", "a: [1]", "a: { code: 1 }", "a: { exitCode: 256 }", "a: {"])("%s is refused", (text) => {
    expect(() => parseExecScript(text)).toThrow(SyntaxError);
  });

  test("without a rule for the rest answers only its own commands", () => {
    expect(findScripted(parseExecScript("id: root"), ["ls"])).toBeUndefined();
  });
});

describe("declared ports", () => {
  test("have a text each", () => {
    expect(parsePorts("80: hello\n8080: |\n  two\n  lines\n")).toEqual(
      new Map([
        [80, "hello"],
        [8080, "two\nlines\n"],
      ]),
    );
  });

  test.each(["http: hello", "0: x", "70000: x", "80: [x]", "hello"])("%s is refused", (text) => {
    expect(() => parsePorts(text)).toThrow(SyntaxError);
  });
});
