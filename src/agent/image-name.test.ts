import { describe, expect, test } from "vitest";
import { findImageName } from "./image-name.ts";

describe("the name of an image", () => {
  test.each([
    ["nginx", { host: "docker.io", path: "library/nginx", tag: "" }],
    ["nginx:1.25", { host: "docker.io", path: "library/nginx", tag: "1.25" }],
    ["team/web:v1", { host: "docker.io", path: "team/web", tag: "v1" }],
    ["localhost:5000/web:v1", { host: "localhost:5000", path: "web", tag: "v1" }],
    ["registry.k8s.io/pause:3.10", { host: "registry.k8s.io", path: "pause", tag: "3.10" }],
    [`web@sha256:${"a".repeat(64)}`, { host: "docker.io", path: "library/web", tag: "" }],
  ])("%s has a host, a path and a tag", (text, name) => {
    expect(findImageName(text)).toEqual(name);
  });

  test.each(["", "Web:1", "web:", "web:-x", "a//b", "web 1", "x".repeat(600)])("%j is none", (text) => {
    expect(findImageName(text)).toBeUndefined();
  });
});
