import { describe, expect, test } from "vitest";
import { findImageProblem, findImageReference } from "./image-reference.ts";

const HEX = "0123456789abcdef".repeat(4);
const read = (text: string): readonly (string | undefined)[] => {
  const found = findImageReference(text);
  return [found?.domain, found?.path, found?.tag, found?.digest];
};

describe("image references", () => {
  test.each([
    ["nginx", ["docker.io", "library/nginx", "latest", ""]],
    ["nginx:1.25", ["docker.io", "library/nginx", "1.25", ""]],
    ["team/web:v1", ["docker.io", "team/web", "v1", ""]],
    ["index.docker.io/web", ["docker.io", "library/web", "latest", ""]],
    ["localhost:5000/web:v1", ["localhost:5000", "web", "v1", ""]],
    ["localhost/web", ["localhost", "web", "latest", ""]],
    ["registry.k8s.io/pause:3.10", ["registry.k8s.io", "pause", "3.10", ""]],
    ["under_score.example/web", ["", "under_score.example/web", "latest", ""]],
    [`web@sha256:${HEX}`, ["docker.io", "library/web", "", `sha256:${HEX}`]],
    [`web:v1@sha256:${HEX}`, ["docker.io", "library/web", "v1", `sha256:${HEX}`]],
  ])("%s has a domain, a path, a tag and a digest", (text, parts) => {
    expect(read(text)).toEqual(parts);
  });

  test.each([
    ["", "invalid reference format"],
    ["web:-x", "invalid reference format"],
    ["a//b", "invalid reference format"],
    ["Web:1", "invalid reference format: repository name (library/Web) must be lowercase"],
    ["x.example/Web:1", "invalid reference format: repository name (Web) must be lowercase"],
    ["a.Example_b/web", "repository name must be lowercase"],
    [HEX, `invalid repository name (${HEX}), cannot specify 64-byte hexadecimal strings`],
    [`x.example/${"x".repeat(256)}`, "repository name must not be more than 255 characters"],
    [`web@sha256:${HEX.slice(1)}`, "invalid checksum digest length"],
    [`web@sha256:${HEX.toUpperCase()}`, "invalid checksum digest format"],
    [`web@md5:${HEX.slice(32)}`, "unsupported digest algorithm"],
  ])("%j is refused in upstream's words", (text, message) => {
    expect(findImageProblem(text)).toBe(message);
  });

  test("a reference of a million letters takes linear time", () => {
    const long = "a-".repeat(500_000);

    for (const text of [
      long,
      `${long}/web`,
      `${long}.x/web`,
      `x.example/${long}`,
      `web:${long}`,
      `web@${long}:`,
    ])
      expect(findImageReference(text)).toBeUndefined();
  });
});
