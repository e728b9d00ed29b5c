import { expect, test } from "vitest";
import { defaultPullPolicy } from "./pull-policy.ts";

const HEX = "0123456789abcdef".repeat(4);
const SHA = `sha256:${HEX}`;

test.each([
  "nginx",
  "nginx:latest",
  "nginx:latest@" + SHA,
  "team/web",
  "registry:5000/web",
  "registry:5000/web:latest",
  "registry.example/a/b/c",
  "index.docker.io/web",
  "localhost/web",
  "Registry/web",
  "REGISTRY.example:443/web",
  "127.0.0.1:5000/web",
  "[::1]:5000/web",
  "[fd00::a]/web",
  "under_score.example/web",
  "a__b",
  "a---b",
  "a.b_c-d",
  "x".repeat(247),
  `registry.example/${"x".repeat(255)}`,
  `${"a".repeat(300)}.example/web`,
  HEX.slice(1),
  `team/${HEX}`,
])("%s is pulled always", (image) => {
  expect(defaultPullPolicy(image)).toBe("Always");
});

test.each([
  ["a tag", "nginx:1.25"],
  ["a tag of a port's form", "web:5000"],
  ["a tag like latest", "nginx:LATEST"],
  ["a digest", `nginx@${SHA}`],
  ["a tag and a digest", `nginx:1.25@${SHA}`],
  ["a digest of another length", `nginx@sha512:${HEX}${HEX}`],
  ["no text", ""],
  ["capital letters", "Nginx"],
  ["capital letters with the tag", "Nginx:latest"],
  ["capital letters in the path", "registry.example/Team/web:latest"],
  ["64 hexadecimal digits", HEX],
  ["an identifier of another form", `sha256:${HEX}`],
  ["a space", "nginx latest"],
  ["spaces around it", " nginx "],
  ["a line's end", "nginx\n"],
  ["a template", "{{ .Values.image }}"],
  ["a variable", "$(IMAGE)"],
  ["no tag behind the colon", "nginx:"],
  ["two tags", "nginx:a:latest"],
  ["a tag that begins with a dash", "nginx:-latest"],
  ["a tag that is too long", `nginx:${"x".repeat(129)}`],
  ["a scheme", "https://registry.example/web"],
  ["an empty part", "registry.example//web"],
  ["a slash at the end", "registry.example/web/"],
  ["a slash at the beginning", "/web"],
  ["no path", "registry.example:5000/"],
  ["three underscores", "a___b"],
  ["two dots", "a..b"],
  ["a dash at the end", "web-"],
  ["a dash at the beginning of the host", "-registry.example/web"],
  ["a port that is none", "registry:port/web"],
  ["an address without brackets", "::1/web"],
  ["a path that is too long", `registry.example/${"x".repeat(256)}`],
  ["a path that is too long with library/", "x".repeat(248)],
  ["no digest behind the at", "nginx@"],
  ["a digest that is too short", `nginx@sha256:${HEX.slice(1)}`],
  ["a digest in capital letters", `nginx@sha256:${HEX.toUpperCase()}`],
  ["an algorithm in capital letters", `nginx@SHA256:${HEX}`],
  ["an algorithm that is unknown", `nginx@md5:${HEX.slice(32)}`],
  ["a digest before the tag", `nginx@${SHA}:latest`],
  ["other letters", "nginx-ä"],
])("an image with %s is pulled if not present: %j", (_what, image) => {
  expect(defaultPullPolicy(image)).toBe("IfNotPresent");
});
