import { describe, expect, test } from "vitest";
import { findConnectionName } from "./connection-name.ts";

describe("connection names", () => {
  test.each([
    ["web", { isTls: false, name: "web", port: "" }],
    ["web:", { isTls: false, name: "web", port: "" }],
    ["web:80", { isTls: false, name: "web", port: "80" }],
    ["http:web", { isTls: false, name: "http", port: "web" }],
    ["http:web:", { isTls: false, name: "web", port: "" }],
    ["https:web:admin", { isTls: true, name: "web", port: "admin" }],
    [":web:80", { isTls: false, name: "web", port: "80" }],
    ["ftp:web:80", undefined],
    ["https::80", undefined],
    [":80", undefined],
    ["", undefined],
    ["a:b:c:d", undefined],
  ])("%j is parsed as upstream parses it", (text, expected) => {
    expect(findConnectionName(text)).toEqual(expected);
  });
});
